"""Finds the landmarks of a page: header, main part, side columns, footer, and a notice below the footer."""

import re
from collections.abc import Callable
from dataclasses import replace

from heald_local.arrange.controls import FIELDS, collect_texts
from heald_local.arrange.part import Part
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect, hull

HEADER_BOTTOM = 150
_NEAR_END = 120.0  # pixels between a footer and the end of the page
_TALLEST_FOOTER = 0.4  # of the page
_LARGEST_TEXT = 17.0  # pixels, in a footer that does not have a copyright sign
_FEW_CARDS = 3  # boxes with text, from which on a part is a list of cards and no footer
_LARGE_PHOTO = 100.0
_TALLEST_NOTICE = 220.0
_LONG = 30  # letters of the sentence of a notice
_WIDE_RULE = 0.6
_HIGHEST_STRIP = 60.0
_TITLE = 28.0  # pixels
_LONGEST_NAME = 80  # letters; a header has no longer text
_LEGAL = re.compile(r"©|\(c\)|\bcopyright\b|\ball rights reserved\b|\bpowered by\b", re.IGNORECASE)


Lists = Callable[[tuple[Part, ...]], tuple[Part, ...]]  # joins similar parts of a stack to lists


def mark_landmarks(body: Part, detection: Detection, find_lists: Lists) -> Part:
    """Mark header, main and footer; with a side column, aside and main."""
    children = list(body.children)
    head: list[Part] = []
    while children and children[0].rect.bottom <= HEADER_BOTTOM and children[0].rect.y < 90 and len(children) > 1:
        first = children.pop(0)
        head.append(first)
        if len(head) == 1 and _is_strip(first, detection) and len(collect_texts(children[0])) > 1:
            continue
        if first.kind == "rule" or (first.box is not None and first.rect.w > 0.9 * detection.width) or len(head) >= 2:
            break
        if not (children and children[0].kind == "rule" and children[0].rect.w > 0.8 * detection.width):
            break
    if _is_title(head, detection) or not _is_masthead(head):
        children, head = [*head, *children], []
    notice = _find_notice(children, detection)
    if notice is not None:
        children.pop()
    foot = _find_footer(children, detection, notice.rect.y if notice is not None else detection.height)
    children = children[: len(children) - len(foot)]
    parts: list[Part] = []
    if head:
        parts.append(_wrapped(head, "header", detection.width))
    parts.append(_main(children, detection, find_lists))
    if foot:
        parts.append(_wrapped(foot, "footer", detection.width))
    if notice is not None:
        parts.append(replace(notice, tag="aside", name="notice"))
    return replace(body, children=tuple(parts))


def _is_title(head: list[Part], detection: Detection) -> bool:
    """Whether the first row of a page is its title, with hardly anything beside it, and no header."""
    texts = [text for part in head for text in collect_texts(part)]
    largest = max((text.style.size for text in texts), default=0.0)
    return largest >= _TITLE and len(texts) <= 2 and largest >= max(text.style.size for text in detection.texts)


def _is_masthead(head: list[Part]) -> bool:
    """Whether the first parts of a page are a header: a menu, or a name or logo with something beside it, or a band."""
    texts = [text for part in head for text in collect_texts(part)]
    if any(has_tag(part, frozenset({"nav"})) for part in head):
        return True
    if any(len(text.text) > _LONGEST_NAME for text in texts):
        return False
    pictures = sum(_count_pictures(part) for part in head)
    is_band = any(part.box is not None and part.kind != "rule" for part in head)
    return len(texts) + pictures >= (1 if is_band else 2)


def _count_pictures(part: Part) -> int:
    return (part.picture is not None) + sum(_count_pictures(child) for child in part.children)


def _is_strip(part: Part, detection: Detection) -> bool:
    """Whether a part is a low strip with one line of text across the page, as shops have above their header."""
    wide = part.box is not None and part.rect.w > 0.9 * detection.width
    return wide and part.rect.h <= _HIGHEST_STRIP and len(collect_texts(part)) == 1


def _find_notice(children: list[Part], detection: Detection) -> Part | None:
    """Return a bar with a sentence and buttons at the end of the page, such as one about cookies."""
    if len(children) < 2:
        return None
    last = children[-1]
    if last.tag != "div" or last.box is None or last.rect.w < 0.9 * detection.width or last.rect.h > _TALLEST_NOTICE:
        return None
    texts = collect_texts(last)
    has_sentence = any(len(text.text) >= _LONG for text in texts) or sum(len(text.text) for text in texts) >= 2 * _LONG
    return last if has_sentence and has_tag(last, frozenset({"button"})) else None


