"""Evens out the typography of a page: sizes, heights of lines and spacing that seem to differ become one.

Sizes are measured on each text alone, so that equal ones come out as 18.6 and 19 pixels. Those that are near to each
other become one; a text keeps its width and its middle.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_pictures.elements import Family, TextElement, TextStyle
from heald_pictures.rect import Rect

_SIZES_APART, _SHARE_APART = 0.45, 0.035  # pixels, and parts of the size, by which equal sizes may seem to differ
_WHOLE = 0.26  # pixels from a whole number within which a size is that number
_LINES_APART = 1.6  # pixels by which equal heights of lines may seem to differ
_LOOSE = 0.012  # of the width of a text, which its letter spacing may change and still be none
_LEAST_LOOSE = 2.0  # pixels
_KEPT = 0.15  # pixels; a text of several lines keeps a size that differs by more
_WRAPPED = 0.003  # of the width of a text of several lines, which would wrap elsewhere

_Face = tuple[Family, int, bool]


def even_texts(body: Part) -> Part:
    """Return the page with one size, and one height of lines, for texts that are nearly alike."""
    texts = _collect(body)
    weights: dict[_Face, Counter[float]] = {}
    for text in texts:
        weights.setdefault(_face(text.style), Counter())[text.style.size] += len(text.text)
    sizes = {face: _absorb(counted, _are_near_sizes, _whole_size) for face, counted in weights.items()}

    def resize(text: TextElement) -> TextElement:
        return _with_size(text, sizes[_face(text.style)][text.style.size])

    body = _change(body, resize)
    heights: dict[tuple[_Face, float], Counter[float]] = {}
    for part in _text_parts(body):
        assert part.text is not None
        key = _face(part.text.style), part.text.style.size
        heights.setdefault(key, Counter())[_line_height(part)] += 1
    even = {key: _absorb(counted, _are_near_heights, round) for key, counted in heights.items()}
    return _even_heights(body, even)


def _collect(part: Part) -> list[TextElement]:
    if part.text is not None:
        return [part.text, *(child.text for child in part.children if child.text is not None)]
    return [text for child in part.children for text in _collect(child)]


def _text_parts(part: Part) -> list[Part]:
    if part.text is not None:
        return [part]
    return [text for child in part.children for text in _text_parts(child)]


def _face(style: TextStyle) -> _Face:
    return style.family, style.weight, style.italic


def _absorb(
    counted: Counter[float], are_near: Callable[[float, float], bool], rounded: Callable[[float], float]
) -> dict[float, float]:
    """Return the value that stands for each: that of the group around a common one, which is near to all in it."""
    groups: dict[float, list[float]] = {}
    for value, _ in counted.most_common():
        centre = next((centre for centre in groups if are_near(centre, value)), value)
        groups.setdefault(centre, []).append(value)
    chosen: dict[float, float] = {}
    for values in groups.values():
        mean = sum(value * counted[value] for value in values) / sum(counted[value] for value in values)
        chosen |= dict.fromkeys(values, rounded(round(mean, 1)))
    return chosen


def _are_near_sizes(size: float, other: float) -> bool:
    return abs(size - other) <= max(_SIZES_APART, _SHARE_APART * size)


def _whole_size(size: float) -> float:
    return float(round(size)) if abs(size - round(size)) <= _WHOLE else size


def _are_near_heights(height: float, other: float) -> bool:
    return abs(height - other) <= _LINES_APART


def _change(part: Part, resize: Callable[[TextElement], TextElement]) -> Part:
    children = tuple(_change(child, resize) for child in part.children)
    return replace(part, children=children, text=resize(part.text) if part.text is not None else None)


def _with_size(text: TextElement, size: float) -> TextElement:
    """Give a text another size; its letter spacing keeps its width, and is none where that changes little."""
    style = text.style
    if len(text.lines) > 1 and abs(size - style.size) > _KEPT:
        return text  # its lines would wrap elsewhere
    letters = max(max(len(line.text) for line in text.lines), 1)
    width = max(line.rect.w for line in text.lines)
    plain = (width - style.spacing * letters) * size / style.size
    spacing = (width - plain) / letters
    if abs(width - plain) <= (max(_LEAST_LOOSE, _LOOSE * width) if len(text.lines) == 1 else _WRAPPED * width):
        spacing = 0.0
    changed = replace(style, size=size, spacing=round(spacing, 2))
    return text if changed == style else replace(text, style=changed)


def _line_height(part: Part) -> float:
    assert part.text is not None
    return part.rect.h / len(part.text.lines)


def _even_heights(part: Part, even: Mapping[tuple[_Face, float], Mapping[float, float]]) -> Part:
    """Give texts their new heights of lines; single lines keep their middle, others change by less than a pixel."""
    if part.text is None:
        return replace(part, children=tuple(_even_heights(child, even) for child in part.children))
    count, now = len(part.text.lines), _line_height(part)
    height = even[_face(part.text.style), part.text.style.size][now]
    if part.tag == "pre" or (count > 1 and abs(height - now) * count > 1.0):
        return part
    grown = (height - now) * count
    rect = Rect(part.rect.x, part.rect.y - grown / 2, part.rect.w, part.rect.h + grown)
    return replace(part, rect=rect)
