"""Decides what is a link and what is a heading, by trees that were trained on pages of other people.

The rules have tagged the page before; their opinion is one feature of many. Thresholds were chosen on sites that were
held out (`packages/local/training/README.md`).
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from heald_local.arrange.colours import is_vivid
from heald_local.arrange.field_labels import find_field_labels
from heald_local.arrange.landmarks import has_tag
from heald_local.arrange.links import find_column_heads
from heald_local.arrange.menus import find_index_items, find_menu_items
from heald_local.arrange.part import Part
from heald_local.arrange.phrases import run_tag
from heald_local.arrange.placeholder_links import link_placeholders
from heald_local.arrange.role_features import HEADINGS, Item, Matrix, describe_items, list_items
from heald_local.arrange.role_trees import load_trees
from heald_local.spans import is_even
from heald_pictures.elements import Detection, TextElement, TextStyle
from heald_pictures.rect import Rect, hull

LEAST_LINK, LEAST_PICTURE, LEAST_HEADING = 0.12, 0.18, 0.2  # chances from which on an item is one
LEAST_HEADED, LEAST_RUN = 0.35, 0.25  # the same for a link that is a heading, and for one in a sentence
LEAST_PROSE = 0.3  # the same for several words in the style of plain text
LEAST_TITLE = 0.27  # the same for titles in the style of plain text, of which there are several
LEAST_WHOLE = 0.5  # the same for a sentence whose words have several styles: all of it is one link
LEAST_RULED = 0.12  # the chance below which a link of the rules is none
_CLOSED = frozenset(
    {"button", "label", "input", "select", "textarea", "a", "pre"}
)  # parts that hold no link and no heading
_FEWEST_IN_NAV = 3
_LOWEST_NAV = 420.0  # pixels; lower on the page, only a footer and side columns have navigation
_COLOURED = frozenset({"a", "span"})
_WORDS = (3, 8)  # texts of more words are not like those of fewer
_THINNEST = 8.0  # pixels of a side of a picture that is a link
_LEAST_ICON = 18.0  # pixels; a smaller one marks something
_HIGHEST_PILL, _WIDEST_PILL = 68.0, 460.0  # pixels
_FEWEST_SIGNS, _SHORTEST_SIGN, _TALLEST_SIGN = 3, 8.0, 64.0  # icons in a row, and pixels of their height
_SAME_HEIGHT, _SIGN_GAP, _UNEVEN = 3.0, 0.4, 0.6  # pixels, and heights of a sign between two, and by which gaps differ
_FEWEST_SPACES = 3  # between the words of prose
_FEWEST_TITLES = 3
_LONGEST_TITLE, _STOPS = 9, (".", ",", ";", ":", "!", "?", "…")  # words of a title, and ends of sentences
_LOOSE = 0.1  # letter spacing, in parts of the size, from which on the size is unreliable
_LEVEL = 4.0  # pixels between the middles of a name and its value
_LONGEST_VALUE, _DIGITS = 16, 0.3  # letters of a value, and the share of digits in it
_ARROWS = ("»", "›", "→")  # at the end of words that lead on
_COPYRIGHT = re.compile(r"©|^\s*copyright\b.*\d{4}|\ball rights reserved\b", re.IGNORECASE)
_CHANGE = re.compile(r"[+±−–▲▼-]\s?\d+([.,]\d+)*\s?[%‰]")  # in a figure: -3 %, ▲ 1.2 %
_LINKED = frozenset({"photo", "icon", "unread"})  # kinds of pictures that may be links
_LANDMARKS = frozenset({"header", "footer", "aside"})
_TEXT_TAGS = frozenset({"p", "li", "a", *HEADINGS})

Levels = Callable[[Part, frozenset[int]], Mapping[int, int]]
"""Returns the level of each heading by the id of its part, for a page and the ids of its headings."""


@dataclass(frozen=True, slots=True)
class _Roles:
    links: frozenset[int]
    plain: frozenset[int]
    """Links of the rules that are none."""
    levels: Mapping[int, int]


def assign_roles(body: Part, detection: Detection, find_levels: Levels) -> Part:
    """Make links and headings of the items that look like them, and plain texts of those that do not."""
    items = list_items(body)
    if not items:
        return body
    features = describe_items(items, detection)
    groups = _group_alike(items)
    links, headings = (_even(groups, load_trees(role).predict(features)) for role in ("link", "heading"))
    repeated = {id(items[number].part) for members in groups if len(members) >= _FEWEST_TITLES for number in members}
    barred = _even_barred(groups, items, _find_barred(body, items))
    style, menus = _find_style(items), find_menu_items(items)
    index = find_index_items(items)
    linked, plain, headed = set[int](), set[int](), set[int]()
    for item, link, heading in zip(items, links, headings, strict=True):
        if any(part.tag in _CLOSED for part in item.around):
            continue
        least = LEAST_RULED if item.part.tag in HEADINGS else LEAST_HEADING
        if item.sentence is None and heading >= least and _may_head(item):
            headed.add(id(item.part))
        least = LEAST_PICTURE if item.text is None else LEAST_LINK
        if id(item.part) in headed:
            least = LEAST_HEADED
        elif item.sentence is not None:
            least = LEAST_RUN
        elif item.text is not None and _is_prose(item, style):
            least = LEAST_TITLE if id(item.part) in repeated and _is_short(item.text) else LEAST_PROSE
        least = LEAST_WHOLE if item.part.children else least
        is_link = (link >= least or id(item.part) in menus) and _may_lead(item, barred)
        if is_link or id(item.part) in index:
            linked.add(id(item.part))
        elif link < LEAST_RULED or (item.text is not None and _is_never_link(item.text.text)):
            plain.add(id(item.part))
    roles = _Roles(frozenset(linked), frozenset(plain), find_levels(body, frozenset(headed)))
    return link_placeholders(_mark_navs(_assign(body, roles), inside=False))


def _group_alike(items: Sequence[Item]) -> list[list[int]]:
    """Group the numbers of items that are alike: the same element of all cards is the same thing."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, item in enumerate(items):
        text = item.text
        look = (item.part.kind, item.part.tag)
        if text is not None:
            style, words = text.style, text.text.count(" ") + 1
            length = sum(words > most for most in _WORDS)
            look = (*look, round(style.size), style.weight >= 600, style.colour, style.underline, length)
        around = tuple((part.kind, part.tag) for part in item.around)
        groups.setdefault((look, around, item.sentence is not None), []).append(number)
    return list(groups.values())


