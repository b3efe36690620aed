"""The tools `create_file` and `write_file`."""

from functools import partial

from heald.core.json import JsonObject
from heald.tools.context import ToolContext
from heald.tools.definitions import WholeFile, stays_inside
from heald.tools.files.access import (
    count_changes,
    count_lines,
    path_subject,
    publish_changes,
    writes_path,
)
from heald.tools.function_tools import tool_of
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import NO_CHANGE, ToolOutput
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.paths import PathFault


def _write_summary(arguments: JsonObject) -> str:
    return f"Write {arguments['path']} ({count_lines(arguments['content'])})"


def _write_file(path: str, content: str, ctx: ToolContext) -> ToolOutput:
    """Write a whole file and create its folders. An existing file is replaced.

    Args:
        path: The file's path, relative to the workspace.
        content: The whole text of the file.
    """
    place = ctx.workspace.normal(path)
    replaces = ctx.workspace.exists(place)
    if replaces and not ctx.workspace.is_project and not ctx.workspace.is_seen(place):
        _require_reading(place, content, ctx)
    if replaces:
        content = fit_line_endings(content, place, ctx.workspace)
    change = ctx.workspace.write(place, content, on_change=publish_changes(ctx))
    if change is None:
        return ToolOutput(content=f"{place} has exactly this content already; nothing was changed.", summary=NO_CHANGE)
    if not replaces:
        return ToolOutput(content=f"Created {place} ({count_lines(content)}).", summary=f"new, {count_lines(content)}")
    counts = count_changes(change.diff)
    return ToolOutput(content=f"Replaced {place} ({count_lines(content)}, {counts}).", summary=counts)


_make_writer = partial(
    tool_of,
    _write_file,
    effect="write",
    access=writes_path,
    subjects=path_subject,
    outside_effect=stays_inside,
    summary=_write_summary,
    preview=WholeFile,
)
write_file = _make_writer(name="write_file")
create_file = _make_writer(
    name="create_file",
    description=f"{write_file.definition.description}\n\nTo change part of a file, use edit_file instead.",
)


def fit_line_endings(content: str, path: str, workspace: Workspace) -> str:
    """Return the content with CRLF line endings, if it has none of its own and the file on this path has only those."""
    if "\r" in content:
        return content
    try:
        before = workspace.read(path, remember=False)
    except PathFault:
        return content
    has_crlf = b"\r\n" in before and before.count(b"\r\n") == before.count(b"\n")
    return content.replace("\n", "\r\n") if has_crlf else content


def _require_reading(place: str, content: str, ctx: ToolContext) -> None:
    """Refuse to replace a file that the model has not seen, unless it stays as it is or is empty."""
    try:
        before = ctx.workspace.read(place, remember=False)
    except PathFault:
        return  # the write reports the problem
    if before and before != content.encode("utf-8", "surrogatepass"):
        raise ToolFault(
            f"{place} exists, and you have not read it; read it first so that nothing in it is lost, then write it.",
            "unread",
        )
