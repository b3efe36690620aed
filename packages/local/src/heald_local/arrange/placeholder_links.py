"""Makes links of empty boxes that stand for pictures: a logo, the picture beside a linked title, rows of thumbnails."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from heald_local.arrange.part import Part
from heald_pictures.rect import Rect

_SMALLEST = 18.0  # pixels of either side
_LOGO_WIDE, _LOGO_TALL = 420.0, 150.0  # pixels
_LOGO_LEFT, _LOGO_TOP = 0.35, 160.0  # of the page's width, and pixels, where a logo begins
_LARGEST_CARD = 0.3  # of the page
_MOST_TEXTS = 8  # of a card
_NEAR = 28.0  # pixels between a picture and its title
_LONGEST_LABEL = 60
_BANNER_WIDE, _BANNER_TALL, _BANNER_TOP = 560.0, 320.0, 60.0  # pixels of a larger logo, and where it begins
_BAR = 0.9  # the part of a page's width from which on a box at its top is a bar
_FRAMED = 0.5  # the part of a frame that its picture fills
_FEWEST_ALIKE, _SMALLEST_ALIKE, _WIDEST_ALIKE = 2, 14.0, 320.0  # boxes of one size side by side, and pixels of each
_PLAIN = ("div", "article")
_FEWEST_IN_STRIP = 4
_CLOSED = frozenset({"a", "button", "label", "input", "select", "textarea", "table", "nav", "pre"})


@dataclass(frozen=True, slots=True)
class _PageLinks:
    page: Rect
    links: list[Part]
    logo: Part | None

    def title_beside(self, box: Rect) -> str:
        """Return the link right below a box, or right beside it; empty if there is none."""
        for part in self.links:
            down, across = part.rect.y - box.bottom, part.rect.x - box.right
            is_below = 0 <= down <= _NEAR and box.x - 1 <= part.rect.x < box.right
            is_beside = 0 <= across <= _NEAR and box.y - 1 <= part.rect.y < box.bottom
            if part.text is not None and (is_below or is_beside):
                return part.text.text
        return ""


def link_placeholders(body: Part) -> Part:
    """Return the page with links around its logo and the pictures of its cards, where these are empty boxes."""
    links = [part for part in _walk(body) if _is_link(part)]
    return _link(body, "", _PageLinks(body.rect, links, _find_logo(body)))


def is_placeholder(part: Part) -> bool:
    """Whether a part is an empty box that is large enough for a picture."""
    return _is_empty(part) and min(part.rect.w, part.rect.h) >= _SMALLEST


def _is_empty(part: Part) -> bool:
    """Whether a part is a box with nothing in it but lines at its edges, or a smaller box: the picture in a frame."""
    if part.box is None or part.kind != "stack" or part.tag not in _PLAIN or part.box.control is not None:
        return False
    inner = [child for child in part.children if child.kind != "rule"]
    is_framed = len(inner) == 1 and inner[0].rect.area >= _FRAMED * part.rect.area and _is_empty(inner[0])
    return part.box.fill.startswith("#") and (not inner or is_framed)


def _find_logo(body: Part) -> Part | None:
    """Return the empty box in the upper left corner of a page whose upper part has links, or in a bar at its top."""
    boxes = [part for part in _walk(body) if is_placeholder(part) and _is_logo_place(part.rect, body.rect)]
    if not any(_is_link(part) and part.rect.y < _LOGO_TOP for part in _walk(body)):
        bars = [part for part in _walk(body) if _is_bar(part, body.rect)]
        boxes = [box for box in boxes if any(bar is not box and bar.rect.holds(box.rect) for bar in bars)]
    return min(boxes, key=lambda part: (part.rect.x, part.rect.y), default=None)


def _is_logo_place(rect: Rect, page: Rect) -> bool:
    if rect.x > _LOGO_LEFT * page.w or rect.w < rect.h:
        return False
    if rect.y <= _BANNER_TOP and rect.w <= _BANNER_WIDE and rect.h <= _BANNER_TALL:
        return True
    return rect.y <= _LOGO_TOP and rect.w <= _LOGO_WIDE and rect.h <= _LOGO_TALL


def _is_bar(part: Part, page: Rect) -> bool:
    """Whether a part is a low filled box across the top of a page."""
    rect = part.rect
    return part.box is not None and rect.y <= 1 and rect.h <= _LOGO_TOP and rect.w >= _BAR * page.w


def _link(part: Part, title: str, around: _PageLinks) -> Part:
    """Link the placeholders in a part; `title` is the first link of the card that it lies in."""
    if part is around.logo:
        return _wrap(part, "Home")
    if part.tag in _CLOSED or part.text is not None:
        return part
    if is_placeholder(part):
        name = title or around.title_beside(part.rect)
        return _wrap(part, name) if name else part
    texts = [inner for inner in _walk(part) if inner.text is not None]
    if part.rect.area > _LARGEST_CARD * around.page.area or len(texts) > _MOST_TEXTS:
        title = ""
    else:
        title = next((inner.text.text for inner in texts if inner.text is not None and _is_link(inner)), title)
    alike = _find_alike(part)
    children = (
        _wrap(child, title or f"Picture {alike.index(child) + 1}") if child in alike else _link(child, title, around)
        for child in part.children
    )
    return replace(part, children=tuple(children))


def _find_alike(part: Part) -> list[Part]:
    """Return the boxes of one size that are all of a row or grid, as thumbnails and the signs of networks are.

    Those of a grid may differ in height from row to row, and those of a strip of pictures in width.
    """
    boxes = [child for child in part.children if _is_empty(child)]
    if part.kind not in ("row", "grid") or len(boxes) < len(part.children) or len(boxes) < _FEWEST_ALIKE:
        return []
    first = boxes[0].rect
    is_wide = all(abs(box.rect.w - first.w) <= 1 for box in boxes)
    is_level = part.kind == "row" and all(abs(box.rect.h - first.h) <= 1 for box in boxes)
    is_strip = is_level and len(boxes) >= _FEWEST_IN_STRIP  # pictures of one height
    is_even = is_strip or (is_wide and (part.kind == "grid" or is_level))
    widest, least = max(box.rect.w for box in boxes), min(min(box.rect.w, box.rect.h) for box in boxes)
    return boxes if is_even and widest <= _WIDEST_ALIKE and least >= _SMALLEST_ALIKE else []


def _wrap(part: Part, label: str) -> Part:
    attributes = (("href", "#"), ("aria-label", label[:_LONGEST_LABEL]))
    return Part("stack", part.rect, (replace(part, tag="div"),), tag="a", name="link", attributes=attributes)


def _is_link(part: Part) -> bool:
    return part.text is not None and (part.tag == "a" or any(name == "href" for name, _ in part.attributes))


def _walk(part: Part) -> Iterator[Part]:
    yield part
    for child in part.children:
        yield from _walk(child)