def _even(groups: Sequence[list[int]], chances: Matrix) -> Matrix:
    """Give items that are alike one chance, the mean of theirs."""
    evened = chances.copy()
    for members in groups:
        evened[members] = chances[members].mean()
    return evened


def _even_barred(groups: Sequence[list[int]], items: Sequence[Item], barred: frozenset[int]) -> frozenset[int]:
    """Bar all items that are alike where half of them are: the last of two titles has no value beside it."""
    ids = [[id(items[number].part) for number in members] for members in groups]
    mostly = [members for members in ids if 2 * len(barred.intersection(members)) >= len(members)]
    return barred.union(*mostly)


def _find_style(items: Sequence[Item]) -> tuple[int, str]:
    """Return the size and the colour that most letters of the page have."""
    letters: Counter[tuple[int, str]] = Counter()
    for item in items:
        if item.text is not None and item.sentence is None:
            letters[round(item.text.style.size), item.text.style.colour] += len(item.text.text)
    return letters.most_common(1)[0][0] if letters else (16, "#000000")


def _is_prose(item: Item, style: tuple[int, str]) -> bool:
    """Whether an item is several words in the style of plain text."""
    text = item.text
    if text is None or text.style.underline or text.text.count(" ") < _FEWEST_SPACES:
        return False
    return (round(text.style.size), text.style.colour) == style


def _is_short(text: TextElement) -> bool:
    """Whether words may be a title: a few of them, and no sentence."""
    return len(text.text.split()) <= _LONGEST_TITLE and not text.text.endswith(_STOPS)


def _may_head(item: Item) -> bool:
    text = item.text
    if text is None or item.part.tag not in _TEXT_TAGS or abs(text.style.spacing) > _LOOSE * text.style.size:
        return False
    return any(letter.isalpha() for letter in text.text)


def _may_lead(item: Item, barred: frozenset[int]) -> bool:
    if item.text is None:
        return id(item.part) not in barred and _is_apart(item)
    is_marked = item.sentence is None or _is_marked(item.text.style, item.sentence.style)
    if not is_marked and not item.text.text.endswith(_ARROWS):
        return False  # looks like plain words, or is emphasised
    return id(item.part) not in barred and any(letter.isalnum() for letter in item.text.text)


