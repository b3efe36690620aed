"""What the file tools say of themselves: the files that a call needs, and the changes it made.

Arguments are looked at before they are known to be valid. A path that can never be one names no resource: the tool
itself will say what is wrong with it.
"""

from collections.abc import Iterable
from typing import Any

from weft.core.events import FileChanged
from weft.core.json import JsonObject, as_objects
from weft.tools.context import ToolContext
from weft.tools.tool import Access
from weft.tools.workspace.base import Change, OnChange, PathFault
from weft.tools.workspace.paths import normal


def accesses(paths: Iterable[Any], *, changes: bool) -> list[Access]:
    """One access for each path that can be one, in their order."""
    found: dict[str, Access] = {}
    for path in paths:
        if not isinstance(path, str):
            continue
        try:
            resource = f"file:{normal(path)}"
        except PathFault:
            continue
        found[resource] = Access(resource=resource, changes=changes)
    return list(found.values())


def writes_path(arguments: JsonObject) -> list[Access]:
    return accesses([arguments.get("path")], changes=True)


def reads_all(_: JsonObject) -> list[Access]:
    return [Access(resource="file:", changes=False)]


def paths_of(arguments: JsonObject) -> list[str]:
    """The paths of a call that names one file or several."""
    named = [arguments.get("path"), *(item.get("path") for item in as_objects(arguments.get("files")))]
    return [path for path in named if isinstance(path, str) and path]


def path_subject(arguments: JsonObject) -> list[str]:
    """The path in its one spelling, for permission rules."""
    return subjects_of([arguments.get("path")])


def subjects_of(paths: Iterable[Any]) -> list[str]:
    found: list[str] = []
    for path in paths:
        if not isinstance(path, str):
            continue
        try:
            found.append(normal(path))
        except PathFault:
            found.append(path)
    return found


def announce(ctx: ToolContext) -> OnChange:
    """Publishes each change of a call."""

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


def counted(diff: str) -> str:
    """A unified diff in two numbers, for people: `+3 −1`."""
    body = diff.split("\n")[2:]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    return f"+{added} −{removed}"


def lines_in(text: str) -> str:
    count = text.count("\n") + (not text.endswith("\n")) if text else 0
    return f"{count} line{'s' * (count != 1)}"
