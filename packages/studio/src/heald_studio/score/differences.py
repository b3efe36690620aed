"""Describes where two pictures differ, in sentences that a person or a model can act on."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from heald_pictures.comparison import DifferenceKind, PageDifference
from heald_studio.browser.page import TextBlock
from heald_studio.score.blocks import Block
from heald_studio.score.colour_distance import colour_distance, css_colour
from heald_studio.score.matching import Matching, Pair, Size
from heald_studio.score.page_image import Pixels

Box = tuple[int, int, int, int]
"""Left, top, width and height."""

MAX_DIFFERENCES = 12
_CELL = 32
_UNLIKE = 0.35
_FAR = 0.01
_SEEN = 6.0
"""The CIEDE2000 distance from which a colour is reported."""


class Difference(msgspec.Struct, frozen=True):
    kind: DifferenceKind
    box: Box
    """In pixels of the target; of the rendering for an extra block."""
    sentence: str
    detail: PageDifference | None = None
    """The same for programs."""


def find_differences(
    matching: Matching,
    likeness: NDArray[np.float64],
    pictures: tuple[Pixels, Pixels],
    sizes: tuple[Size, Size],
    unread: Sequence[TextBlock] = (),
) -> tuple[Difference, ...]:
    """Return the most important differences, the worst first. `likeness` is the SSIM map of `pictures`."""
    scale = sizes[0][0] / pictures[0].shape[1]
    whole = sizes[0][0] * sizes[0][1]
    weighted: list[tuple[float, Difference]] = list(_height_difference(*sizes))
    weighted += [(block.area / whole + 0.02, _missing(block)) for block in matching.missing]
    weighted += [(block.area / whole + 0.01, _extra(block)) for block in matching.extra]
    weighted += [(place.w * place.h / whole + 0.02, _unread(place)) for place in unread]
    for pair in matching.pairs:
        weighted += _pair_differences(pair, sizes, whole)
    weighted += _region_differences(likeness, pictures, scale)
    weighted.sort(key=lambda entry: (-entry[0], entry[1].box, entry[1].kind))
    return tuple(difference for _, difference in weighted[:MAX_DIFFERENCES])


def _height_difference(target: Size, rendered: Size) -> Iterator[tuple[float, Difference]]:
    expected = target[1] * rendered[0] / target[0]
    if abs(rendered[1] - expected) > 0.03 * expected:
        side = "taller" if rendered[1] > expected else "shorter"
        off = round(rendered[1] - expected)
        sentence = f"The page is {abs(off)} px {side} than the target."
        detail = PageDifference(kind="height", down=off)
        yield abs(rendered[1] / expected - 1), Difference("height", (0, 0, *target), sentence, detail)


def _missing(block: Block) -> Difference:
    return Difference("missing", block.box, f"{_quoted(block)} at ({_position(block)}) is missing.")


def _extra(block: Block) -> Difference:
    return Difference("extra", block.box, f"{_quoted(block)} at ({_position(block)}) is not in the target.")


def _unread(place: TextBlock) -> Difference:
    box = round(place.x), round(place.y), round(place.w), round(place.h)
    sentence = f"What looks like text at ({box[0]}, {box[1]}) could not be read, and is not text on the page."
    return Difference("unread", box, sentence)


def _pair_differences(pair: Pair, sizes: tuple[Size, Size], whole: int) -> Iterator[tuple[float, Difference]]:
    target, rendered = pair.target, pair.rendered
    share = target.area / whole
    if pair.text < 1:
        sentence = f"{_quoted(target)} reads {_quoted(rendered)}."
        detail = PageDifference(kind="text", text=target.text, page_text=rendered.text)
        yield (1 - pair.text) * (share + 0.02), Difference("text", target.box, sentence, detail)
    if pair.position < 1 - _FAR:
        yield (1 - pair.position) * (share + 0.1), _describe_move(pair, sizes)
    seen = colour_distance(target.colour, rendered.colour)
    if seen > _SEEN:
        sentence = f"{_quoted(target)} is {css_colour(rendered.colour)} instead of {css_colour(target.colour)}."
        detail = PageDifference(kind="colour", text=target.text, colour=css_colour(target.colour))
        yield seen / 100 * (share + 0.05), Difference("colour", target.box, sentence, detail)


def _describe_move(pair: Pair, sizes: tuple[Size, Size]) -> Difference:
    scale = sizes[0][0] / sizes[1][0]
    (x1, y1), (x2, y2) = pair.target.centre, pair.rendered.centre
    across, down = round(x2 * scale - x1), round(y2 * scale - y1)
    words: list[str] = []
    if across:
        words.append(f"{abs(across)} px too far {'right' if across > 0 else 'left'}")
    if down:
        words.append(f"{abs(down)} px too {'low' if down > 0 else 'high'}")
    sentence = f"{_quoted(pair.target)} is {' and '.join(words) or 'moved by the height of the page'}."
    detail = PageDifference(kind="position", text=pair.target.text, right=across, down=down)
    return Difference("position", pair.target.box, sentence, detail)


def _region_differences(
    likeness: NDArray[np.float64], pictures: tuple[Pixels, Pixels], scale: float
) -> Iterator[tuple[float, Difference]]:
    """Find areas that differ apart from text: connected cells of a coarse grid."""
    rows, columns = -(-likeness.shape[0] // _CELL), -(-likeness.shape[1] // _CELL)
    unlike = {
        (row, column)
        for row in range(rows)
        for column in range(columns)
        if 1 - likeness[_cell_slice(row), _cell_slice(column)].mean() > _UNLIKE
    }
    while unlike:
        area = pop_connected(unlike)
        top, left = min(row for row, _ in area), min(column for _, column in area)
        down, across = max(row for row, _ in area) + 1 - top, max(column for _, column in area) + 1 - left
        part = slice(top * _CELL, (top + down) * _CELL), slice(left * _CELL, (left + across) * _CELL)
        expected, actual = (_median_colour(picture[part]) for picture in pictures)
        height, width = pictures[0][part].shape[:2]
        x, y, w, h = (round(side * scale) for side in (left * _CELL, top * _CELL, width, height))
        sentence = f"The area of {w} × {h} px at ({x}, {y}) looks different"
        tones = (
            f": about {css_colour(actual)} instead of {css_colour(expected)}."
            if colour_distance(expected, actual) > _SEEN
            else "."
        )
        yield len(area) / (rows * columns), Difference("picture", (x, y, w, h), sentence + tones)


def pop_connected(cells: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Remove one connected group from the cells and return it."""
    waiting = [min(cells)]
    cells.discard(waiting[0])
    group: set[tuple[int, int]] = set()
    while waiting:
        row, column = waiting.pop()
        group.add((row, column))
        for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if near in cells:
                cells.discard(near)
                waiting.append(near)
    return group


def _cell_slice(index: int) -> slice:
    return slice(index * _CELL, (index + 1) * _CELL)


def _median_colour(pixels: Pixels) -> tuple[int, int, int]:
    red, green, blue = np.median(pixels.reshape(-1, 3), axis=0)
    return int(red), int(green), int(blue)


def _position(block: Block) -> str:
    return f"{round(block.x)}, {round(block.y)}"


def _quoted(block: Block) -> str:
    text = block.text if len(block.text) <= 60 else f"{block.text[:57]}…"
    return f"“{text}”"
