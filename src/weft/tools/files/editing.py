"""`edit_file`: exact texts of a file replaced by others, all of them or none."""

from typing import Annotated

import msgspec

from weft.core.json import JsonObject, as_objects
from weft.tools.context import ToolContext
from weft.tools.files.claims import announce, counted, path_subject, writes_path
from weft.tools.files.edit_preview import EditPreview
from weft.tools.files.replacing import replaced
from weft.tools.files.sizes import MAX_EDITS, MAX_TEXT
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput


class Replacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text and what takes its place."""

    old_text: Annotated[str, msgspec.Meta(description="The exact text to replace, with its spaces and line breaks.")]
    new_text: Annotated[str, msgspec.Meta(description="The text that takes its place, literally.")]
    count: Annotated[
        int, msgspec.Meta(ge=1, description="In how many places old_text stands; all of them are replaced.")
    ] = 1


def _summary(arguments: JsonObject) -> str:
    edits = len(as_objects(arguments.get("edits"))) or 1
    return f"Edit {arguments['path']} ({edits} place{'s' * (edits != 1)})"


@tool(
    name="edit_file",
    effect="write",
    access=writes_path,
    subjects=path_subject,
    summary=_summary,
    preview=EditPreview,
)
def edit_file(
    path: str,
    ctx: ToolContext,
    edits: list[Replacement] | None = None,
    old_text: str | None = None,
    new_text: str | None = None,
) -> ToolOutput:
    """Replace exact texts in a file. Each old_text must stand in the file exactly once, or as often as its count says.

    Edits are applied in order, each on the result of the one before; if one does not fit, none is applied. List them
    from the top of the file to its end.

    Args:
        path: The file's path, relative to the workspace.
        edits: What to replace by what.
        old_text: For a single edit, instead of edits: the exact text to replace.
        new_text: For a single edit, instead of edits: the text that takes its place.
    """
    edits = _edits(edits, old_text, new_text)
    place = ctx.workspace.normal(path)
    text = ctx.workspace.read_text(place, limit=MAX_TEXT, remember=False)
    for number, edit in enumerate(edits, 1):
        name = f"The edit of {place}" if len(edits) == 1 else f"Edit {number} of {len(edits)} of {place}"
        try:
            text = replaced(text, edit.old_text, edit.new_text, count=edit.count, name=name)
        except ToolFault as fault:
            if len(edits) == 1:
                raise
            raise ToolFault(f"{fault}\nNo edit of this call was applied.", fault.kind) from None
    change = ctx.workspace.write(place, text, on_change=announce(ctx))
    if change is None:
        return ToolOutput(content=f"The edits leave {place} as it was; nothing was changed.", summary="no change")
    counts = counted(change.diff)
    return ToolOutput(content=f"Edited {place} ({counts}).\n{change.diff}", summary=counts)


def _edits(edits: list[Replacement] | None, old_text: str | None, new_text: str | None) -> list[Replacement]:
    single = old_text is not None or new_text is not None
    if edits and single:
        raise ToolFault("Both edits and old_text or new_text were given; give edits alone.", "invalid_edit")
    if single:
        if old_text is None or new_text is None:
            raise ToolFault("An edit needs both old_text and new_text; give the missing one.", "invalid_edit")
        return [Replacement(old_text, new_text)]
    if not edits:
        raise ToolFault("No edit was given; list at least one with old_text and new_text.", "invalid_edit")
    if len(edits) > MAX_EDITS:
        raise ToolFault(f"{len(edits)} edits are too many; give at most {MAX_EDITS} in one call.", "invalid_edit")
    return edits
