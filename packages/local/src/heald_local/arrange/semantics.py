"""Gives parts their HTML tags: landmarks, headings, lists, links and articles."""

import itertools
from collections import Counter
from dataclasses import replace

from heald_local.arrange.anchors import mark_anchors
from heald_local.arrange.code_blocks import mark_code
from heald_local.arrange.controls import FIELDS, label_targets, mark_controls, name_fields
from heald_local.arrange.field_features import find_field_chances
from heald_local.arrange.footers import gather_columns
from heald_local.arrange.forms import describe_pictures, mark_forms
from heald_local.arrange.landmarks import HEADER_BOTTOM, mark_landmarks
from heald_local.arrange.link_lists import list_links
from heald_local.arrange.links import (
    find_accents,
    is_word,
    mark_cards,
    mark_footer,
    mark_header,
    mark_links,
    mark_side_lists,
)
from heald_local.arrange.part import Part
from heald_local.arrange.phrases import merge_runs
from heald_local.arrange.roles import assign_roles
from heald_local.arrange.tables import mark_tables
from heald_local.see.paragraphs import same_style
from heald_pictures.elements import ICON_NAME, Detection
from heald_pictures.rect import Rect, hull

LONGEST_HEADING = 110
_FEWEST_WORDS = 3  # of a row that is a menu
_BODY_SHARE = 0.3  # of all letters that one size has; the smallest such size is that of plain text
_SENTENCE, _SENTENCE_ENDS = 40, '.!?"”'  # letters of a sentence at least, and its last sign
_LONGEST_MINOR = 60  # letters of a heading that is hardly larger than the text below it
_NEAR_BELOW = 3.0  # its distance from that text, in its own size
SECTION_GAP = 52
_FOOTER_TOP = 0.5  # of the page: rows of words below this may be the columns of a footer
_MASTHEAD_BOTTOM = 340.0  # pixels; a row of words between lines may be navigation above this
_LOWEST_MENU = 700.0  # pixels
_MENU = frozenset(
    {"about", "about us", "blog", "news", "contact", "contact us", "products", "services", "pricing", "shop", "login"}
    | {"log in", "sign in", "support", "help", "faq", "docs", "events", "gallery", "careers", "search", "archive"}
)
_FEWEST_RULED = 4
_WIDEST_STEP = 120.0  # pixels between two links of a row
_SIZES_APART = 2.5  # pixels by which the sizes of two links of one colour and weight may seem to differ
_LOOSE = 0.1  # letter spacing, in parts of the size, from which on the size is unreliable


def add_semantics(body: Part, detection: Detection) -> Part:
    """Give all parts tags, names and attributes."""
    size = _body_size(detection)
    marked = assign_roles(
        mark_by_rules(body, detection), detection, lambda page, headings: _find_levels(page, headings, size)
    )
    marked = _group_sections(list_links(marked))
    return mark_anchors(describe_pictures(mark_forms(marked)))


def mark_by_rules(body: Part, detection: Detection) -> Part:
    """Tag all parts by rules alone: controls, tables, lists, landmarks, and what seems to be a heading or a link."""
    body = gather_columns(_join_runs(body), _FOOTER_TOP * detection.height)
    marked = mark_controls(mark_tables(mark_code(body)), find_field_chances(detection))
    marked = name_fields(marked, label_targets(marked))
    marked = replace(marked, children=tuple(_tag_part(child) for child in marked.children))
    marked = _keep_navs(mark_landmarks(marked, detection, _lists), outer=False)
    marked = _headings(marked, _body_size(detection))
    marked = mark_cards(mark_links(marked, find_accents(detection)))
    return mark_side_lists(_mark_landmark_links(marked))


def _mark_landmark_links(part: Part) -> Part:
    """Turn the words of headers, footers and side columns into links."""
    if part.tag == "header":
        return mark_header(part)
    if part.tag == "footer":
        return mark_footer(part)
    if part.text is not None:
        return part
    return replace(part, children=tuple(_mark_landmark_links(child) for child in part.children))


