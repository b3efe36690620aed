"""`edit_file`: replaces exact texts of a file, all of them or none, and previews the edited file.

The new text is literal. In a file with CRLF line endings an old text with LF also matches, and the new text gets the
line endings of the text that it replaces. If an old text is not found, the fault lists the most similar lines.
"""

from typing import Annotated

import msgspec

from heald.core.json import JsonObject, as_objects
from heald.tools.context import ToolContext
from heald.tools.definitions import stays_inside
from heald.tools.files.access import MAX_EDITS, MAX_TEXT, count_changes, path_subject, publish_changes, writes_path
from heald.tools.files.edit_preview import EditPreview
from heald.tools.files.text_matches import find_all, replace_text
from heald.tools.function_tools import tool
from heald.tools.secret_mask import SecretMask
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import NO_CHANGE, ToolOutput


class Replacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text and its replacement."""

    old_text: str
    new_text: str
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


def _summary(arguments: JsonObject) -> str:
    edits = len(as_objects(arguments.get("edits"))) or 1
    return f"Edit {arguments['path']} ({edits} place{'s' * (edits != 1)})"


@tool(
    effect="write",
    access=writes_path,
    subjects=path_subject,
    outside_effect=stays_inside,
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
    """Replace exact text in a file. Each old_text must occur in it exactly once, or as many times as its count.

    Edits are applied in order, top to bottom; if one does not match, none is applied.

    Args:
        path: The file's path, relative to the workspace.
        edits: The replacements.
        old_text: For a single edit, instead of edits.
    """
    edits = _edits(edits, old_text, new_text)
    place = ctx.workspace.normal(path)
    text = ctx.workspace.read_text(place, limit=MAX_TEXT, remember=False)
    for number, edit in enumerate(edits, 1):
        name = f"The edit of {place}" if len(edits) == 1 else f"Edit {number} of {len(edits)} of {place}"
        try:
            if ctx.host is not None:
                check_values(ctx.host.secret_mask, text, edit.old_text, name)
            text = replace_text(text, edit.old_text, edit.new_text, count=edit.count, name=name)
        except ToolFault as fault:
            if len(edits) == 1:
                raise
            raise ToolFault(f"{fault}\nNo edit of this call was applied.", fault.kind) from None
    change = ctx.workspace.write(place, text, on_change=publish_changes(ctx))
    if change is None:
        return ToolOutput(content=f"The edits leave {place} as it was; nothing was changed.", summary=NO_CHANGE)
    counts = count_changes(change.diff)
    return ToolOutput(content=f"Edited {place} ({counts}).\n{change.diff}", summary=counts)


def check_values(mask: SecretMask, text: str, old_text: str, name: str = "The edit") -> None:
    """Raise ToolFault if an old text holds a part of a hidden value: the rest would not be recognised any more."""
    if mask and any(mask.is_cut(text, match.start, match.end) for match in find_all(text, old_text, limit=MAX_EDITS)):
        raise ToolFault(
            f"{name} would cut a secret value that is hidden from you; replace text before or behind it.",
            "invalid_edit",
        )


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
