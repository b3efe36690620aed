"""`apply_patch`: changes to several files in one call, all of them or none."""

from heald.core.json import JsonObject
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, stays_inside
from heald.tools.files.access import MAX_TEXT, count_changes, file_accesses, path_subjects, publish_changes
from heald.tools.files.hunks import apply_hunks
from heald.tools.files.patch_format import BEGIN, MAX_PATCH, FilePatch, MarkedPatch, PatchFault, UnifiedPatch
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import NO_CHANGE, ToolOutput
from heald.tools.workspace.base import FileEdit, Workspace
from heald.tools.workspace.contents import encode_content


def read_patch(patch: str) -> list[FilePatch]:
    """Parse a patch of either format. Raises PatchFault if it is invalid."""
    if len(patch) > MAX_PATCH:
        raise PatchFault(
            f"The patch has {len(patch)} characters, {MAX_PATCH} are allowed; send it in parts.", "too_large"
        )
    lines = patch.split("\n")
    begin = next((index for index, line in enumerate(lines) if line.strip() == BEGIN), None)
    files = UnifiedPatch(lines).read() if begin is None else MarkedPatch(lines, begin + 1).read()
    if not files:
        raise PatchFault(
            "The patch names no file; write it between *** Begin Patch and *** End Patch, or as a unified diff with "
            "its --- and +++ lines."
        )
    return files


def _paths(arguments: JsonObject) -> list[str]:
    patch = arguments.get("patch")
    if not isinstance(patch, str):
        return []
    try:
        files = read_patch(patch)
    except ToolFault:
        return []
    return [path for file in files for path in (file.path, file.moves_to) if path is not None]


def _access(arguments: JsonObject) -> list[Access]:
    return file_accesses(_paths(arguments), changes=True)


def _summary(arguments: JsonObject) -> str:
    return f"Patch {', '.join(dict.fromkeys(_paths(arguments))) or 'files'}"


@tool(
    effect="write",
    access=_access,
    subjects=lambda arguments: path_subjects(_paths(arguments)),
    outside_effect=stays_inside,
    summary=_summary,
)
def apply_patch(patch: str, ctx: ToolContext) -> ToolOutput:
    """Change several files at once; if one change does not fit, none is made.

    Write the patch between *** Begin Patch and *** End Patch, with sections *** Add File: path (each line begins with
    +), *** Update File: path (optionally *** Move to: path; hunks begin with @@ and their lines with a space, - or +)
    and *** Delete File: path. A unified diff with --- and +++ lines is accepted as well. Context and removed lines must
    be exactly as they are in the file, with about three lines of context around each change.

    Args:
        patch: The whole text of the patch.
    """
    files = read_patch(patch)
    plan = _Plan(ctx.workspace)
    for file in files:
        plan.add(file)
    changes = ctx.workspace.write_all(plan.edits(), on_change=publish_changes(ctx))
    if not changes:
        return ToolOutput(content="The patch leaves all files as they were; nothing was changed.", summary=NO_CHANGE)
    lines = [f"{_verb(change.hash, change.diff)} {change.path} ({count_changes(change.diff)})" for change in changes]
    total = count_changes("\n\n" + "\n".join(line for change in changes for line in change.diff.split("\n")[2:]))
    return ToolOutput(content="The patch was applied:\n" + "\n".join(lines), summary=total)


def _verb(hash_now: str | None, diff: str) -> str:
    if hash_now is None:
        return "Deleted"
    return "Added" if diff.startswith("--- /dev/null") else "Changed"


class _Plan:
    """Computes the new contents of all files before any file is written."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._there: set[str] = set()  # files that exist before the patch
        self._after: dict[str, str | None] = {}

    def add(self, file: FilePatch) -> None:
        path = self._workspace.normal(file.path)
        if file.added is not None:
            self._put_new(path, file.added)
            return
        if file.deletes and not file.hunks and path not in self._after:
            self._there.add(path)
            self._after[path] = None
            return
        text = apply_hunks(self._text(path), file.hunks, path)
        if file.deletes and file.hunks and text:
            raise PatchFault(f"The patch deletes {path} but does not remove all of its lines; read it again.")
        target = self._workspace.normal(file.moves_to) if file.moves_to else path
        if file.deletes:
            self._after[path] = None
        elif target == path:
            self._after[path] = text
        else:
            self._after[path] = None
            self._put_new(target, text)

    def edits(self) -> list[FileEdit]:
        """Return all edits, without files that the patch both creates and deletes."""
        return [
            FileEdit(path=path, content=None if text is None else encode_content(path, text))
            for path, text in self._after.items()
            if text is not None or path in self._there
        ]

    def _put_new(self, path: str, text: str) -> None:
        exists = self._after[path] is not None if path in self._after else self._workspace.exists(path)
        if exists:
            raise PatchFault(f"{path} exists already, so the patch cannot add it; update it instead.", "exists")
        self._after[path] = text

    def _text(self, path: str) -> str:
        if path not in self._after:
            self._there.add(path)
            return self._workspace.read_text(path, limit=MAX_TEXT, remember=False)
        text = self._after[path]
        if text is None:
            raise PatchFault(f"{path} is deleted earlier in the patch, so it cannot be changed.", "not_found")
        return text