def _join_runs(part: Part) -> Part:
    """Join runs of one sentence in all rows; a row of one sentence becomes the sentence."""
    if part.text is not None:
        runs = tuple(Part("text", run.rect, text=run) for run in part.text.runs)
        return replace(part, children=runs) if runs else part
    children = tuple(_join_runs(child) for child in part.children)
    if part.kind == "row":
        children = merge_runs(children)
        if len(children) == 1 and part.box is None:
            return children[0]
    return replace(part, children=children, kind="stack" if part.kind == "row" and len(children) == 1 else part.kind)


def _keep_navs(part: Part, outer: bool) -> Part:
    """Keep navigation at the top, in the footer and in a side column; elsewhere a row of words is not a navigation."""
    outer = outer or part.tag in ("header", "footer", "aside")
    if part.tag == "nav":
        return part if outer or part.rect.bottom <= HEADER_BOTTOM or _is_menu(part) else _without_links(part)
    if part.text is not None:
        return part
    ruled = {number for number, child in enumerate(part.children) if child.tag == "nav" and _is_ruled(part, number)}
    children = (_keep_navs(child, outer or number in ruled) for number, child in enumerate(part.children))
    return replace(part, children=tuple(children))


def _is_menu(row: Part) -> bool:
    """Whether a row of words below the top of the page has the words that menus have."""
    words = {child.text.text.casefold().strip() for child in row.children if child.text is not None}
    return row.rect.bottom <= _LOWEST_MENU and ("home" in words or len(words & _MENU) >= 2)


def _is_ruled(stack: Part, number: int) -> bool:
    """Whether a row of words near the top of the page stands below or above a dividing line, like that of a paper."""
    row, beside = stack.children[number], (number - 1, number + 1)
    if len(row.children) < _FEWEST_RULED or row.rect.bottom > _MASTHEAD_BOTTOM:
        return False
    return any(0 <= at < len(stack.children) and stack.children[at].kind == "rule" for at in beside)


def _without_links(nav: Part) -> Part:
    plain = (
        replace(child, tag="p", name="text", attributes=tuple(a for a in child.attributes if a[0] != "href"))
        for child in nav.children
    )
    return replace(nav, tag="div", name="row", children=tuple(plain))


def title_of(detection: Detection) -> str:
    top = [text for text in detection.texts if text.rect.y < 900 and not _number(text.text)]
    largest = max(top, key=lambda text: text.style.size, default=None)
    return largest.text[:80] if largest is not None else "Page"


def _body_size(detection: Detection) -> float:
    """Return the size of plain text: the smallest that many letters have, to a pixel."""
    sizes: Counter[float] = Counter()
    for text in detection.texts:
        sizes[float(round(text.style.size))] += len(text.text)
    often = [size for size, letters in sizes.items() if letters >= _BODY_SHARE * sizes.total()]
    return min(often, default=sizes.most_common(1)[0][0] if sizes else 16.0)


def _tag_part(part: Part) -> Part:
    """Tag a part from the leaves up: pictures, texts, lists, navigation, articles."""
    if part.picture is not None:
        alt = "Text that could not be read" if part.picture.kind == "unread" else ""
        source = part.picture.path
        if part.picture.shapes:
            label = part.picture.label
            description = (("role", "img"), ("aria-label", label)) if label else (("aria-hidden", "true"),)
            named = ((ICON_NAME, part.picture.icon),) if part.picture.icon else ()
            return replace(part, tag="svg", name=part.picture.kind, attributes=(*named, *description))
        return replace(part, tag="img", name=part.picture.kind, attributes=(("src", source), ("alt", alt)))
    if part.text is not None:
        return part if part.tag != "div" else replace(part, tag="p", name="text", attributes=())
    if part.tag in FIELDS:
        return part
    if part.tag == "button":
        return replace(part, children=tuple(_inline(_tag_part(child)) for child in part.children))
    if part.kind == "table":
        return replace(part, children=tuple(_cells(row) for row in part.children))
    children = tuple(_tag_part(child) for child in part.children)
    part = replace(part, children=children)
    if part.kind == "row":
        links = _links(children)
        whole = len(links) == 1 and links[0].tag == "nav" and part.tag == "div" and part.box is None
        return (
            replace(part, tag="nav", name="nav", children=links[0].children) if whole else replace(part, children=links)
        )
    if part.kind == "grid":
        return replace(part, name="cards", children=tuple(_article(child) for child in children))
    return _listed(part) if part.kind == "stack" else part


