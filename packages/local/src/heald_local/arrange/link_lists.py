"""Makes lists of links: columns of three or more of one colour at even distances, and rows of three or more."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from heald_local.arrange.entry_lists import gather_entries, is_line_across
from heald_local.arrange.part import Part
from heald_local.page import Node, Style
from heald_pictures.colours import colour_distance
from heald_pictures.elements import TextElement
from heald_pictures.rect import hull

FEWEST, FEWEST_BELOW = 3, 2  # links of a list, as of other lists; and of one in a footer
SAME_EDGE, SAME_STEP = 2.5, 2.5  # pixels by which the edges of its links, and the distances of their baselines, differ
SAME_SIZE, SAME_COLOUR = 1.3, 24  # times a size that another may seem to be, and levels by which colours differ
SAME_HEIGHT = 1.5  # times a height that another picture of a row may have
LARGEST_ICON = 64.0  # pixels of a side of a picture that is one of a row
THICKEST = 8.0  # pixels of an upright line
WIDEST_GAP = 120.0  # pixels between two links of a row
MOST_RULED = 10  # links of a row with lines between them: in an index each item would be off by a part of a pixel
_PAIR = 2
_CLOSED = frozenset({"a", "button", "ul", "ol", "li", "table", "form", "label", "pre"})
_ROWS = frozenset({"div", "nav"})
"""Tags of rows that become a list, or hold it alone, where all their parts are links."""
_INNER = frozenset({"display", "flex-wrap", "gap", "justify-content", "align-items"})
"""Properties of a row that place its parts, and not the row."""


def list_links(part: Part, fewest: int = FEWEST) -> Part:
    """Return a part with the columns and rows of links in it as lists; navigation holds its list."""
    if part.text is not None or part.tag in _CLOSED:
        return part
    fewest = FEWEST_BELOW if part.tag == "footer" else fewest
    children = tuple(list_links(child, fewest) for child in part.children)
    if part.kind == "row":
        return _list_row(replace(part, children=children), fewest)
    if part.kind != "stack":
        return replace(part, children=children)
    grouped = _group(gather_entries(children), _continues, "stack", fewest)
    if len(grouped) == 1 and grouped[0].tag == "ul" and part.tag == "div" and part.box is None:
        return replace(part, tag="ul", name="list", children=grouped[0].children)
    return replace(part, children=tuple(grouped))


def _list_row(row: Part, fewest: int) -> Part:
    grouped = _group(row.children, _stands_beside, "row", fewest)
    if len(grouped) > 1 or grouped[0].tag != "ul" or row.tag not in _ROWS or (row.tag == "nav" and row.box is not None):
        return replace(row, children=tuple(grouped))
    items = grouped[0].children
    return replace(row, children=items) if row.tag == "nav" else replace(row, tag="ul", name="list", children=items)


def put_list_into_nav(node: Node) -> Node:
    """Return navigation whose parts are items with a list around these, which places them."""
    if node.tag != "nav" or not node.children or any(child.tag != "li" for child in node.children):
        return node
    looks = (node.style, node.narrow, node.medium)
    outer = [tuple(pair for pair in style if pair[0] not in _INNER) for style in looks]
    style, narrow, medium = (_inner(style) for style in looks)
    held = Node("ul", "list", style, narrow, children=node.children, medium=medium, height=node.height)
    return replace(node, style=outer[0], narrow=outer[1], medium=outer[2], children=(held,))


def _inner(style: Style) -> Style:
    return tuple(pair for pair in style if pair[0] in _INNER)


def _group(
    children: Sequence[Part],
    belongs: Callable[[Sequence[Part], Part], bool],
    kind: Literal["stack", "row"],
    fewest: int,
) -> list[Part]:
    """Return the children, with those that follow each other as links of one list in a list.

    Dividing lines behind a link are part of its item.
    """
    runs: list[list[list[Part]]] = []
    for child in children:
        if runs and _is_line(child, kind) and _find_link(runs[-1][-1][0]) is not None:
            runs[-1][-1].append(child)
        elif runs and belongs([item[0] for item in runs[-1]], child):
            runs[-1].append([child])
        elif runs and len(runs[-1]) == _PAIR and belongs([runs[-1][1][0]], child):
            runs.append([runs[-1].pop(), [child]])  # the first one stands apart, such as a heading
        else:
            runs.append([[child]])
    grouped: list[Part] = []
    for run in runs:
        is_index = kind == "row" and len(run) > MOST_RULED and any(len(item) > 1 for item in run)
        if len(run) < fewest or is_index:
            grouped += [part for item in run for part in item]
            continue
        items = tuple(_item(parts, kind) for parts in run)
        grouped.append(Part(kind, hull(item.rect for item in items), items, tag="ul", name="list"))
    return grouped


def _item(parts: Sequence[Part], kind: Literal["stack", "row"]) -> Part:
    """Return a link and the lines behind it as an item of a list; what holds the link alone is the item itself."""
    if len(parts) == 1 and parts[0].tag == "div":
        return replace(parts[0], tag="li", name="item")
    inside = kind if len(parts) > 1 else "stack"
    return Part(inside, hull(part.rect for part in parts), tuple(parts), tag="li", name="item")


def _find_link(part: Part) -> Part | None:
    """Return the link that a part is, or holds with nothing but lines and icons."""
    if part.tag == "a":
        return part
    if part.tag != "div" or part.kind == "grid":
        return None
    inner = [child for child in part.children if not _is_decoration(child)]
    return _find_link(inner[0]) if len(inner) == 1 else None


def _is_line(part: Part, kind: Literal["stack", "row"]) -> bool:
    """Whether a part divides what is below each other in a stack, or side by side in a row."""
    if kind == "row":
        return part.kind == "rule" and part.rect.w <= THICKEST < part.rect.h
    return is_line_across(part)


def _is_decoration(part: Part) -> bool:
    return part.kind == "rule" or (part.picture is not None and max(part.rect.w, part.rect.h) <= LARGEST_ICON)


def _continues(run: Sequence[Part], child: Part) -> bool:
    last, following = _find_text(run[-1]), _find_text(child)
    if last is None or following is None:
        return False
    one, other = last.style, following.style
    if not _is_within(one.size, other.size, SAME_SIZE) or colour_distance(one.colour, other.colour) > SAME_COLOUR:
        return False
    upper, lower = last.rect, following.rect
    edges = (upper.x - lower.x, upper.middle[0] - lower.middle[0], upper.right - lower.right)
    if min(map(abs, edges)) > SAME_EDGE:
        return False
    before = _find_text(run[-2]) if len(run) > 1 else None
    return before is None or abs(_step(last, following) - _step(before, last)) <= SAME_STEP


def _find_text(part: Part) -> TextElement | None:
    link = _find_link(part)
    return link.text if link is not None else None


def _step(upper: TextElement, lower: TextElement) -> float:
    """Return the distance from the last line of a text to the first one of that below it."""
    return lower.lines[0].baseline - upper.lines[-1].baseline


def _stands_beside(run: Sequence[Part], child: Part) -> bool:
    """Whether a link follows others of its row: words of about one size in any colour, or small pictures."""
    last, following = _find_link(run[-1]), _find_link(child)
    if last is None or following is None or child.rect.x - run[-1].rect.right > WIDEST_GAP:
        return False
    if last.text is not None and following.text is not None:
        return _is_within(last.text.style.size, following.text.style.size, SAME_SIZE)
    return _is_icon(last) and _is_icon(following) and _is_within(last.rect.h, following.rect.h, SAME_HEIGHT)


def _is_icon(part: Part) -> bool:
    """Whether a link is one small picture."""
    is_small = max(part.rect.w, part.rect.h) <= LARGEST_ICON
    return is_small and len(part.children) == 1 and part.children[0].picture is not None


def _is_within(one: float, other: float, times: float) -> bool:
    small, large = sorted((one, other))
    return large <= times * small
