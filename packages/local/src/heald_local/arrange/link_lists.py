"""Makes lists of columns of links: three or more of one colour, below each other at even distances."""

from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.part import Part
from heald_pictures.colours import colour_distance
from heald_pictures.elements import TextElement
from heald_pictures.rect import hull

FEWEST = 3  # links of a list, as of other lists
SAME_EDGE, SAME_STEP = 2.5, 2.5  # pixels by which the edges of its links, and the distances of their baselines, differ
SAME_SIZE, SAME_COLOUR = 1.3, 24  # times a size that another may seem to be, and levels by which colours differ
_CLOSED = frozenset({"a", "button", "ul", "ol", "li", "table", "form", "label", "pre"})


def list_link_columns(part: Part) -> Part:
    """Return a part with the columns of links in it as lists; a column of navigation holds its list."""
    if part.text is not None or part.tag in _CLOSED:
        return part
    children = tuple(list_link_columns(child) for child in part.children)
    if part.kind != "stack":
        return replace(part, children=children)
    grouped: list[Part] = []
    for run in _runs(children):
        if len(run) < FEWEST:
            grouped += run
            continue
        items = tuple(Part("stack", link.rect, (link,), tag="li", name="item") for link in run)
        grouped.append(Part("stack", hull(link.rect for link in run), items, tag="ul", name="list"))
    if len(grouped) == 1 and grouped[0].tag == "ul" and part.tag == "div" and part.box is None:
        return replace(part, tag="ul", name="list", children=grouped[0].children)
    return replace(part, children=tuple(grouped))


def _runs(children: Sequence[Part]) -> list[list[Part]]:
    """Group children: links that continue each other are one group, any other child is alone."""
    runs: list[list[Part]] = []
    for child in children:
        if runs and _continues(runs[-1], child):
            runs[-1].append(child)
        else:
            runs.append([child])
    return runs


def _continues(run: Sequence[Part], child: Part) -> bool:
    last = run[-1]
    if last.tag != "a" or child.tag != "a" or last.text is None or child.text is None:
        return False
    small, large = sorted((last.text.style.size, child.text.style.size))
    if large > SAME_SIZE * small or colour_distance(last.text.style.colour, child.text.style.colour) > SAME_COLOUR:
        return False
    edges = (last.rect.x - child.rect.x, last.rect.middle[0] - child.rect.middle[0], last.rect.right - child.rect.right)
    if min(map(abs, edges)) > SAME_EDGE:
        return False
    before = run[-2].text if len(run) > 1 else None
    return before is None or abs(_step(last.text, child.text) - _step(before, last.text)) <= SAME_STEP


def _step(upper: TextElement, lower: TextElement) -> float:
    """Return the distance from the last line of a text to the first one of that below it."""
    return lower.lines[0].baseline - upper.lines[-1].baseline
