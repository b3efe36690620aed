"""Shows what a call of a file tool will change, before it runs: the diff, for the person who decides on it."""

from collections.abc import Callable
from typing import Any

from weft.core.json import JsonObject, as_objects
from weft.tools.definitions import Tool
from weft.tools.files.edit import edit_file, replace_text
from weft.tools.files.patch import apply_patch
from weft.tools.files.read_write import create_file, write_file
from weft.tools.results import ToolFault
from weft.tools.workspace.base import Workspace
from weft.tools.workspace.diff import unified_diff

_MAX_DIFF = 60_000


def describe_change(tool: Tool, arguments: JsonObject, workspace: Workspace) -> str:
    """Return the diff that a call will make; empty for other tools, and for a call that will fail."""
    for known, describe in _CHANGES:
        if known is tool:
            try:
                return describe(arguments, workspace)[:_MAX_DIFF]
            except (ToolFault, KeyError, TypeError, ValueError, OSError):
                return ""
    return ""


def _diff(path: Any, workspace: Workspace, change: Callable[[str], str]) -> str:
    place = workspace.normal(str(path))
    before = workspace.read_text(place, remember=False) if workspace.exists(place) else None
    after = change(before or "")
    return unified_diff(place, before.encode() if before is not None else None, after.encode())


def _whole(arguments: JsonObject, workspace: Workspace) -> str:
    return _diff(arguments["path"], workspace, lambda _: str(arguments["content"]))


def _edits(arguments: JsonObject, workspace: Workspace) -> str:
    edits = as_objects(arguments.get("edits")) or [arguments]

    def change(text: str) -> str:
        for edit in edits:
            text = replace_text(text, str(edit["old_text"]), str(edit["new_text"]), count=int(edit.get("count", 1)))
        return text

    return _diff(arguments["path"], workspace, change)


_CHANGES: tuple[tuple[Tool, Callable[[JsonObject, Workspace], str]], ...] = (
    (write_file, _whole),
    (create_file, _whole),
    (edit_file, _edits),
    (apply_patch, lambda arguments, _: str(arguments["patch"])),
)
