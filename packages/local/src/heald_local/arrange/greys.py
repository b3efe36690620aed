"""Keeps the greys of a page few: those that are nearly alike become the one that is used most."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from heald_local.page import Node, Style, walk_nodes
from heald_pictures.colours import colour_distance, rgb_parts

MOST_GREYS = 6
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_WHITE, _BLACK = 0xFB, 0x04  # levels beyond which a grey is white or black
_TINT = 12  # levels between the channels of a grey, at most
_ALIKE = 6.0  # levels by which equal greys may seem to differ
_FARTHEST = 40.0  # levels; greys that differ by more are different even where there are many
_SURE = 2.0  # times that two areas differ more than two texts, whose colours are measured less exactly
_AREA, _GROUND = 40, 4000  # letters of text that a painted area, and the background of the page, are worth


def merge_greys(body: tuple[Node, ...], ground: str) -> tuple[Node, ...]:
    """Return the nodes with at most six greys beside black and white; `ground` is the background of the page."""
    texts: Counter[str] = Counter()
    fills: Counter[str] = Counter({ground: _GROUND} if _is_grey(ground) else {})
    for node in walk_nodes(body):
        for name, value in node.style:
            greys = [colour for colour in _plain_colours(value) if _is_grey(colour)]
            is_text = _is_text(node, name)
            (texts if is_text else fills).update(dict.fromkeys(greys, _text_length(node) if is_text else _AREA))
    touching = set(_touching(body, ground))
    merged = _Merging(texts), _Merging(fills)
    while (pair := _next_pair(*merged, touching)) is not None:
        merged[pair[0]].merge(*pair[1])
    return tuple(_repaint(node, merged[1].chosen, merged[0].chosen) for node in body)


class _Merging:
    """The greys of texts, or of areas: how much each is used, and the one that stands for each."""

    def __init__(self, counted: Counter[str]) -> None:
        self.weights = Counter(counted)
        self.chosen = {colour: colour for colour in counted}

    def merge(self, first: str, second: str) -> None:
        stays, goes = (first, second) if self.weights[first] >= self.weights[second] else (second, first)
        self.weights[stays] += self.weights.pop(goes)
        self.chosen = {colour: stays if target == goes else target for colour, target in self.chosen.items()}

    def can_merge(self, pair: tuple[str, str], touching: set[tuple[str, str]]) -> bool:
        """Whether no area of one of two greys lies on an area of the other: it would vanish."""
        return not any({self.chosen.get(on, on), self.chosen.get(under, under)} == set(pair) for on, under in touching)


def _touching(nodes: tuple[Node, ...], ground: str) -> Iterator[tuple[str, str]]:
    """Return the colours of areas and lines, each with the colour that it lies on."""
    for node in nodes:
        below = ground
        for name, value in node.style:
            for colour in () if _is_text(node, name) else _plain_colours(value):
                yield colour, ground
                below = colour if name == "background" else below
        yield from _touching(node.children, below)


def _next_pair(texts: _Merging, fills: _Merging, touching: set[tuple[str, str]]) -> tuple[int, tuple[str, str]] | None:
    """Return the two greys that are merged next, of texts (0) or of areas (1); None if all are few and distinct."""
    pairs = [(colour_distance(*pair), 0, pair) for pair in itertools.combinations(sorted(texts.weights), 2)]
    areas = itertools.combinations(sorted(fills.weights), 2)
    pairs += [(_SURE * colour_distance(*pair), 1, pair) for pair in areas if fills.can_merge(pair, touching)]
    if not pairs:
        return None
    apart, kind, pair = min(pairs)
    too_many = len(texts.weights.keys() | fills.weights.keys()) > MOST_GREYS
    return (kind, pair) if apart <= _ALIKE or (too_many and apart <= _FARTHEST) else None


def _is_text(node: Node, name: str) -> bool:
    return name == "color" and node.tag != "svg"


def _text_length(node: Node) -> int:
    return 1 + sum(len(line) for line in node.lines)


def _is_grey(colour: str) -> bool:
    if not _COLOUR.fullmatch(colour):
        return False
    parts = rgb_parts(colour)
    is_plain = min(parts) > _WHITE or max(parts) < _BLACK
    return not is_plain and max(parts) - min(parts) <= _TINT


def _repaint(node: Node, fills: Mapping[str, str], texts: Mapping[str, str]) -> Node:
    style = tuple((name, _replace(value, texts if _is_text(node, name) else fills)) for name, value in node.style)
    return replace(node, style=style, children=tuple(_repaint(child, fills, texts) for child in node.children))


def _plain_colours(value: str) -> list[str]:
    """Return the colours of a value; those of a gradient are not, they belong together."""
    return [] if "gradient(" in value else _COLOUR.findall(value)


def _replace(value: str, names: Mapping[str, str]) -> str:
    if "gradient(" in value:
        return value
    return _COLOUR.sub(lambda match: names.get(match[0], match[0]), value)


def greys_of(styles: Iterable[Style]) -> set[str]:
    """Return the greys that styles use, beside black and white."""
    every = (colour for style in styles for _, value in style for colour in _plain_colours(value))
    return {colour for colour in every if _is_grey(colour)}
