"""Finds the items of numbered lists: their numbers are written by the browser, not by the page."""

import re
from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_local.see.font_weights import LEAST_BOLD
from heald_local.see.paragraphs import TITLE, as_text, same_style
from heald_pictures.elements import Detection, TextElement, TextLine
from heald_pictures.fonts import face
from heald_pictures.rect import hull, spanning

_NUMBER = re.compile(r"(\d{1,2})([.:]) ?(?=[^\s\d])")  # a colon is a point that was misread, if it is not the first
_EDGE = 2.5  # pixels by which the words of two items, or of two lines of one, begin apart
_LONGEST = 8.0  # ems between the first lines of two items, at most
_TIGHTEST, _LOOSEST = 0.95, 2.1  # line heights of an item, in ems

Start = tuple[int, TextLine, TextLine]
"""The number of an item, its first line, and this line without the number."""


def number_items(detection: Detection) -> Detection:
    """Return the detection with one text for each item of a numbered list, without its number."""
    chains = _find_chains([start for text in detection.texts for line in text.lines if (start := _read_number(line))])
    if not chains:
        return detection
    starts = {id(line): (number, words) for chain in chains for number, line, words in chain}
    texts: list[TextElement] = []
    for text in detection.texts:
        groups: list[list[TextLine]] = []
        for line in text.lines:
            if not groups or id(line) in starts:
                groups.append([])
            groups[-1].append(line)
        for group in groups:
            number, words = starts.get(id(group[0]), (0, group[0]))
            item = text if len(groups) == 1 and not number else as_text([words, *group[1:]])
            texts.append(replace(item, marker=f"{number}") if number else item)
    return replace(detection, texts=tuple(_join_tails(texts)))


def restore_numbers(part: Part) -> Part:
    """Write the numbers again before texts that did not become items of a list."""
    text = part.text
    if part.tag == "ol":
        return part
    if text is None:
        return replace(part, children=tuple(map(restore_numbers, part.children)))
    if not text.marker.isdecimal():
        return part
    prefix = f"{text.marker}. "
    numbered = _numbered(text.lines[0], prefix)
    whole = as_text([numbered, *text.lines[1:]])
    runs = part.children
    if runs and runs[0].text is not None:
        first = as_text([_numbered(runs[0].text.lines[0], prefix), *runs[0].text.lines[1:]])
        runs = (replace(runs[0], text=first), *runs[1:])
    return replace(part, text=whole, rect=hull((part.rect, numbered.rect)), children=runs)


def _numbered(line: TextLine, prefix: str) -> TextLine:
    left = line.rect.x - _advance(line, prefix)
    ink, rect = (spanning((left, area.y, area.right, area.bottom)) for area in (line.ink, line.rect))
    return replace(line, text=prefix + line.text, ink=ink, rect=rect)


def _advance(line: TextLine, words: str) -> float:
    style = line.style
    drawn = face(style.family, style.weight >= LEAST_BOLD, style.italic)
    return drawn.advance(words) * style.size + style.spacing * len(words)


def _read_number(line: TextLine) -> Start | None:
    match = _NUMBER.match(line.text)
    if match is None or line.style.size >= TITLE:
        return None
    left = line.rect.x + _advance(line, f"{match[1]}. ")
    ink, rect = (spanning((min(left, area.right), area.y, area.right, area.bottom)) for area in (line.ink, line.rect))
    return int(match[1]), line, replace(line, text=line.text[match.end() :], ink=ink, rect=rect)


def _find_chains(starts: Sequence[Start]) -> list[list[Start]]:
    """Return the lists of at least two items, of which each has the next number and stands below the one before."""
    chains: list[list[Start]] = []
    for start in sorted(starts, key=lambda start: start[1].baseline):
        chain = next((chain for chain in chains if _follows(chain[-1], start)), None)
        if chain is not None:
            chain.append(start)
        elif start[0] == 1 and "." in start[1].text[:3]:
            chains.append([start])
    return [chain for chain in chains if len(chain) > 1]


def _follows(last: Start, start: Start) -> bool:
    (number, _, words), (following, _, next_words) = last, start
    is_below = 0 < next_words.baseline - words.baseline <= _LONGEST * words.style.size
    is_aligned = abs(next_words.rect.x - words.rect.x) <= _EDGE
    return following == number + 1 and is_below and is_aligned and same_style(words.style, next_words.style)


def _join_tails(texts: Sequence[TextElement]) -> list[TextElement]:
    """Join each item with the lines that follow it where its words begin."""
    joined = list(texts)
    for item in [text for text in texts if text.marker.isdecimal()]:
        tail = next((text for text in joined if not text.marker and _continues(item, text)), None)
        if tail is not None:
            joined.remove(tail)
            joined[joined.index(item)] = replace(as_text([*item.lines, *tail.lines]), marker=item.marker)
    return joined


def _continues(item: TextElement, text: TextElement) -> bool:
    last, line = item.lines[-1], text.lines[0]
    pitch = (line.baseline - last.baseline) / last.style.size
    is_aligned = abs(line.rect.x - item.lines[0].rect.x) <= _EDGE
    return _TIGHTEST <= pitch <= _LOOSEST and is_aligned and same_style(last.style, line.style)
