"""Chooses the files that a model which writes files as text is shown with its request.

Files that the conversation names come first, then small ones while there is room. Names of other files are listed.
"""

import re
from collections.abc import Callable, Collection, Sequence

from heald.agent.emptied_code import empty_bodies
from heald.core.messages import Message, ToolResult
from heald.tools.files.walk import Deadline, Walk
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.paths import PathFault
from heald.wires.text_conversation import describe_files
from heald.wires.text_edits import TextFiles

_CHARACTERS = 24_000
_LEAST_CHARACTERS = 3_000
_SMALL = 4_000
_FEW = 8
"""In a workspace with so few files all small ones are shown."""
_MAX_VISITED = 2_000
_MAX_LISTED = 60
_SECONDS = 2.0
_WORD = re.compile(r"[\w@~+./-]+")


def attach_files(
    workspace: Workspace,
    messages: Sequence[Message],
    *,
    write_tool: str,
    edit_tool: str,
    context_size: int | None,
    may_show: Callable[[str], bool],
    emptied_paths: Collection[str] = (),
) -> TextFiles:
    """Read the files that the last requests need, those that may be shown. Reading them counts as having seen them.

    Of `emptied_paths` the functions are shown without their bodies.
    """
    room = _CHARACTERS if context_size is None else min(max(context_size, _LEAST_CHARACTERS), _CHARACTERS)
    walk = Walk(workspace, deadline=Deadline(_SECONDS), most=_MAX_VISITED)
    entries = [entry.path for entry in walk if entry.kind == "file"]
    named = _named_paths(messages, entries)
    others = [path for path in entries if path not in named] if len(entries) <= _FEW else []
    texts: dict[str, str] = {}
    for path in [*named, *others]:
        text = _read(workspace, path, room if path in named else min(room, _SMALL)) if may_show(path) else None
        if text is not None:
            texts[path] = text
            room -= len(text)
    listed = [path for path in entries if path not in texts]
    emptied = {path: empty_bodies(path, text) or text for path, text in texts.items() if path in emptied_paths}
    return TextFiles(
        write_tool=write_tool,
        edit_tool=edit_tool,
        emptied=emptied,
        attached=_describe(texts | emptied, listed),
        sizes={path: len(text) for path, text in texts.items()},
        texts=texts,
        workspace_paths=frozenset(entries),
    )


def _named_paths(messages: Sequence[Message], entries: Sequence[str]) -> list[str]:
    """The files that the requests name, the latest first, by path or by an unambiguous name."""
    by_name: dict[str, list[str]] = {}
    for path in entries:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    named_paths: dict[str, None] = {}
    for message in reversed([message for message in messages if message.role != "assistant"][-4:]):
        results = [block.text for block in message.content if isinstance(block, ToolResult)]
        for word in _WORD.findall("\n".join([message.text, *results])):
            word = word.strip(".").removeprefix("./")
            paths = [word] if word in entries else by_name.get(word, [])
            if len(paths) == 1:
                named_paths[paths[0]] = None
    return list(named_paths)


def _read(workspace: Workspace, path: str, room: int) -> str | None:
    try:
        text = workspace.read_text(path, limit=max(room, 0) * 4)
    except PathFault:
        return None
    return text if len(text) <= room else None


def _describe(texts: dict[str, str], listed: Sequence[str]) -> str:
    parts = [describe_files(texts)] if texts else []
    if listed:
        more = f" and {len(listed) - _MAX_LISTED} more" if len(listed) > _MAX_LISTED else ""
        parts.append(f"{'Other files' if texts else 'Files'} there: {', '.join(listed[:_MAX_LISTED])}{more}.")
    return "\n\n".join(parts)
