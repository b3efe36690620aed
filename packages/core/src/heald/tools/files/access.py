"""Accesses, permission subjects and change events of the file tools, and their size limits.

Arguments are read before they are validated. An invalid path gives no access; the tool itself reports it.
"""

from collections.abc import Iterable
from typing import Any

from heald.core.events import FileChanged
from heald.core.json import JsonObject, as_objects
from heald.tools.context import ToolContext
from heald.tools.definitions import Access
from heald.tools.workspace.base import Change, OnChange
from heald.tools.workspace.paths import PathFault, normalize_path


def file_accesses(paths: Iterable[Any], *, changes: bool) -> list[Access]:
    """Return one access for each valid path, in order."""
    accesses: dict[str, Access] = {}
    for path in paths:
        if not isinstance(path, str):
            continue
        try:
            resource = f"file:{normalize_path(path)}"
        except PathFault:
            continue
        accesses[resource] = Access(resource=resource, changes=changes)
    return list(accesses.values())


def writes_path(arguments: JsonObject) -> list[Access]:
    return file_accesses([arguments.get("path")], changes=True)


def reads_all(_: JsonObject) -> list[Access]:
    return [Access(resource="file:", changes=False)]


def named_paths(arguments: JsonObject) -> list[str]:
    """Return the paths of a call with a `path` or a list of `files`."""
    named = [arguments.get("path"), *(item.get("path") for item in as_objects(arguments.get("files")))]
    return [path for path in named if isinstance(path, str) and path]


def path_subject(arguments: JsonObject) -> list[str]:
    """Return the normalized path, for permission rules."""
    return path_subjects([arguments.get("path")])


def path_subjects(paths: Iterable[Any]) -> list[str]:
    subjects: list[str] = []
    for path in paths:
        if not isinstance(path, str):
            continue
        try:
            subjects.append(normalize_path(path))
        except PathFault:
            subjects.append(path)
    return subjects


def publish_changes(ctx: ToolContext) -> OnChange:
    """Return a callback that publishes each change as an event of the call."""

    def on_change(change: Change) -> None:
        ctx.emit(
            FileChanged(
                path=change.path,
                revision=change.revision,
                hash=change.hash,
                prev_hash=change.prev_hash,
                cause=ctx.call.id,
                size=change.size,
                diff=change.diff,
                found=change.found,
            )
        )

    return on_change


def count_changes(diff: str) -> str:
    """Return the added and removed lines of a unified diff, such as `+3 −1`."""
    body = diff.split("\n")[2:]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    return f"+{added} −{removed}"


def count_lines(text: str) -> str:
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    return f"{count} line{'s' * (count != 1)}"


MAX_TEXT = 4 << 20
"""Maximum bytes of a text file that is edited, patched or searched."""
MAX_READ = 32 << 20
"""Maximum bytes of a file that is read."""
MAX_IMAGE = 3_750_000
"""Maximum bytes of a picture: 5 MB as base64, which every provider accepts."""
MAX_EDITS = 200
MAX_SECONDS = 2.0
"""Time limit of one walk or search of the workspace."""
MAX_VISITED = 100_000
"""Maximum files and folders of one walk."""
