"""The difference of two contents in pieces that a person can keep or take back one by one.

A hunk is what stands together in a unified diff. Both contents fix the hunks and their numbers, so whoever names a hunk
by its number says of which contents. A content that is not text has no hunks.
"""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from weft.tools.workspace.diff import Block, blocks_of, groups_of, hunk_runs, lines_of, marked_line
from weft.tools.workspace.text import decoded

MAX_HUNK_BYTES = 32 * 1024
"""Of the text of one hunk; what is longer is shown in part, and kept or taken back whole."""


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of a difference."""

    text: str
    """As `patch` would take it, from its `@@` on; capped."""
    added: int
    removed: int


def hunks_of(old: bytes | None, new: bytes | None) -> list[Hunk] | None:
    """The pieces in which two contents differ, in their order; None where one of them is not text."""
    if not _is_text(old) or not _is_text(new):
        return None
    before, after = lines_of(old or b""), lines_of(new or b"")
    return [_hunk(before, after, group) for group in groups_of(blocks_of(before, after))]


def mixed(old: bytes | None, new: bytes | None, taken: Collection[int]) -> bytes | None:
    """The old content with the hunks of these numbers. All of them give the new content, none the old one.

    Raises IndexError for a number that no hunk has.
    """
    before, after = lines_of(old or b""), lines_of(new or b"")
    groups = list(groups_of(blocks_of(before, after)))
    strange = next((number for number in taken if not 0 <= number < len(groups)), None)
    if strange is not None:
        raise IndexError(strange)
    if len(set(taken)) == len(groups):
        return new
    return b"".join(_mixed(before, after, groups, taken)) if taken else old


def _mixed(
    before: Sequence[bytes], after: Sequence[bytes], groups: Sequence[Sequence[Block]], taken: Collection[int]
) -> Iterator[bytes]:
    at = 0
    for number, group in enumerate(groups):
        for old_start, old_end, new_start, new_end in group:
            yield from before[at:old_start]
            yield from after[new_start:new_end] if number in taken else before[old_start:old_end]
            at = old_end
    yield from before[at:]


def _hunk(before: Sequence[bytes], after: Sequence[bytes], group: Sequence[Block]) -> Hunk:
    kept, room, left = list[bytes](), MAX_HUNK_BYTES, 0
    for mark, lines in hunk_runs(before, after, group, 0):
        for line in lines:
            shown = marked_line(mark, line)
            room -= len(shown)
            if room >= 0:
                kept.append(shown)
            else:
                left += 1
    text = b"".join(kept).decode()
    return Hunk(
        text=f"{text}… {left} more lines are left out\n" if left else text,
        added=sum(new_end - new_start for _, _, new_start, new_end in group),
        removed=sum(old_end - old_start for old_start, old_end, _, _ in group),
    )


def _is_text(content: bytes | None) -> bool:
    return content is None or (b"\0" not in content and decoded(content) is not None)
