"""Describes texts and pictures by their looks and their place, for the trees that tell links and headings.

Nothing depends on a language: a feature is a measure of type, colour, place, neighbours, or of the kinds of letters.
"""

import colorsys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from heald_local.arrange.colours import is_blue, is_vivid
from heald_local.arrange.part import Part
from heald_local.arrange.phrases import run_tag
from heald_pictures.colours import colour_distance, contrast, luminance, rgb_parts
from heald_pictures.elements import Box, Detection, TextElement, TextStyle
from heald_pictures.rect import Rect, hull

Matrix = NDArray[np.float64]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS = ("row", "stack", "grid", "layers", "table")
_AROUND = ("header", "footer", "aside", "nav", "ul", "table", "button", "form", "article", "main", "a")
_ENDS, _ARROWS = (".", "!", "?", "…", "。"), ("→", "›", "»", "↗", "⟶", ">")
_CODE = frozenset({"mono", "code"})
_FAR = 2000.0  # pixels that stand for a neighbour that is not there
_SHORT = 40  # letters
_NEAR_EDGE = 4.0
_NEAR_PICTURE = 40.0


@dataclass(frozen=True, slots=True)
class Item:
    """A text, a run of a sentence, or a picture, with the parts that it lies in, from the outermost."""

    part: Part
    around: tuple[Part, ...]
    sentence: TextElement | None = None

    @property
    def text(self) -> TextElement | None:
        return self.part.text

    @property
    def area(self) -> Rect:
        return hull(line.ink for line in self.part.text.lines) if self.part.text is not None else self.part.rect

    @property
    def is_linked(self) -> bool:
        """Whether the rules made it a link."""
        if any(part.tag == "a" for part in self.around) or self.part.tag == "a":
            return True
        if self.sentence is not None and self.text is not None:
            return run_tag(self.text.style, self.sentence.style) == "a"
        return any(name == "href" for name, _ in self.part.attributes)


def list_items(part: Part, around: tuple[Part, ...] = ()) -> list[Item]:
    """Return all texts, runs and pictures of a tree; a sentence comes before its runs."""
    if part.text is not None:
        runs = [Item(run, (*around, part), part.text) for run in part.children if run.text is not None]
        return [Item(part, around), *runs]
    if part.picture is not None:
        return [Item(part, around)]
    return [item for child in part.children for item in list_items(child, (*around, part))]


def describe_items(items: Sequence[Item], detection: Detection) -> Matrix:
    """Return a row of features for each item."""
    page = _PageLooks(items, detection)
    rows = [list(page.describe(item)) for item in items]
    return np.array(rows, np.float64) if rows else np.empty((0, 0))


