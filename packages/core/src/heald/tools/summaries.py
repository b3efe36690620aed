"""One-line summaries of calls and results. For the person who decides on a call: all of it, and the diff it makes."""

from collections.abc import Callable
from typing import Any

from heald.core.json import JsonObject, as_objects, encode_text
from heald.core.messages import Image, ToolResult
from heald.tools.argument_text import CONTINUED, argument_texts
from heald.tools.definitions import Tool
from heald.tools.secret_mask import SecretMask
from heald.tools.tool_fault import ToolFault
from heald.tools.visible_text import escape_hidden
from heald.tools.workspace.base import Workspace

_WIDTH = 120
_VALUE = 60
_FULL = 10_000
_FULL_LINES = 200
_MAX_DIFF = 60_000


def call_summary(tool: Tool, arguments: JsonObject) -> str:
    """Return the summary that the tool defines, or one made from the arguments."""
    if tool.summary is not None:
        try:
            return _line(tool.summary(arguments))
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # invalid arguments; the result reports them
    return arguments_summary(arguments)


def describe_call_in_full(arguments: JsonObject) -> str:
    """Describe a call completely for the approval prompt.

    Each argument begins a line, and its further lines are marked. Hidden characters are escaped, cuts are counted, and
    the notes at the end, which begin with `! `, name what deceives a reader.
    """
    texts = argument_texts(arguments)
    lines: list[str] = []
    for text in texts:
        first, *rest = text.shorten(characters=_FULL, lines=_FULL_LINES).rows
        lines += [f"{text.name}: {first}", *(f"{CONTINUED}{row}" for row in rest)]
    return "\n".join([*lines, *(f"! {note}" for text in texts for note in text.notes)])


def describe_change(tool: Tool, arguments: JsonObject, workspace: Workspace, mask: SecretMask | None = None) -> str:
    """Return the diff that a call of a file tool will make; empty for other tools, and for a call that will fail."""
    from heald.tools.files.edit import check_values, edit_file
    from heald.tools.files.patch import apply_patch
    from heald.tools.files.text_matches import replace_text
    from heald.tools.files.write_tools import create_file, fit_line_endings, write_file

    def edit(text: str) -> str:
        for replacement in as_objects(arguments.get("edits")) or [arguments]:
            check_values(mask or SecretMask(), text, str(replacement["old_text"]))
            text = replace_text(
                text, str(replacement["old_text"]), str(replacement["new_text"]), count=int(replacement.get("count", 1))
            )
        return text

    try:
        if tool is apply_patch:
            return _cut(str(arguments["patch"]))
        if tool is edit_file:
            return _diff(arguments["path"], workspace, edit)
        if tool is create_file or tool is write_file:
            path = workspace.normal(str(arguments["path"]))
            return _diff(path, workspace, lambda _: fit_line_endings(str(arguments["content"]), path, workspace))
    except (ToolFault, KeyError, TypeError, ValueError, OSError):
        pass  # the call itself will report it
    return ""


def _diff(path: Any, workspace: Workspace, change: Callable[[str], str]) -> str:
    from heald.tools.workspace.diff import unified_diff

    place = workspace.normal(str(path))
    before = workspace.read_text(place, remember=False) if workspace.exists(place) else None
    after = change(before or "")
    return _cut(unified_diff(place, before.encode() if before is not None else None, after.encode()))


def _cut(diff: str) -> str:
    if len(diff) <= _MAX_DIFF:
        return diff
    end = diff.rfind("\n", 0, _MAX_DIFF) + 1 or _MAX_DIFF
    line = "" if diff[end - 1] == "\n" else "\n"
    return f"{diff[:end]}{line}… {len(diff) - end:,} more characters of this diff are left out\n"


def arguments_summary(arguments: JsonObject) -> str:
    assignments = [f"{name}={value if type(value) is int else _value(value)}" for name, value in arguments.items()]
    return _line(", ".join(assignments))


def result_summary(result: ToolResult) -> str:
    """Return the first line of a result and the number of further lines and pictures."""
    content = result.content
    text = (content if isinstance(content, str) else result.text).strip()
    if len(text) <= _WIDTH and isinstance(content, str) and text.isascii() and text.isprintable():
        return text
    first, _, rest = text.partition("\n")
    line = _line(first)
    more = rest.count("\n") + 1 if rest else 0
    pictures = 0 if isinstance(result.content, str) else sum(isinstance(part, Image) for part in result.content)
    extra = [f"{more} more line{'s' * (more != 1)}"] * bool(more)
    extra += [f"{pictures} picture{'s' * (pictures != 1)}"] * bool(pictures)
    return f"{line} ({', '.join(extra)})" if line and extra else line or ", ".join(extra)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else encode_text(value)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _line(text: str) -> str:
    if text.isascii() and text.isprintable() and len(text) <= _WIDTH:
        return text
    line = " ".join(escape_hidden(text[:_FULL]).split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
