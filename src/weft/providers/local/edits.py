"""The way from one text to another as edits of `edit_file`: each old text stands in the file exactly once."""

from difflib import SequenceMatcher

from weft.core.json import JsonObject

_MOST = 150

Span = tuple[int, int, int, int]
"""First line and the line after the last, in the old text, then in the new one."""


def edits_between(old: str, new: str) -> list[JsonObject]:
    """Edits to be applied in order, by whole lines, with as many lines around as make each the only one."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    spans = _spans(before, after)
    if len(spans) > _MOST:
        spans = [(spans[0][0], spans[-1][1], spans[0][2], spans[-1][3])]
    edits: list[JsonObject] = []
    while spans:
        start, end, new_start, new_end = _only_one(before, spans)
        edits.append({"old_text": "".join(before[start:end]), "new_text": "".join(after[new_start:new_end])})
        before[start:end] = after[new_start:new_end]
        grown = (new_end - new_start) - (end - start)
        spans = [(a + grown, b + grown, c, d) for a, b, c, d in spans]
    return edits


def _spans(before: list[str], after: list[str]) -> list[Span]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _only_one(before: list[str], spans: list[Span]) -> Span:
    """The first span, taken out, with lines around it. What is above it is done; below, the next span may join it."""
    text = "".join(before)
    start, end, new_start, new_end = spans.pop(0)
    while True:
        part = "".join(before[start:end])
        if part and text.find(part) == text.rfind(part):
            return start, end, new_start, new_end
        if start > 0:
            start, new_start = start - 1, new_start - 1
        if spans and spans[0][0] <= end:
            _, end, _, new_end = spans.pop(0)
        elif end < len(before):
            end, new_end = end + 1, new_end + 1
        elif start == 0:
            return start, end, new_start, new_end