class _PageLooks:
    """What all items of a page are compared with: its common style, and the places of its texts and pictures."""

    def __init__(self, items: Sequence[Item], detection: Detection) -> None:
        self.detection = detection
        texts = [(item, item.text) for item in items if item.text is not None and item.sentence is None]
        self.texts = [text for _, text in texts]
        self.indices = {id(text): number for number, text in enumerate(self.texts)}
        self.pictures = [item.area for item in items if item.text is None]
        self.picture_edges = _edges(self.pictures)
        areas = [item.area for item, _ in texts]
        self.edges = _edges(areas)
        self.sizes = np.array([text.style.size for text in self.texts])
        self.letters = np.array([len(text.text) for text in self.texts])
        self.bold = np.array([text.style.weight >= 600 for text in self.texts])
        self.styles = [_look(text.style) for text in self.texts]
        counted: Counter[float] = Counter()
        colours: Counter[str] = Counter()
        families: Counter[str] = Counter()
        for text in self.texts:
            counted[float(round(text.style.size))] += len(text.text)
            colours[text.style.colour] += len(text.text)
            families[text.style.family] += len(text.text)
        self.size = counted.most_common(1)[0][0] if counted else 16.0
        self.colour = colours.most_common(1)[0][0] if colours else "#000000"
        self.family = families.most_common(1)[0][0] if families else "sans"
        self.colours, self.total = colours, max(colours.total(), 1)
        self.largest = float(self.sizes.max()) if len(self.sizes) else 16.0
        self.same_look = Counter(self.styles)
        self.same_colour = Counter(text.style.colour for text in self.texts)
        self.short_in_colour = Counter(text.style.colour for text in self.texts if len(text.text) <= _SHORT)
        self.underlined = sum(text.style.underline for text in self.texts) / max(len(self.texts), 1)
        self.boxes = [box for box in detection.boxes if min(box.rect.w, box.rect.h) > 6]

    def describe(self, item: Item) -> Iterator[float]:
        text = item.text
        yield float(text is not None)
        yield float(item.sentence is not None)
        yield float(item.is_linked)
        yield float(HEADINGS.index(item.part.tag) + 1 if item.part.tag in HEADINGS else 0)
        yield from self._describe_words(text)
        yield from self._describe_style(text, item.sentence)
        yield from self._describe_place(item.area)
        yield from self._describe_neighbours(item)
        yield from self._describe_box(item)
        yield from self._describe_pictures(item)
        yield from _describe_around(item)

    def _describe_words(self, text: TextElement | None) -> Iterator[float]:
        words = text.text if text is not None else ""
        letters = [letter for letter in words if letter.isalpha()]
        split = words.split()
        count = max(len(words), 1)
        yield float(len(words))
        yield float(len(split))
        yield float(len(text.lines)) if text is not None else 0.0
        yield len(letters) / count
        yield sum(letter.isdigit() for letter in words) / count
        yield sum(letter.isupper() for letter in letters) / max(len(letters), 1)
        yield sum(word[0].isupper() for word in split) / max(len(split), 1)
        yield float(words[:1].isupper())
        yield float(words[:1].islower())
        yield float(words.endswith(_ENDS))
        yield float(words.endswith(":"))
        yield float(words.endswith(_ARROWS))
        yield float(words.endswith(","))
        yield float("©" in words)
        yield float("@" in words or "://" in words or "www." in words)
        yield float(any(mark in words for mark in "|•·"))
        yield float(any(mark in words for mark in "$€£¥"))
        yield float(sum(mark in ".,;:" for mark in words))
        yield float(text is not None and bool(text.marker))

    def _describe_style(self, text: TextElement | None, sentence: TextElement | None) -> Iterator[float]:
        style = text.style if text is not None else TextStyle("sans", 0.0, 400, False, self.colour)
        red, green, blue = (part / 255 for part in rgb_parts(style.colour))
        hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
        yield style.size
        yield style.size / self.size
        yield style.size / self.largest
        yield float(style.weight)
        yield float(style.italic)
        yield float(style.underline)
        yield float(style.family in _CODE)
        yield float(style.family != self.family)
        yield style.spacing / max(style.size, 1.0)
        yield float(colour_distance(style.colour, self.colour))
        yield contrast(style.colour, self.colour)
        yield hue
        yield light
        yield saturation
        yield float(is_vivid(style.colour))
        yield float(is_blue(style.colour))
        yield self.colours[style.colour] / self.total
        yield float(self.same_colour[style.colour])
        yield self.short_in_colour[style.colour] / max(self.same_colour[style.colour], 1)
        yield float(self.same_look[_look(style)])
        yield self.underlined
        yield float(len(self.texts))
        yield luminance(self.colour)
        base = sentence.style if sentence is not None else style
        yield float(colour_distance(style.colour, base.colour))
        yield float(style.underline and not base.underline)
        yield float(style.weight - base.weight)
        yield float(len(sentence.text)) if sentence is not None else 0.0

    def _describe_place(self, area: Rect) -> Iterator[float]:
        width, height = float(self.detection.width), float(self.detection.height)
        yield area.x / width
        yield area.middle[0] / width
        yield area.w / width
        yield area.h
        yield area.y
        yield area.y / height
        yield height - area.bottom
        yield abs(area.middle[0] - width / 2)
        yield height

    def _describe_neighbours(self, item: Item) -> Iterator[float]:
        """Yield how the texts on its line, above, below and in its column look beside it."""
        area, text = item.area, item.text
        size = max(text.style.size if text is not None else self.size, 1.0)
        left, top, right, bottom = self.edges
        others = np.ones(len(self.texts), bool)
        index = self.indices.get(id(item.sentence if item.sentence is not None else text), -1)
        if index >= 0:
            others[index] = False
        look = _look(text.style) if text is not None else None
        alike = np.array([style == look for style in self.styles], bool) if self.styles else np.empty(0, bool)
        level = others & (np.abs((top + bottom) / 2 - area.middle[1]) <= max(0.5 * size, 4.0))
        yield float(level.sum())
        yield float((level & alike).sum())
        yield float(self.letters[level].mean()) if level.any() else 0.0
        yield _least(area.x - right[level & (right <= area.x + 2)])
        yield _least(left[level & (left >= area.right - 2)] - area.right)
        yield float((level & (right <= area.x + 2)).sum())
        across = others & (np.minimum(right, area.right) - np.maximum(left, area.x) > 0)
        for side in (across & (bottom <= area.y + 2), across & (top >= area.bottom - 2)):
            gaps = np.where(side, np.maximum(area.y - bottom, top - area.bottom), np.inf)
            if not side.any():
                yield from (_FAR / size, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                continue
            near = int(gaps.argmin())
            style = self.texts[near].style
            yield float(gaps[near]) / size
            yield size / style.size
            yield float((text.style.weight if text is not None else 400) - style.weight)
            yield float(colour_distance(style.colour, text.style.colour)) if text is not None else 0.0
            yield float(self.letters[near])
            yield float(len(self.texts[near].lines))
            yield float(alike[near])
        column = others & (np.abs(left - area.x) <= _NEAR_EDGE)
        yield float(column.sum())
        yield float((column & alike).sum())
        yield float(self.letters[column & alike].mean()) if (column & alike).any() else 0.0
        near_column = column & alike & (np.abs((top + bottom) / 2 - area.middle[1]) <= 4.0 * size)
        yield float(near_column.sum())
        yield float(self.letters[alike & others].mean()) if (alike & others).any() else 0.0
        yield float((others & (self.sizes > 1.08 * size)).sum()) / max(len(self.texts), 1)

    def _describe_box(self, item: Item) -> Iterator[float]:
        """Yield how the innermost box around it looks, and how much else is in it."""
        area = item.area
        around = [box for box in self.boxes if box.rect.holds(area, 2.0)]
        box = min(around, key=lambda candidate: candidate.rect.area, default=None)
        yield float(len(around))
        if box is None:
            yield from (self.detection.width, self.detection.height, 0.0, 0.0, 0.0, 0.0, 1.0)
        else:
            yield box.rect.w
            yield box.rect.h
            yield area.w / max(box.rect.w, 1.0)
            yield float(box.border is not None)
            yield box.radius
            yield float(box.fill.startswith("#") and len(box.fill) == 7 and is_vivid(box.fill))
            yield box.rect.w / self.detection.width
        ground = _fill(box) or self.detection.background
        yield luminance(ground)
        yield contrast(item.text.style.colour, ground) if item.text is not None else 0.0
        rect = box.rect if box is not None else Rect(0, 0, self.detection.width, self.detection.height)
        left, top, right, bottom = self.edges
        inside = (left >= rect.x - 2) & (right <= rect.right + 2) & (top >= rect.y - 2) & (bottom <= rect.bottom + 2)
        yield float(inside.sum())
        yield float(self.letters[inside].sum())

    def _describe_pictures(self, item: Item) -> Iterator[float]:
        """Yield what pictures are above, below and at its left, and how it is drawn if it is one."""
        area = item.area
        left, top, right, bottom = self.picture_edges
        across = np.minimum(right, area.right) - np.maximum(left, area.x) > 0
        level = (top <= area.middle[1]) & (bottom >= area.middle[1])
        for side, gaps in (
            (across & (bottom <= area.y + 4), area.y - bottom),
            (across & (top >= area.bottom - 4), top - area.bottom),
            (level & (right <= area.x + 4), area.x - right),
            (level & (left >= area.right - 4), left - area.right),
        ):
            near = np.where(side, gaps, np.inf)
            is_near = bool(side.any()) and float(near.min()) <= _NEAR_PICTURE
            index = int(near.argmin()) if is_near else -1
            yield float(near[index]) if is_near else _FAR
            yield float(right[index] - left[index]) if is_near else 0.0
            yield float(bottom[index] - top[index]) if is_near else 0.0
        picture = item.part.picture
        yield float(picture is not None and picture.kind == "photo")
        yield float(picture is not None and bool(picture.shapes))
        yield float(((right - left == area.w) & (bottom - top == area.h)).sum()) if picture is not None else 0.0
        yield float(len(self.pictures))


def _describe_around(item: Item) -> Iterator[float]:
    tags = {part.tag for part in item.around}
    parent = item.around[-1] if item.around else item.part
    if item.sentence is not None and len(item.around) > 1:
        parent = item.around[-2]
    yield from (float(tag in tags) for tag in _AROUND)
    yield from (float(parent.kind == kind) for kind in _KINDS)
    yield float(len(parent.children))
    yield float(sum(child.text is not None for child in parent.children))
    yield float(parent.children[0] is item.part) if parent.children else 0.0
    yield float(max((part.columns for part in item.around), default=0))
    yield float(len(item.around))
    yield float(item.part.tag == "li" or parent.tag == "li")
    yield float(item.part.tag == "label")
    grid = next((part for part in reversed(item.around) if part.kind in ("grid", "row")), None)
    yield float(len(grid.children)) if grid is not None else 0.0
    yield log1p(parent.rect.h)


def _look(style: TextStyle) -> tuple[int, bool, str, bool]:
    return round(style.size), style.weight >= 600, style.colour, style.underline


def _edges(areas: Sequence[Rect]) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    table = np.array([(area.x, area.y, area.right, area.bottom) for area in areas]).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def _least(gaps: Matrix) -> float:
    return float(gaps.min()) if len(gaps) else _FAR


def _fill(box: Box | None) -> str:
    if box is None:
        return ""
    if box.gradient is not None:
        return box.gradient.start
    return box.fill if box.fill.startswith("#") and len(box.fill) == 7 else ""