def _cells(row: Part) -> Part:
    cells = (replace(cell, children=tuple(_tag_part(child) for child in cell.children)) for cell in row.children)
    return replace(row, children=tuple(cells))


def _inline(part: Part) -> Part:
    """Replace the elements in a button by phrasing elements."""
    if part.text is not None:
        return replace(part, tag="span", name="caption")
    if part.children:
        return replace(part, tag="span", children=tuple(_inline(child) for child in part.children))
    return part if part.picture is not None else replace(part, tag="span")


def _article(part: Part) -> Part:
    is_card = part.tag == "div" and part.box is not None and bool(part.children)
    return replace(part, tag="article", name="card") if is_card else part


def _links(children: tuple[Part, ...]) -> tuple[Part, ...]:
    """Mark three or more short texts of one style in a row as navigation links."""
    result: list[Part] = []
    run: list[Part] = []
    for child in (*children, None):
        if child is not None and _is_linkish(child) and (not run or _is_next_link(run[-1], child)):
            run.append(child)
            continue
        result += _nav(run, "row") if len(run) >= 3 else run
        run = [child] if child is not None and _is_linkish(child) else []
        if child is not None and not run:
            result.append(child)
    return tuple(result)


def _is_linkish(part: Part) -> bool:
    text = part.text
    return (
        text is not None
        and not part.children
        and part.tag == "p"
        and len(text.lines) == 1
        and is_word(text.text)
        and not _number(text.text)
    )


def _number(text: str) -> bool:
    return sum(letter.isdigit() for letter in text) > 0.3 * len(text)


def _is_next_link(left: Part, right: Part) -> bool:
    if left.text is None or right.text is None or right.rect.x - left.rect.right > _WIDEST_STEP:
        return False
    apart = abs(left.text.style.size - right.text.style.size)
    same = (left.text.style.colour, left.text.style.weight) == (right.text.style.colour, right.text.style.weight)
    return apart < 0.6 or (apart <= _SIZES_APART and same)


def _nav(run: list[Part], kind: str) -> list[Part]:
    links = tuple(replace(part, tag="a", name="link", attributes=(("href", "#"), *part.attributes)) for part in run)
    around = hull(part.rect for part in run)
    return [Part("row" if kind == "row" else "stack", around, links, tag="nav", name="nav")]


def _listed(part: Part) -> Part:
    """Tag a stack that is a list, or holds one."""
    if part.tag != "div":
        return part
    children = _lists(part.children)
    if len(children) == 1 and children[0].tag in ("ul", "ol") and part.box is None and len(part.children) > 1:
        return replace(children[0], rect=part.rect)
    return replace(part, children=children)


def _lists(children: tuple[Part, ...]) -> tuple[Part, ...]:
    """Join three or more similar parts at even distances to one list."""
    result: list[Part] = []
    run: list[Part] = []
    for child in (*children, None):
        if child is not None and run and _same_item(run[0], child) and _even_step(run, child):
            run.append(child)
            continue
        result += _list(run)
        run = [child] if child is not None else []
    return tuple(result)


def _even_step(run: list[Part], child: Part) -> bool:
    if _marker(child):
        return not _item_number(child) or _item_number(child) == _item_number(run[-1]) + 1
    step = child.rect.y - run[-1].rect.bottom
    return len(run) < 2 or abs(step - (run[-1].rect.y - run[-2].rect.bottom)) <= 2