def _find_footer(children: list[Part], detection: Detection, end: float) -> list[Part]:
    """Return the last parts of the page that are its footer: columns of small words, a dividing line, a legal line."""
    foot: list[Part] = []
    while len(children) - len(foot) > 1 and len(foot) < 4:
        part = children[-1 - len(foot)]
        if part.kind == "rule" and foot and part.rect.w >= _WIDE_RULE * detection.width:
            foot.insert(0, part)
            if not _continues_footer(children[-1 - len(foot)], detection):
                break
            continue
        if foot and not _continues_footer(part, detection):
            break
        above = children[-2 - len(foot)]
        ruled = above.kind == "rule" and above.rect.w >= _WIDE_RULE * detection.width
        if not _is_footer(part, detection, end if not foot else foot[0].rect.y, ruled):
            break
        foot.insert(0, part)
        if part.box is not None:
            break
    return foot


def _continues_footer(part: Part, detection: Detection) -> bool:
    """Whether a part above a legal line belongs to the footer: columns of short words side by side."""
    if part.box is not None and part.rect.w > 0.9 * detection.width:
        return True
    columns = [child for child in part.children if child.kind == "stack" and len(collect_texts(child)) > 2]
    return part.kind in ("row", "grid") and part.box is None and len(columns) > 1


def _is_footer(part: Part, detection: Detection, end: float, ruled: bool) -> bool:
    """Whether the last part of a page is its footer: small text at the end, or short words below a wide line."""
    texts = collect_texts(part)
    if not texts or part.rect.h > _TALLEST_FOOTER * detection.height:
        return False
    if part.rect.bottom < end - _NEAR_END and not (ruled and all(len(text.text) <= _LONG for text in texts)):
        return False
    if has_tag(part, FIELDS | {"table"}) and not any("©" in text.text for text in texts):
        return False
    if _count_cards(part) >= _FEW_CARDS or _has_photo(part) or not any(_is_worded(text.text) for text in texts):
        return False
    if any(_LEGAL.search(text.text) for text in texts):
        return True
    is_apart = part.box is not None or ruled or (len(texts) > 1 and all(len(text.text) <= _LONG for text in texts))
    return is_apart and max(text.style.size for text in texts) <= _LARGEST_TEXT


def _is_worded(text: str) -> bool:
    return sum(letter.isalpha() for letter in text) >= 0.5 * len(text)


def has_tag(part: Part, tags: frozenset[str]) -> bool:
    """Whether a part, or one in it, has one of the tags."""
    return part.tag in tags or any(has_tag(child, tags) for child in part.children)


def _count_cards(part: Part) -> int:
    """Return how many boxes in a part hold several texts."""
    if part.kind == "table":
        return 0
    cards = sum(child.box is not None and len(collect_texts(child)) > 1 for child in part.children)
    return cards + sum(_count_cards(child) for child in part.children)


def _has_photo(part: Part) -> bool:
    if part.picture is not None:
        return part.picture.kind == "photo" and min(part.rect.w, part.rect.h) >= _LARGE_PHOTO
    return any(_has_photo(child) for child in part.children)


def _wrapped(parts: list[Part], tag: str, width: float) -> Part:
    if len(parts) == 1 and parts[0].tag == "div" and parts[0].children:
        return replace(parts[0], tag=tag, name=tag)
    around = hull(part.rect for part in parts)
    return Part("stack", Rect(0, around.y, width, around.h), tuple(parts), tag=tag, name=tag)


def _main(children: list[Part], detection: Detection, find_lists: Lists) -> Part:
    if len(children) == 1 and _side_by_side(children[0], detection):
        return replace(children[0], children=_beside(children[0].children, detection), name="columns")
    if not children:
        return Part("stack", Rect(0, detection.height, detection.width, 0), tag="main", name="main")
    around = hull(part.rect for part in children)
    sections = tuple(_section(part) for part in find_lists(tuple(children)))
    return Part("stack", Rect(0, around.y, detection.width, around.h), sections, tag="main", name="main")


def _side_by_side(part: Part, detection: Detection) -> bool:
    """Whether the page has a narrow column as tall as itself beside a wide one."""
    if part.kind != "row" or part.box is not None or part.rect.h < 0.6 * detection.height:
        return False
    columns = [child for child in part.children if child.kind != "rule"]
    return len(columns) <= 3 and min(child.rect.w for child in columns) < 0.36 * detection.width


def _beside(children: tuple[Part, ...], detection: Detection) -> tuple[Part, ...]:
    largest = max(range(len(children)), key=lambda number: children[number].rect.area)
    widest = max(range(len(children)), key=lambda number: children[number].rect.w)
    chosen = widest if children[widest].rect.w > 0.4 * detection.width else largest
    return tuple(
        _column(child, "main" if number == chosen else "aside") if child.children else child
        for number, child in enumerate(children)
    )


def _column(part: Part, tag: str) -> Part:
    """Make a column of the page the main part or a side column; a list or a section is put into one."""
    name = "main" if tag == "main" else "side"
    if part.tag == "div":
        return replace(part, tag=tag, name=name)
    return Part("stack", part.rect, (part,), tag=tag, name=name) if part.tag in ("ul", "ol", "section", "nav") else part


def _section(part: Part) -> Part:
    if part.tag == "div" and part.kind in ("stack", "row") and part.children and part.rect.h > 120:
        return replace(part, tag="section", name="section")
    return part
