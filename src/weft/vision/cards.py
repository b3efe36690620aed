"""Cards of one grid are one class: what differs between their paddings by less than is seen is evened out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from weft.vision.page import Node
from weft.vision.sheet import length

_LENGTH = re.compile(r"-?\d+(?:\.\d+)?")
_SLIGHT = 0.5
"""Pixels."""

Sides = tuple[float, float, float, float]


def evened(cards: Sequence[Node], stretched: bool) -> list[Node]:
    """The same cards with the same padding where theirs is nearly the same; below it may differ if they stretch."""
    found = [_sides(card) for card in cards]
    known = [sides for sides in found if sides is not None]
    if len(known) < 2 or len(known) != len(cards) or any(card.lines for card in cards):
        return list(cards)
    tops, rights, bottoms, lefts = zip(*known, strict=True)
    even = [_middle(tops), _middle(rights), min(bottoms) if stretched else _middle(bottoms), _middle(lefts)]
    if any(side is None for side in even):
        return list(cards)
    text = _padding([length(side) for side in even if side is not None])
    return [
        replace(card, style=tuple((name, text if name == "padding" else value) for name, value in card.style))
        for card in cards
    ]


def _middle(values: Sequence[float]) -> float | None:
    """What all are near to, in whole pixels; None if they are not."""
    middle = round(median(values))
    return middle if all(abs(value - middle) <= _SLIGHT for value in values) else None


def _padding(sides: Sequence[str]) -> str:
    top, right, bottom, left = sides
    if right != left:
        return " ".join(sides)
    return f"{top} {right} {bottom}" if top != bottom else f"{top} {right}" if top != right else top


def _sides(card: Node) -> Sides | None:
    text = dict(card.style).get("padding", "")
    if not text or "(" in text:
        return None
    sides = [float(found) for found in _LENGTH.findall(text)]
    match sides:
        case [every]:
            return every, every, every, every
        case [across, along]:
            return across, along, across, along
        case [top, along, bottom]:
            return top, along, bottom, along
        case [top, right, bottom, left]:
            return top, right, bottom, left
        case _:
            return None
