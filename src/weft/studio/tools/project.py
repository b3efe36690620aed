"""The files of a variant, as a preview needs them: all at once."""

from weft.studio.stacks.stack import Stack
from weft.tools.outcome import ToolFault
from weft.tools.workspace.base import PathFault, Workspace

MAX_FILES = 2_000
MAX_BYTES = 64_000_000


def files_of(workspace: Workspace) -> dict[str, bytes]:
    """Every file of the project. Raises ToolFault where there are too many for a preview."""
    found: dict[str, bytes] = {}
    room = MAX_BYTES
    listed = workspace.list(depth=None)
    for entry in listed:
        if entry.kind != "file":
            continue
        try:
            content = workspace.read(entry.path, limit=room, remember=False)
        except PathFault as fault:
            if fault.kind == "too_large":
                raise _too_much() from None
            continue  # gone meanwhile, or not to be read
        found[entry.path] = content
        room -= len(content)
        if len(found) > MAX_FILES:
            raise _too_much()
    if listed.cut:
        raise _too_much()
    return found


def page_files(workspace: Workspace, stack: Stack) -> dict[str, bytes]:
    """The same, where there is something to look at."""
    files = files_of(workspace)
    if stack.entry not in files and "index.html" not in files:
        raise ToolFault(f"There is nothing to look at yet: {stack.entry} is not written.", "not_found")
    return files


def _too_much() -> ToolFault:
    return ToolFault(
        f"The project is too large for a preview, which takes {MAX_FILES:,} files and {MAX_BYTES // 1_000_000} MB; "
        "take out what the page does not need.",
        "too_large",
    )