def _list(run: list[Part]) -> list[Part]:
    marked = bool(run) and _marker(run[0]) != ""
    if not marked and (len(run) < 3 or _are_paragraphs(run)):
        return run
    items = tuple(replace(part, tag="li", name=part.name if part.text is not None else "item") for part in run)
    name = "bullets" if marked else "list"
    around = hull(part.rect for part in run)
    number = _item_number(run[0])
    if number:
        start = (("start", f"{number}"),) if number > 1 else ()
        return [Part("stack", around, items, tag="ol", name="numbers", attributes=start)]
    return [Part("stack", around, items, tag="ul", name=name)]


def _are_paragraphs(run: list[Part]) -> bool:
    """Whether most of these texts are whole sentences rather than items of a list."""
    texts = [part.text.text for part in run if part.text is not None]
    sentences = [text for text in texts if len(text) >= _SENTENCE and text[-1] in _SENTENCE_ENDS]
    return len(sentences) > len(run) / 2


def _marker(part: Part) -> str:
    return part.text.marker if part.text is not None else ""


def _item_number(part: Part) -> int:
    """Return the number of an item; 0 if it has none."""
    return int(_marker(part)) if _marker(part).isdecimal() else 0


def _same_item(first: Part, second: Part) -> bool:
    if _marker(first) or _marker(second):
        return bool(_item_number(first) and _item_number(second)) or _marker(first) == _marker(second)
    if first.text is not None and second.text is not None:
        short = max(len(first.text.lines), len(second.text.lines)) <= 2
        return short and first.tag == second.tag == "p" and same_style(first.text.style, second.text.style)
    kinds = [child.kind for child in first.children], [child.kind for child in second.children]
    return (
        first.kind == second.kind == "row"
        and first.tag == second.tag == "div"
        and kinds[0] == kinds[1]
        and bool(kinds[0])
    )


def _group_sections(part: Part) -> Part:
    """Group the children of the main part into sections: a heading with what follows it up to a wide gap."""
    if part.tag != "main":
        inside = tuple(_group_sections(child) if child.children else child for child in part.children)
        return part if part.text is not None else replace(part, children=inside)
    if part.kind != "stack":
        return part
    groups: list[list[Part]] = []
    for child in part.children:
        banded = child.box is not None and child.kind != "rule" and child.rect.w > 0.94 * part.rect.w
        far = bool(groups) and child.rect.y - groups[-1][-1].rect.bottom >= SECTION_GAP
        if not groups or far or banded or groups[-1][-1].tag == "section":
            groups.append([])
        groups[-1].append(child)
    children: list[Part] = []
    for group in groups:
        if len(group) < 2 or not any(child.tag in ("h1", "h2") for child in group):
            children += group
            continue
        around = hull(child.rect for child in group)
        rect = Rect(part.rect.x, around.y, part.rect.w, around.h)
        children.append(Part("stack", rect, tuple(group), tag="section", name="section"))
    return replace(part, children=tuple(children)) if len(children) > 1 else part


def _headings(body: Part, size: float) -> Part:
    """Mark large or bold texts as headings."""
    minor, listed = _find_minor(body, size), _find_listed(body)
    chosen = {
        id(part) for part in _ordered(body) if id(part) in minor or (_headline(part, size) and id(part) not in listed)
    }
    return _tagged(body, _find_levels(body, frozenset(chosen), size))


