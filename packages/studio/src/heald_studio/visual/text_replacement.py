"""Replacements in the texts of files, made together."""

import itertools
from collections.abc import Iterable, Mapping

import msgspec

from heald_studio.visual.cannot_edit import CannotEdit


class TextReplacement(msgspec.Struct, frozen=True, order=True):
    """Writes a text in place of what stands from `start` to `end` in a file."""

    file: str
    start: int
    end: int
    text: str


def apply_replacements(texts: Mapping[str, str], replacements: Iterable[TextReplacement]) -> dict[str, str]:
    """Return the files that change. Equal replacements count once. Raises CannotEdit if two overlap."""
    changed: dict[str, str] = {}
    pending = sorted(set(replacements))
    for earlier, later in itertools.pairwise(pending):
        is_same_file = earlier.file == later.file
        if is_same_file and (later.start < earlier.end or (earlier.start, earlier.end) == (later.start, later.end)):
            raise CannotEdit(
                "Two of the changes are at the same place of the source; apply one of them after the other."
            )
    for replacement in reversed(pending):
        text = changed.get(replacement.file, texts[replacement.file])
        changed[replacement.file] = text[: replacement.start] + replacement.text + text[replacement.end :]
    return {file: text for file, text in changed.items() if text != texts[file]}
