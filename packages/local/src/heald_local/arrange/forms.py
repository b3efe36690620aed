"""Groups controls into forms and pictures with their captions, and describes pictures by the words near them."""

from dataclasses import replace

from heald_local.arrange.controls import FIELDS, collect_texts
from heald_local.arrange.part import Part
from heald_pictures.rect import Rect, hull

_LONGEST = 80  # letters of a description
_FAR = 20.0  # pixels between a picture and its caption
_SMALLEST = 40.0  # pixels; smaller pictures are decoration
_TICKS = frozenset({"checkbox", "radio", "range"})  # these alone make no form
_GROUPS = frozenset({"div", "section"})
_LANDMARKS = frozenset({"header", "main", "footer", "aside"})


def mark_forms(part: Part) -> Part:
    """Make the smallest group with fields and a button a form."""
    marked, _, _ = _mark_form(part)
    return marked


def _mark_form(part: Part) -> tuple[Part, int, int]:
    """Return the part, and the numbers of fields and buttons in it that are in no form yet."""
    if part.tag in FIELDS:
        return part, int(dict(part.attributes).get("type") not in _TICKS), 0
    if part.tag == "button":
        return part, 0, 1
    if part.kind == "table":
        return part, 0, 0
    made = [_mark_form(child) for child in part.children]
    part = replace(part, children=tuple(child for child, _, _ in made))
    fields, buttons = sum(count for _, count, _ in made), sum(count for _, _, count in made)
    if fields and buttons and part.tag in _GROUPS and part.kind in ("stack", "row") and not _has_landmark(part):
        return replace(_with_submit(_without_forms(part))[0], tag="form", name="form"), 0, 0
    if fields and buttons and part.tag in ("main", "article") and part.kind == "stack":
        return _wrap_form(part, [count + other > 0 for _, count, other in made]), 0, 0
    return part, fields, buttons


def _without_forms(part: Part) -> Part:
    """Make plain groups of the forms in a part: a browser ends a form where another one begins in it."""
    children = tuple(_without_forms(child) for child in part.children)
    if part.tag == "form":
        return replace(part, tag="div", name="", children=children)
    return replace(part, children=children)


def _has_landmark(part: Part) -> bool:
    """Whether a group is more than a form: it has a header, a footer or the main part in it."""
    return any(child.tag in _LANDMARKS or _has_landmark(child) for child in part.children)


def _wrap_form(part: Part, used: list[bool]) -> Part:
    """Put the children from the first to the last with a control into a form."""
    first, last = used.index(True), len(used) - 1 - used[::-1].index(True)
    inside = part.children[first : last + 1]
    around = hull(child.rect for child in inside)
    rect = Rect(part.rect.x, around.y, part.rect.w, around.h) if part.box is None else around
    bare = tuple(_without_forms(child) for child in inside)
    form = _with_submit(Part("stack", rect, bare, tag="form", name="form"))[0]
    return replace(part, children=(*part.children[:first], form, *part.children[last + 1 :]))


def _with_submit(part: Part) -> tuple[Part, bool]:
    """Let the first button send the form."""
    if part.tag == "button":
        sends = tuple(("type", "submit") if name == "type" else (name, value) for name, value in part.attributes)
        return replace(part, attributes=sends), True
    children: list[Part] = []
    done = False
    for child in part.children:
        converted, sent = (child, False) if done else _with_submit(child)
        children.append(converted)
        done = done or sent
    return replace(part, children=tuple(children)), done


def describe_pictures(part: Part, heading: str = "") -> Part:
    """Give photographs an alternative text from the heading or the words near them, and captions their figure."""
    near = _heading_in(part) or heading
    children = tuple(
        _described(child, part, number, near) if child.picture is not None else describe_pictures(child, near)
        for number, child in enumerate(part.children)
    )
    part = replace(part, children=children)
    if part.tag == "div" and part.kind == "stack" and len(children) == 2 and _is_captioned(*children):
        caption = replace(children[1], tag="figcaption", name="caption")
        return replace(part, tag="figure", name="figure", children=(children[0], caption))
    return part


def _is_captioned(picture: Part, text: Part) -> bool:
    if picture.picture is None or picture.picture.kind != "photo" or text.text is None or text.tag != "p":
        return False
    return len(text.text.lines) <= 2 and text.text.style.size <= 16 and text.rect.y - picture.rect.bottom <= _FAR


def _described(part: Part, parent: Part, number: int, heading: str) -> Part:
    picture = part.picture
    if picture is None or picture.kind != "photo" or ("alt", "") not in part.attributes:
        return part
    if min(part.rect.w, part.rect.h) < _SMALLEST:
        return part
    after = next((text.text for sibling in parent.children[number + 1 :] for text in collect_texts(sibling)), "")
    words = heading or after
    if not any(letter.isalpha() for letter in words):
        return part
    alt = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1].rsplit(' ', 1)[0]}…"
    return replace(part, attributes=tuple(("alt", alt) if pair == ("alt", "") else pair for pair in part.attributes))


def _heading_in(part: Part) -> str:
    """Return the heading among the children of a part; in a row, also that of a column."""
    for child in part.children:
        if child.tag in ("h1", "h2", "h3") and child.text is not None:
            return child.text.text
    columns = (_heading_in(child) for child in part.children if child.kind == "stack") if part.kind == "row" else ()
    return next(filter(None, columns), "")