def _find_levels(body: Part, headings: frozenset[int], size: float) -> dict[int, int]:
    """Return the level of each heading: there is one h1, equal headings have one level, and none is skipped."""
    chosen = [part for part in _all_texts(body) if id(part) in headings]
    if not chosen:
        return {}
    repeated = _find_repeated(body)
    single = [part for part in chosen if id(part) not in repeated] or chosen
    first = max(single, key=lambda part: part.text.style.size if part.text is not None else 0)
    levels: dict[int, int] = {}
    levels_of_styles: dict[tuple[int, int], int] = {}  # equal headings have one level
    last = 0
    for part in chosen:
        assert part.text is not None
        style = round(part.text.style.size), part.text.style.weight
        level = levels_of_styles.get(style, 2 if part.text.style.size >= 1.3 * size else 3)
        last = levels[id(part)] = 1 if part is first else min(level, max(last, 1) + 1)
        if part is not first:
            levels_of_styles.setdefault(style, last)
    return levels


def _all_texts(part: Part) -> list[Part]:
    return [part] if part.text is not None else [leaf for child in part.children for leaf in _all_texts(child)]


def _find_repeated(part: Part, inside: bool = False) -> set[int]:
    """Return the ids of texts in the cards of grids and the items of lists, none of which is the title of the page."""
    if part.text is not None:
        return {id(part)} if inside else set()
    inside = inside or part.kind == "grid" or part.tag in ("ul", "ol")
    return {number for child in part.children for number in _find_repeated(child, inside)}


def _find_listed(part: Part) -> set[int]:
    """Return the ids of texts in rows of words, which are a menu or an index and no headings."""
    words = [child for child in part.children if child.text is not None and is_word(child.text.text)]
    here = {id(word) for word in words} if part.kind == "row" and len(words) >= _FEWEST_WORDS else set[int]()
    return here | {number for child in part.children for number in _find_listed(child)}


def _find_minor(part: Part, size: float) -> set[int]:
    """Return the ids of short lines that head what is below them: bolder or larger than it."""
    if part.text is not None or part.tag in ("button", "nav", "header", "table", "a"):
        return set()
    minor = {number for child in part.children for number in _find_minor(child, size)}
    if part.kind == "stack" and part.tag not in ("ul", "ol"):
        pairs = itertools.pairwise(part.children)
        minor |= {id(upper) for upper, lower in pairs if _is_minor_headline(upper, lower, size)}
    return minor


def _is_minor_headline(part: Part, below: Part, size: float) -> bool:
    text = part.text
    if text is None or part.tag != "p" or part.children or len(text.lines) > 1 or len(text.text) > _LONGEST_MINOR:
        return False
    if text.text[-1] in ".,;!" or _number(text.text) or not any(letter.isalpha() for letter in text.text):
        return False
    if below.rect.y - part.rect.bottom > _NEAR_BELOW * text.style.size or abs(text.style.spacing) > _LOOSE * size:
        return False
    inner = [leaf.text for leaf in _ordered(below) if leaf.text is not None]
    if not inner:
        return False
    lower = inner[0].style
    bolder = text.style.weight >= 600 > lower.weight and text.style.size >= max(0.9 * size, 0.97 * lower.size)
    return bolder or text.style.size >= 1.12 * max(lower.size, 0.94 * size)


def _ordered(part: Part) -> list[Part]:
    if part.text is not None:
        return [part]
    if part.tag in ("button", "nav", "header", "table"):
        return []
    return [leaf for child in part.children for leaf in _ordered(child)]


def _headline(part: Part, size: float) -> bool:
    text = part.text
    if text is None or part.tag != "p" or len(text.lines) > 3 or len(text.text) > LONGEST_HEADING:
        return False
    if not any(letter.isalpha() for letter in text.text) or _number(text.text):
        return False
    style = text.style
    if abs(style.spacing) > _LOOSE * style.size:
        return False
    return style.size >= 1.3 * size or (style.weight >= 600 and style.size >= 1.08 * size)


def _tagged(part: Part, levels: dict[int, int]) -> Part:
    if part.text is not None:
        level = levels.get(id(part))
        return replace(part, tag=f"h{level}", name="title" if level == 1 else "heading") if level else part
    return replace(part, children=tuple(_tagged(child, levels) for child in part.children))