def _is_marked(style: TextStyle, base: TextStyle) -> bool:
    """Whether a run of a sentence looks like a link, also in a sentence of which most words are links."""
    return run_tag(style, base) in _COLOURED or style.underline or is_vivid(style.colour)


def _is_apart(item: Item) -> bool:
    """Whether a picture may be a link alone: a photograph, or an icon that does not mark the words beside it."""
    picture, parent = item.part.picture, item.around[-1]
    if _is_in_row(item.part, parent):
        return True
    if picture is None or picture.kind not in _LINKED or max(picture.rect.w, picture.rect.h) < _LEAST_ICON:
        return False
    if min(picture.rect.w, picture.rect.h) < _THINNEST:
        return False  # a line, such as that below the current place of a menu
    near = max(picture.rect.w, _LEAST_ICON)
    beside = [
        child for child in parent.children if child.picture is None and _gap_across(picture.rect, child.rect) <= near
    ]
    return picture.kind == "photo" or parent.kind != "row" or not beside


def _is_in_row(sign: Part, row: Part) -> bool:
    """Whether an icon is one of several of a height that stand apart in a row, as the signs of networks do."""
    runs = [list(run) for is_icon, run in itertools.groupby(row.children, _is_icon) if is_icon]
    signs = next(([child.rect for child in run] for run in runs if any(child is sign for child in run)), [])
    if row.kind != "row" or len(signs) < _FEWEST_SIGNS or not _SHORTEST_SIGN <= sign.rect.h <= _TALLEST_SIGN:
        return False
    gaps = [after.x - before.right for before, after in itertools.pairwise(signs)]
    is_one_height = is_even([rect.h for rect in signs], _SAME_HEIGHT / 2)
    return is_one_height and min(gaps) >= _SIGN_GAP * sign.rect.h and is_even(gaps, _UNEVEN * sign.rect.h)


def _is_icon(part: Part) -> bool:
    return part.picture is not None and part.picture.kind in _LINKED


def _gap_across(rect: Rect, other: Rect) -> float:
    """Return the pixels between two parts side by side."""
    return max(other.x - rect.right, rect.x - other.right)


def _find_barred(body: Part, items: Sequence[Item]) -> frozenset[int]:
    """Return the ids of texts that only rules may link: breadcrumbs, copyrights, names of columns, fields, values."""
    footers = _find_tagged(body, frozenset({"footer"}))
    barred = {number for footer in footers for number in find_column_heads(footer)}
    barred |= {id(part) for footer in footers for part in _find_tagged(footer, frozenset(HEADINGS))}
    barred |= find_field_labels(body, items)
    numbers = [item.part.rect for item in items if item.text is not None and _is_value(item.text.text)]
    places = [item.area for item in items if item.text is not None and item.sentence is None]
    for item in items:
        if any(part.name == "breadcrumb" for part in item.around):
            barred.add(id(item.part))
        if item.text is None:
            continue
        area = item.part.rect
        has_letters = any(letter.isalpha() for letter in item.text.text)
        is_name = has_letters and any(_is_value_of(area, rect, places) for rect in numbers)
        if is_name or _is_never_link(item.text.text):
            barred.add(id(item.part))
    return frozenset(barred)


def _find_tagged(part: Part, tags: frozenset[str]) -> list[Part]:
    if part.tag in tags:
        return [part]
    return [tagged for child in part.children for tagged in _find_tagged(child, tags)]


def _is_never_link(words: str) -> bool:
    """Whether words are a copyright, or how much a figure has changed."""
    return _COPYRIGHT.search(words) is not None or _CHANGE.fullmatch(words.strip()) is not None


def _is_value_of(name: Rect, value: Rect, texts: Sequence[Rect]) -> bool:
    """Whether a value is the next text at the right of a name, in the same line."""
    if abs(value.middle[1] - name.middle[1]) > _LEVEL or value.x < name.right:
        return False
    between = Rect(name.right, name.y, value.x - name.right, name.h)
    return not any(text.common(between) > 0 for text in texts)


def _is_value(words: str) -> bool:
    return len(words) <= _LONGEST_VALUE and sum(letter.isdigit() for letter in words) > _DIGITS * len(words)


