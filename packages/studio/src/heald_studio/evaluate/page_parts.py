"""Links, controls, icons and photographs of a page, compared with those of the document that was rendered."""

from collections.abc import Callable, Sequence
from importlib.resources import files as resources
from typing import Any, Literal

import msgspec

PARTS_PROBE = (resources("heald_studio.evaluate") / "parts.js").read_text("utf-8").partition("\n")[2].rstrip()
PartKind = Literal["link", "button", "field", "select", "checkbox", "radio", "range", "icon", "photo"]
_PRESSED = frozenset({"link", "button"})  # a link that looks like a button cannot be known from its picture
_CONTROLS = frozenset({"button", "field", "select", "checkbox", "radio", "range"})
_STATES = frozenset({"checkbox", "radio"})
_COMMON = 0.5  # of the smaller of two boxes, by which they are in the same place


class PagePart(msgspec.Struct, frozen=True):
    """A part of a page: its kind, its box in CSS pixels, and what is known of it."""

    kind: PartKind
    box: tuple[float, float, float, float]
    on: bool = False
    """A check box or radio button is chosen."""
    drawn: bool = False
    """An icon is vector graphics."""
    named: bool = False
    """A photograph has an alternative text."""


class PartFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Shares from 0 to 1 of the document's parts that a page has too; None if the document has none."""

    links: float | None = None
    controls: float | None = None
    """Controls of the same kind, and of the same state if they have one."""
    icons: float | None = None
    """Icons that are vector graphics, of those that are vector graphics in the document."""
    alts: float | None = None
    """Photographs that have an alternative text, of those that have one in the document."""
    invented: float | None = None
    """Links and buttons of the page that are neither in the document."""


class _Probed(msgspec.Struct):
    parts: tuple[PagePart, ...] = ()


def read_parts(probed: Any) -> tuple[PagePart, ...]:
    """Return the parts in the result of a probe."""
    return msgspec.convert(probed, _Probed).parts


def with_parts(probe: str) -> str:
    """Return a probe that also lists the parts of the page."""
    return f"() => ({{ ...({probe})(), ...({PARTS_PROBE})() }})"


def compare_parts(document: Sequence[PagePart], page: Sequence[PagePart]) -> PartFigures:
    """Compare a page with the document whose picture it was made from."""
    links = [part for part in document if part.kind == "link"]
    controls = [part for part in document if part.kind in _CONTROLS]
    pressed = [part for part in page if part.kind in _PRESSED]
    icons = [part for part in document if part.kind == "icon" and part.drawn]  # a small photograph of a face is none
    named = [part for part in document if part.kind == "photo" and part.named]
    pressed_share = _share(pressed, [*links, *controls])
    return PartFigures(
        links=_share(links, pressed),
        controls=_share(controls, page, _is_same_control),
        icons=_share(icons, _of_kind(page, "icon"), lambda _one, two: two.drawn),
        alts=_share(named, _of_kind(page, "photo"), lambda _one, two: two.named),
        invented=None if pressed_share is None else 1 - pressed_share,
    )


def _of_kind(parts: Sequence[PagePart], kind: PartKind) -> list[PagePart]:
    return [part for part in parts if part.kind == kind]


def _is_same_control(part: PagePart, other: PagePart) -> bool:
    if part.kind in _PRESSED:
        return other.kind in _PRESSED
    return part.kind == other.kind and (part.kind not in _STATES or part.on == other.on)


def _share(
    expected: Sequence[PagePart],
    actual: Sequence[PagePart],
    fits: Callable[[PagePart, PagePart], bool] = lambda _one, _two: True,
) -> float | None:
    if not expected:
        return None
    return sum(any(_is_there(part, other) and fits(part, other) for other in actual) for part in expected) / len(
        expected
    )


def _is_there(part: PagePart, other: PagePart) -> bool:
    """Whether two parts are in the same place: a good part of the smaller lies in the other."""
    x, y, w, h = part.box
    left, top, wide, high = other.box
    across = min(x + w, left + wide) - max(x, left)
    down = min(y + h, top + high) - max(y, top)
    return across > 0 and down > 0 and across * down >= _COMMON * min(w * h, wide * high)
