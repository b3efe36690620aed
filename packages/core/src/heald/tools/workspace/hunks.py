"""The hunks of a change, of which a person selects some."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.diff import group_blocks, hunk_runs, marked_line, split_lines
from heald.tools.workspace.line_comparison import Block, compare_lines

MAX_HUNK_BYTES = 32 * 1024
"""Maximum bytes of the text of one hunk. A longer one is shown in part, but applied or reverted as a whole."""


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """One hunk of a diff."""

    text: str
    """The hunk in the format of `patch`, from its `@@` line, shortened."""
    added: int
    removed: int


def split_hunks(old: bytes | None, new: bytes | None) -> list[Hunk] | None:
    """Return the hunks between two contents in order; None if one of them is not text."""
    if not _is_text(old) or not _is_text(new):
        return None
    before, after = split_lines(old or b""), split_lines(new or b"")
    return [_hunk(before, after, group) for group in group_blocks(compare_lines(before, after))]


def apply_selected_hunks(old: bytes | None, new: bytes | None, selected: Collection[int]) -> bytes | None:
    """Apply the hunks of these numbers to the old content. All of them give the new content, none the old one.

    Raises IndexError for an unknown number.
    """
    before, after = split_lines(old or b""), split_lines(new or b"")
    groups = list(group_blocks(compare_lines(before, after)))
    unknown = next((number for number in selected if not 0 <= number < len(groups)), None)
    if unknown is not None:
        raise IndexError(unknown)
    if len(set(selected)) == len(groups):
        return new
    return b"".join(_select_lines(before, after, groups, selected)) if selected else old


def _select_lines(
    before: Sequence[bytes], after: Sequence[bytes], groups: Sequence[Sequence[Block]], selected: Collection[int]
) -> Iterator[bytes]:
    at = 0
    for number, group in enumerate(groups):
        for old_start, old_end, new_start, new_end in group:
            yield from before[at:old_start]
            yield from after[new_start:new_end] if number in selected else before[old_start:old_end]
            at = old_end
    yield from before[at:]


def _hunk(before: Sequence[bytes], after: Sequence[bytes], group: Sequence[Block]) -> Hunk:
    marked_lines, room, left = list[bytes](), MAX_HUNK_BYTES, 0
    for mark, lines in hunk_runs(before, after, group, 0):
        for line in lines:
            marked = marked_line(mark, line)
            room -= len(marked)
            if room >= 0:
                marked_lines.append(marked)
            else:
                left += 1
    text = b"".join(marked_lines).decode()
    return Hunk(
        text=f"{text}… {left} more lines are left out\n" if left else text,
        added=sum(new_end - new_start for _, _, new_start, new_end in group),
        removed=sum(old_end - old_start for old_start, old_end, _, _ in group),
    )


def _is_text(content: bytes | None) -> bool:
    return content is None or (b"\0" not in content and decode_text(content) is not None)