def _assign(part: Part, roles: _Roles) -> Part:
    if part.tag in _CLOSED and part.text is None:
        return part
    if part.picture is not None:
        return _wrap_picture(part) if id(part) in roles.links else part
    if part.text is None:
        if _is_pill(part) and id(part.children[0]) in roles.links and id(part.children[0]) not in roles.levels:
            words = replace(part.children[0], tag="span", name="caption", attributes=())
            return replace(part, tag="a", name="link", attributes=(("href", "#"),), children=(words,))
        return replace(part, children=tuple(_assign(child, roles) for child in part.children))
    return _assign_text(part, roles) if part.tag in _TEXT_TAGS else part


def _is_pill(part: Part) -> bool:
    """Whether a part is a low box around one text, which is pressed as a whole."""
    is_alone = len(part.children) == 1 and part.children[0].tag == "p" and not part.children[0].children
    is_small = part.rect.h <= _HIGHEST_PILL and part.rect.w <= _WIDEST_PILL
    return is_alone and part.box is not None and part.tag == "div" and is_small


def _wrap_picture(part: Part) -> Part:
    """Put a picture into a link; one that has no text of its own gets a label."""
    name = part.picture.icon if part.picture is not None else ""
    label = (("aria-label", name.replace("-", " ").capitalize() or "Link"),)
    return Part("stack", part.rect, (part,), tag="a", name="link", attributes=(("href", "#"), *label))


def _assign_text(part: Part, roles: _Roles) -> Part:
    level, tag = roles.levels.get(id(part)), part.tag
    is_whole = id(part) in roles.links
    is_link = is_whole and not part.children
    was_link = tag == "a" or any(name == "href" for name, _ in part.attributes)
    is_link = is_link or (was_link and id(part) not in roles.plain)
    plain = tuple(pair for pair in part.attributes if pair[0] != "href")
    href = (("href", "#"),) if is_link else ()
    children = tuple(
        replace(run, tag="a") if (is_whole and not _is_sign(run)) or id(run) in roles.links else run
        for run in part.children
    )
    text = replace(part, children=children, attributes=(*href, *plain))
    if level is not None:
        name = "title" if level == 1 else "heading"
        made = replace(text, tag=f"h{level}", name=name)
    elif is_link:
        made = replace(text, tag="a", name=part.name if was_link and tag == "a" else "link")
    elif tag == "li":
        return text
    else:
        return replace(text, tag="p", name="text") if tag != "p" else text
    if tag != "li":
        return made
    return Part("stack", part.rect, (replace(made, attributes=href),), tag="li", name="item", attributes=plain)


def _is_sign(run: Part) -> bool:
    """Whether a run is a sign between others, such as the slash between links."""
    return run.text is not None and not any(letter.isalnum() for letter in run.text.text)


def _mark_navs(part: Part, inside: bool) -> Part:
    """Make navigation of rows and columns of links at the top, in the footer and in side columns."""
    if part.text is not None or part.picture is not None:
        return part
    if part.tag == "nav":
        is_empty = not has_tag(replace(part, tag=""), frozenset({"a"}))
        return replace(part, tag="div", name="row" if part.kind == "row" else "stack") if is_empty else part
    inside = inside or part.tag in _LANDMARKS
    children = tuple(_mark_navs(child, inside) for child in part.children)
    part = replace(part, children=children)
    if part.kind not in ("row", "stack") or part.tag in _CLOSED or part.tag in ("ul", "li", "table", "tr", "td", "th"):
        return part
    if not inside and part.rect.bottom > _LOWEST_NAV:
        return part
    runs = [(is_link, list(run)) for is_link, run in itertools.groupby(children, lambda child: child.tag == "a")]
    if not any(is_link and len(run) >= _FEWEST_IN_NAV for is_link, run in runs):
        return part
    if len(runs) == 1 and part.tag == "div" and part.box is None:
        return replace(part, tag="nav", name="nav")
    grouped: list[Part] = []
    for is_link, run in runs:
        if is_link and len(run) >= _FEWEST_IN_NAV:
            grouped.append(Part(part.kind, hull(link.rect for link in run), tuple(run), tag="nav", name="nav"))
        else:
            grouped += run
    return replace(part, children=tuple(grouped))
