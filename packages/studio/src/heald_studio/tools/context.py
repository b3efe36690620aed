"""The variant that a tool works for: target pictures, stack, files, and the other variants."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.paths import PathFault
from heald_studio.projects.lock import CannotLock, Lock, NewLock
from heald_studio.stacks.stack import Stack

Files = Mapping[str, bytes]
ReadOption = Callable[[int], Awaitable[Files | None]]
"""Reads the files of a variant, counted from 1; None if there is none."""
AddLock = Callable[[NewLock], Awaitable[Lock]]
"""Locks a part of the page that is being changed, as it was before the change."""
MAX_FILES = 2_000
MAX_BYTES = 64_000_000


async def _refuse_lock(_: NewLock) -> Lock:
    raise CannotLock("There is no earlier page whose parts could be locked.")


@dataclass(frozen=True, slots=True)
class VariantContext:
    project: str
    version: str
    variant: int
    stack: Stack
    targets: tuple[bytes, ...]  # pictures, PNG or JPEG
    read_option: ReadOption
    lock: AddLock = _refuse_lock


FindContext = Callable[[], Awaitable[VariantContext]]
"""Looks up the variant when a tool is called; tools are created earlier."""


def read_project_files(workspace: Workspace) -> dict[str, bytes]:
    """Read all files of the project. Raises ToolFault if there are too many for a preview."""
    files: dict[str, bytes] = {}
    room = MAX_BYTES
    listed = workspace.list(depth=None)
    for entry in listed:
        if entry.kind != "file":
            continue
        try:
            content = workspace.read(entry.path, limit=room, remember=False)
        except PathFault as fault:
            if fault.kind == "too_large":
                raise _too_large() from None
            continue  # deleted meanwhile, or not readable
        files[entry.path] = content
        room -= len(content)
        if len(files) > MAX_FILES:
            raise _too_large()
    if listed.cut:
        raise _too_large()
    return files


def read_page_files(workspace: Workspace, stack: Stack) -> dict[str, bytes]:
    """Read all files of the project. Raises ToolFault if there is no page yet."""
    files = read_project_files(workspace)
    if stack.entry not in files and "index.html" not in files:
        raise ToolFault(f"There is nothing to look at yet: {stack.entry} is not written.", "not_found")
    return files


def _too_large() -> ToolFault:
    limits = f"{MAX_FILES:,} files and {MAX_BYTES // 1_000_000} MB; remove what the page does not need."
    return ToolFault(f"The project is too large for a preview, which accepts {limits}", "too_large")
