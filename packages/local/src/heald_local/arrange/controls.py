"""Recognises buttons, fields, labels and tick boxes."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace

from heald_local.arrange.colours import is_blue, is_vivid
from heald_local.arrange.form_signs import CERTAIN, RULED_OUT
from heald_local.arrange.icon_buttons import mark_icon_buttons
from heald_local.arrange.native_controls import (
    LOWEST_NATIVE,
    has_grip,
    has_native_fill,
    is_native_button,
    is_native_frame,
    is_placeholder_grey,
    without_grip,
)
from heald_local.arrange.part import Part
from heald_local.arrange.prompts import is_prompt, trails_off
from heald_local.arrange.quantities import mark_quantity
from heald_pictures.colours import colour_distance, contrast, rgb_parts
from heald_pictures.elements import Border, Box, Control, TextElement
from heald_pictures.rect import Rect, hull

HEIGHTS = (22.0, 68.0)
TALLEST_AREA = 260.0
FIELDS = frozenset({"input", "select", "textarea"})
_LONGEST_LABEL = 40
WIDEST_BUTTON, WIDEST_FILLED = 460.0, 820.0
LOWEST_BUTTON, LOWEST_ROUND = 26.0, 31.0
_RINGS = frozenset("Oo0○◯〇")
_LONGEST_NAME = 80
_WIDE_FIELD, _NARROW_FIELD, _NARROW_NUMBER, _NARROW_NATIVE = 160.0, 90.0, 60.0, 40.0
_FEWEST_QUESTIONS = 3
_FEWEST_ITEMS, _FEWEST_TITLES = 3, 2
_TALLEST_EMPTY = 60.0  # pixels of a field of one line without words
_NEAR_MIDDLE = 8.0  # pixels by which the room at both sides of the words of a button may differ
_FEWEST_SEGMENTS, _LONGEST_SEGMENT = 2, 24
_TYPED_CONTRAST = 8.0  # of the words of a field and its ground, from which on they are not placeholder
_WIDEST_MARK = 0.2  # the part of a field that a mark at its end fills
_RULED = 0.8  # the part of the width of a select or a field that the line above it has
_WHITE, _NEAR_WHITE = "#ffffff", 6.0  # the fill of fields, and the distance of a colour from it
_PALE_CONTRAST, _PALE_ROOM = (1.8, 3.6), 0.3  # of the words of an empty field, and the part of it behind them
_CHOICE_ROOM, _UNEVEN = 8.0, 1.5  # pixels from the frame of a list box to its choices, and by which their pitch differs
_LEAST_BEHIND, _INSET = 24.0, 8.0  # pixels behind the placeholder of a field in a box of several, and between two
_PROMPT_ROOM = 24.0  # pixels between the edge of a field and its words
_LOWEST_PROMPT = 18.0  # pixels of a framed field whose words ask for something
_DATE = re.compile(r"(\d\d)/(\d\d)/(\d{4})")  # as browsers show it
_HEX = re.compile(r"#[0-9a-f]{6}")
_MAGNIFIERS = frozenset({"search", "magnifying-glass"})
_MOST_INITIALS = 3
_STOPS, _FEWEST_SPACES = (".", "?", "!", "…"), 3  # of a sentence
_TITLE_WORDS, _LARGEST_VALUE = 7, 24.0  # words, and pixels of type, from which on a text is not a value
_WIDEST_VALUE, _TINT = 860.0, 24  # pixels of a field with a value, and levels between the channels of a grey
_WIDEST_END = 0.4  # the part of a box with a field that the button at its end fills
LEAST_FIELD, LEAST_RULED = 0.3, 0.02  # chances from which on a box is a field, and from which on the rules decide
_BOLD = 600  # weight
_SIGNS = frozenset("+−-–⌄˅∨>›▾▸×")


FieldChances = Mapping[Rect, float]
"""The chances of boxes to be fields, by their places."""


def mark_controls(part: Part, chances: FieldChances | None = None) -> Part:
    """Mark the controls of a tree. Each control gets a name. Boxes without a chance are judged by rules alone."""
    count = [0]
    marked = _mark_controls(part, chances or {}, count)
    greys = [text for text in collect_texts(marked) if is_placeholder_grey(text.style.colour)]
    if not all(is_prompt(text.text) for text in greys):
        return marked
    return _mark_bare_fields(marked, frozenset(map(id, greys)), count, marked.rect.right) if greys else marked


def _mark_bare_fields(part: Part, prompts: frozenset[int], count: list[int], right: float) -> Part:
    """Make each prompt outside of boxes a field without a frame; it reaches to what is behind it or to the `right`."""
    if part.tag in (*FIELDS, "button", "label", "a", "table", "pre"):
        return part
    if part.text is not None and id(part.text) in prompts and len(part.text.lines) == 1 and part.tag == "div":
        width = min(max(right - part.rect.x, part.rect.w), _WIDE_FIELD)
        rect = replace(part.rect, w=width)
        return _field(Part("stack", rect, (part,), Box(rect, "transparent")), part.text, count, [])
    if part.kind not in ("row", "stack"):
        return part
    rights = [right] * len(part.children)
    if part.kind == "row":
        rights = [after.rect.x - _INSET for after in part.children[1:]] + [min(right, part.rect.right)]
    children = (_mark_bare_fields(child, prompts, count, end) for child, end in zip(part.children, rights, strict=True))
    return replace(part, children=tuple(children))


def _mark_controls(part: Part, chances: FieldChances, count: list[int]) -> Part:
    children = tuple(_mark_controls(child, chances, count) for child in part.children)
    if part.kind == "stack":
        children = _mark_underlined(children, count)
    part = replace(
        part, children=_link_labels(children, count) if part.kind == "stack" else _mark_ticks(part.kind, children)
    )
    if part.kind == "stack":
        part = replace(part, children=_unmark_items(part.children, chances))
    part = mark_icon_buttons(_mark_segments(_mark_search(_mark_question(part), count)))
    part = mark_quantity(part, count)
    if part.kind == "row" and part.box is None and part.children != children:
        part = replace(part, rect=hull(child.rect for child in part.children))
    part = replace(part, children=_name_states(part.children))
    if part.box is None or part.tag != "div":
        return part
    if len(part.children) == 1 and _covers(part.children[0], part):
        return part.children[0]
    if part.box.control is not None:
        return _state(part, part.box.control)
    chance = chances.get(part.box.rect)
    control = _control(part, part.box, count)
    if control.tag == "input" and _is_outlined(part, part.box):
        return _unmark_field(part, part.box)
    if chance is None:
        return control
    if control.tag in FIELDS:
        is_field = chance >= LEAST_RULED or (chance > RULED_OUT and _asks(part, part.box))
        return control if is_field else _unmark_field(part, part.box)
    if chance < LEAST_FIELD or _is_outlined(part, part.box):
        return control
    return _field_in(part, part.box, count, is_certain=chance == CERTAIN) or control


def _covers(control: Part, part: Part) -> bool:
    """Whether a control fills the box that it lies in, of which only the frame was seen."""
    pairs = zip(astuple(control.rect), astuple(part.rect), strict=True)
    return control.tag in (*FIELDS, "button") and all(abs(side - other) <= 1 for side, other in pairs)


def _state(part: Part, control: Control) -> Part:
    """Make an input that shows its state."""
    if control.kind == "slider":
        value = f"{control.value * 100:.0f}"
        return replace(part, tag="input", name="range", attributes=(("type", "range"), ("value", value)))
    checked = (("checked", "checked"),) if control.on else ()
    if control.kind == "switch":
        return replace(
            part, tag="input", name="switch", attributes=(("type", "checkbox"), ("role", "switch"), *checked)
        )
    return replace(part, tag="input", name=control.kind, attributes=(("type", control.kind), *checked))


def _name_states(children: tuple[Part, ...]) -> tuple[Part, ...]:
    """Name each input with a state after the text that follows it closely, or else the one before it."""
    result = list(children)
    for number, child in enumerate(children):
        if child.box is None or child.box.control is None or child.tag != "input":
            continue
        after = collect_texts(children[number + 1]) if number + 1 < len(children) else []
        before = collect_texts(children[number - 1]) if number else []
        close = [text for text in after[:1] if text.rect.x - child.rect.right <= 24 and text.rect.y < child.rect.bottom]
        named = next(iter([*close, *before, *after]), None)
        if named is not None:
            result[number] = replace(child, attributes=(*child.attributes, ("aria-label", named.text[:_LONGEST_NAME])))
    return tuple(result)


def collect_texts(part: Part) -> list[TextElement]:
    texts = [part.text] if part.text is not None else []
    for child in part.children:
        texts += collect_texts(child)
    return texts


def _control(part: Part, box: Box, count: list[int]) -> Part:
    ruled = _with_seen_frame(part, box)
    if ruled is not None:
        part, box = ruled
    texts = collect_texts(part)
    if has_grip(part):
        return _area(part, count)
    low, high = HEIGHTS
    native = is_native_frame(box)
    if native or has_native_fill(box):
        low = LOWEST_NATIVE
    elif box.border is not None and any(is_prompt(text.text) for text in texts):
        low = _LOWEST_PROMPT
    if _asks_for_lines(part, box):
        return _area(part, count)
    if _is_list_box(part, box):
        return _list_box(part, count)
    if part.kind == "row" and len(part.children) > 1 and low <= part.rect.h <= high:
        shared = _fields_within(part, box, count)
        if shared is not None:
            return shared
    if not low <= part.rect.h <= high or len(texts) > 1 or any(len(text.lines) > 1 for text in texts):
        return part
    pictures = [child for child in part.children if child.kind == "picture" or _is_mark_box(child, part)]
    if len(part.children) - len(texts) - len(pictures) > 0 or len(pictures) > 2:
        return part
    if not texts:
        return _empty_field(part, box, count) if not part.children else part
    text = texts[0]
    if _is_avatar(part, text):
        return replace(part, name="avatar")
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    framed = box.border is not None
    tinted = is_blue(text.style.colour)
    if native and is_native_button(box) and not pictures:
        return replace(part, tag="button", name="button", attributes=(("type", "button"),))
    if (
        (framed or has_native_fill(box))
        and not (tinted or _is_bar_title(part, text))
        and any(_is_chevron(picture.rect, part, text) for picture in pictures)
    ):
        return _field(part, text, count, pictures)
    if framed and (
        _is_grey_prompt(part, text)
        or (native and (left <= right or left <= _CHOICE_ROOM))
        or _is_framed_prompt(part, box, text)
    ):
        return _field(part, text, count, pictures)
    if not (framed or pictures) and _is_pale_prompt(part, box, text):
        return _field(part, text, count, pictures)
    narrowest = _NARROW_NUMBER if text.text.isdigit() else _NARROW_FIELD
    is_wide = part.rect.w > _WIDEST_VALUE  # as a block of code or the head of a panel is
    asks = is_prompt(text.text) and not (is_wide and _shown(part, text)[0] == "value")
    if (is_wide or _is_sentence(text) or _is_title(text)) and not asks:
        return part
    is_plain = text.style.weight < _BOLD or asks  # words in a field are not bold, those of a button may be
    at_left = left <= 48 and right > left + 24 and right > 0.18 * part.rect.w
    if framed and is_plain and at_left and part.rect.w >= narrowest:
        return _field(part, text, count, pictures)
    if framed and is_plain and not (tinted or pictures) and _begins_field(part, text):
        return _field(part, text, count, pictures)
    if _is_search(part, text, pictures) or _is_prompt(part, text):
        return _field(part, text, count, pictures)
    return _button(part, box, text, pictures)


def _button(part: Part, box: Box, text: TextElement, pictures: list[Part]) -> Part:
    """Make a button of a box with its words in the middle, or a badge if it is small."""
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    centred = abs(left - right) <= max(4.0, 0.06 * part.rect.w) or bool(pictures)
    widest = WIDEST_FILLED if box.fill.startswith("#") and is_vivid(box.fill) else WIDEST_BUTTON
    if centred and left >= 8 and part.rect.w <= widest and text.style.size >= 11 and _is_command(part, text):
        return replace(part, tag="button", name="button", attributes=(("type", "button"),))
    return replace(part, name="badge") if part.rect.h < 30 and part.rect.w < 200 else part


def _asks(part: Part, box: Box) -> bool:
    """Whether a field is certain: a magnifier, a grip, words that ask for something, or the frame of browsers."""
    if is_native_frame(box) or has_grip(part) or any(is_prompt(text.text) for text in collect_texts(part)):
        return True
    return any(child.picture is not None and child.picture.icon in _MAGNIFIERS for child in part.children)


def _is_outlined(part: Part, box: Box) -> bool:
    """Whether a box is a button in outline: words in the middle of a vivid frame, which ask for nothing."""
    texts = collect_texts(part)
    if len(texts) != 1 or box.border is None or not is_vivid(box.border.colour) or _asks(part, box):
        return False
    left, right = texts[0].rect.x - part.rect.x, part.rect.right - texts[0].rect.right
    return abs(left - right) <= _NEAR_MIDDLE and not texts[0].text.isdigit()


def _unmark_field(part: Part, box: Box) -> Part:
    """Return what a box is that looks like a field by rules but is none."""
    texts, pictures = collect_texts(part), [child for child in part.children if child.kind == "picture"]
    if len(texts) != 1 or not HEIGHTS[0] <= part.rect.h <= HEIGHTS[1]:
        return part
    return _button(part, box, texts[0], pictures)


def _field_in(part: Part, box: Box, count: list[int], *, is_certain: bool) -> Part | None:
    """Make a box that is a field by its looks an input, a select or a text area; None if it holds too much."""
    inner = [child for child in _unwrap(part) if child.kind != "rule"]
    words = [child for child in inner if child.text is not None]
    pictures = [child for child in inner if child.picture is not None]
    others = [child for child in inner if child.text is None and child.picture is None]
    if len(words) > 1 or len(others) > 1 or len(pictures) > 2:
        return None
    plain = replace(part, kind="row" if inner else part.kind, children=tuple(inner))
    text = words[0].text if words else None
    if part.rect.h > HEIGHTS[1]:
        return None if others else _area(replace(part, children=(*words, *pictures)), count)
    if text is not None and (len(text.lines) > 1 or not (is_certain or _may_be_typed(part, text))):
        return None
    end = others[0] if others else pictures[-1] if pictures and text is None else None
    if end is not None:
        return _field_before(plain, box, words, end, count) if len(inner) == len(words) + 1 else None
    if text is None:
        return _plain_field(part, count) if part.rect.h <= _TALLEST_EMPTY else None
    return _field(plain, text, count, pictures)


def _may_be_typed(part: Part, text: TextElement) -> bool:
    """Whether words may be the value or the placeholder of a field, and not the title of what is below."""
    is_wide = part.rect.w > _WIDEST_VALUE
    is_placeholder = _shown(part, text)[0] == "placeholder"
    if is_prompt(text.text) or (is_placeholder and _is_grey(text)):
        return is_placeholder or not is_wide
    is_framed = part.box is not None and part.box.border is not None
    return is_framed and not (is_wide or _is_sentence(text) or _is_title(text)) and text.style.weight < _BOLD


def _is_grey(text: TextElement) -> bool:
    channels = rgb_parts(text.style.colour)
    return max(channels) - min(channels) <= _TINT


def _unwrap(part: Part) -> tuple[Part, ...]:
    """Return the children of a part, or those of the only row in it that has no box."""
    inner = [child for child in part.children if child.kind != "rule"]
    if len(inner) == 1 and inner[0].box is None and inner[0].kind in ("row", "stack") and inner[0].tag == "div":
        return inner[0].children
    return tuple(inner)


def _field_before(row: Part, box: Box, words: list[Part], end: Part, count: list[int]) -> Part | None:
    """Make the room before the mark or button at the right end of a box a field; None if it is elsewhere."""
    if end.tag in FIELDS or row.rect.right - end.rect.right > row.rect.h or end.rect.w > _WIDEST_END * row.rect.w:
        return None
    if any(word.rect.right > end.rect.x for word in words):
        return None
    edges = box.border.widths if box.border is not None else (0.0, 0.0, 0.0, 0.0)
    top, left = row.rect.y + edges[0], row.rect.x + edges[3]
    rect = Rect(left, top, end.rect.x - left, row.rect.bottom - edges[2] - top)
    inside = Part("stack", rect, tuple(words), Box(rect, box.fill))
    text = words[0].text if words else None
    field = _field(inside, text, count, []) if text is not None else _plain_field(inside, count)
    return replace(row, children=(field, end))


def _plain_field(part: Part, count: list[int]) -> Part:
    count[0] += 1
    attributes = (("id", f"field-{count[0]}"), ("type", "text"))
    return replace(part, tag="input", name="field", attributes=attributes, children=())


def _with_seen_frame(part: Part, box: Box) -> tuple[Part, Box] | None:
    """Return a select or an empty field whose rounded frame was seen as lines, with that frame; None for others."""
    rules = [child for child in part.children if child.kind == "rule" and child.rect.w >= _RULED * part.rect.w]
    others = [child for child in part.children if child not in rules]
    if not rules or len(others) != 1 or others[0].box is not None:
        return None
    rect = hull([part.rect, *(rule.rect for rule in rules)])
    colours = [rule.box.fill for rule in rules if rule.box is not None]
    if rect.h > HEIGHTS[1] or box.border is not None or not colours:
        return None
    framed = replace(box, rect=rect, border=Border((1.0, 1.0, 1.0, 1.0), colours[0]))
    words = others[0].text
    if words is not None and len(words.lines) == 1 and _is_pale_prompt(part, box, words):
        return replace(part, kind="stack", rect=rect, box=framed, children=(others[0],)), framed
    if others[0].kind != "row" or not has_native_fill(box):
        return None
    return replace(part, kind="row", rect=rect, box=framed, children=others[0].children), framed


def _is_mark_box(child: Part, part: Part) -> bool:
    """Whether a child is a small empty box at the right end of a field, such as a picture that was not loaded."""
    is_empty = child.box is not None and not child.children and child.text is None and child.box.control is None
    return is_empty and child.rect.w <= _WIDEST_MARK * part.rect.w and child.rect.x > part.rect.middle[0]


def _is_grey_prompt(part: Part, text: TextElement) -> bool:
    """Whether words in the grey of placeholders begin at the left edge of a box."""
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    return is_placeholder_grey(text.style.colour) and left <= _PROMPT_ROOM and right > left


def _is_framed_prompt(part: Part, box: Box, text: TextElement) -> bool:
    """Whether words that ask for something begin at the left edge of a frame, or are grey in the middle of it."""
    if not is_prompt(text.text) or text.style.weight >= _BOLD or not _HEX.fullmatch(box.fill):
        return False
    if part.rect.w > _WIDEST_VALUE:
        return False
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    is_pale = _is_grey(text) and contrast(text.style.colour, box.fill) <= _PALE_CONTRAST[1]
    is_white = colour_distance(box.fill, _WHITE) <= _NEAR_WHITE
    return (left <= _PROMPT_ROOM and right > 2 * left) or (is_white and is_pale and part.rect.w >= _WIDE_FIELD)


def _is_pale_prompt(part: Part, box: Box, text: TextElement) -> bool:
    """Whether a long white box, whose frame was not seen, has only a few pale grey words, at its left."""
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    if not _WIDE_FIELD <= part.rect.w <= _WIDEST_VALUE or left > _PROMPT_ROOM or right < _PALE_ROOM * part.rect.w:
        return False
    if not box.fill.startswith("#") or colour_distance(box.fill, _WHITE) > _NEAR_WHITE or _is_title(text):
        return False
    least, most = _PALE_CONTRAST
    return _is_grey(text) and least <= contrast(text.style.colour, box.fill) <= most


def _begins_field(part: Part, text: TextElement) -> bool:
    """Whether words that nearly fill a wide box begin at its left edge, as a long placeholder does."""
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    return part.rect.w >= _WIDE_FIELD and left <= 20 and right > left + 12


def _is_search(part: Part, text: TextElement, pictures: list[Part]) -> bool:
    """Whether a magnifier and words stand at the left of a wide box, which has no frame."""
    if len(pictures) != 1 or pictures[0].picture is None or pictures[0].picture.icon not in _MAGNIFIERS:
        return False
    left, right = pictures[0].rect.x - part.rect.x, part.rect.right - text.rect.right
    return part.rect.w >= _WIDE_FIELD and pictures[0].rect.right <= text.rect.x and right > left + 24


def _is_prompt(part: Part, text: TextElement) -> bool:
    """Whether a box without a frame has words at its left that ask for something to be typed."""
    left, right = text.rect.x - part.rect.x, part.rect.right - text.rect.right
    before = [child for child in part.children if child.picture is not None and child.rect.right <= text.rect.x]
    if len(before) == 1:
        left = before[0].rect.x - part.rect.x
    at_left = left <= max(_PROMPT_ROOM, part.rect.h) and right > left + 24
    return at_left and part.rect.w >= _NARROW_FIELD and is_prompt(text.text)


def _mark_search(part: Part, count: list[int]) -> Part:
    """Make the words beside the button in one box a field: a box with a field and its button."""
    if part.kind != "row" or part.box is None or part.rect.h > HEIGHTS[1] or len(part.children) != 2:
        return part
    words, button = part.children
    if words.text is None or len(words.text.lines) > 1 or words.tag != "div" or button.tag != "button":
        return part
    if button.rect.x - words.rect.right < 24 or part.rect.right - button.rect.right > 12:
        return part
    count[0] += 1
    rect = Rect(part.rect.x, button.rect.y, button.rect.x - part.rect.x, button.rect.h)
    attributes = (("id", f"field-{count[0]}"), ("type", "text"), ("placeholder", words.text.text))
    field = Part("stack", rect, (words,), Box(rect, part.box.fill), tag="input", name="field", attributes=attributes)
    return replace(part, children=(field, button))


def _mark_segments(part: Part) -> Part:
    """Make the words beside the chosen one in a box buttons: one is chosen from several, as `Day | Week | Month`."""
    if part.kind != "row" or part.box is None or part.rect.h > HEIGHTS[1] or len(part.children) < _FEWEST_SEGMENTS:
        return part
    words = [child for child in part.children if child.text is not None and child.tag == "div"]
    chosen = [child for child in part.children if child.tag == "button"]
    if len(chosen) != 1 or len(words) + 1 != len(part.children):
        return part
    if any(len(text.text) > _LONGEST_SEGMENT or len(text.lines) > 1 for word in words for text in collect_texts(word)):
        return part
    button = (("type", "button"),)
    children = (
        child
        if child is chosen[0]
        else Part("stack", child.rect, (child,), tag="button", name="tab", attributes=button)
        for child in part.children
    )
    return replace(part, children=tuple(children))


def _unmark_items(children: tuple[Part, ...], chances: FieldChances) -> tuple[Part, ...]:
    """Make fields with words ordinary boxes again if boxes of the same shape beside them are none: items of a list.

    Three or more without a label, a prompt or a button between them are items too.
    """
    titles = {id(child) for child in children if _is_title_bar(child, children)}
    children = tuple(
        replace(child, tag="div", name="", attributes=()) if id(child) in titles else child for child in children
    )
    words = [child for child in children if _is_worded_field(child) and not _is_sure(child, chances)]
    if not words:
        return children
    items: list[Part] = []
    for field in words:
        alike = [child for child in children if child is not field and _has_same_shape(child, field)]
        others = [child for child in alike if child not in words]
        if any(child.tag == "div" for child in others) or len(alike) - len(others) + 1 >= _FEWEST_ITEMS:
            items.append(field)
    if len(items) == len(words) and any(child.tag in ("label", "button") for child in children):
        return children
    return tuple(replace(child, tag="div", name="", attributes=()) if child in items else child for child in children)


def _is_title_bar(part: Part, children: tuple[Part, ...]) -> bool:
    """Whether a box whose words ask for something is one of several of one shape, whose words do not: titles."""
    if part.tag != "input" or part.name != "field" or not collect_texts(part):
        return False
    alike = [child for child in children if child.tag not in FIELDS and _has_same_shape(child, part)]
    return len(alike) >= _FEWEST_TITLES


def _is_sure(part: Part, chances: FieldChances) -> bool:
    return part.box is not None and chances.get(part.box.rect, 0.0) >= LEAST_FIELD


def _is_worded_field(part: Part) -> bool:
    """Whether a part is a field with words in it that ask for nothing."""
    if part.tag != "input" or part.name != "field" or part.box is None or is_native_frame(part.box):
        return False
    texts = collect_texts(part)
    return bool(texts) and not any(is_prompt(text.text) or is_placeholder_grey(text.style.colour) for text in texts)


def _has_same_shape(part: Part, field: Part) -> bool:
    if part.box is None or field.box is None or not collect_texts(part):
        return False
    same_place = abs(part.rect.x - field.rect.x) <= 1 and abs(part.rect.w - field.rect.w) <= 1
    return same_place and (part.box.fill, part.box.border) == (field.box.fill, field.box.border)


def _mark_question(part: Part) -> Part:
    """Make each bold line with a small mark at the far right a button, if there are several: they unfold answers."""
    rows = [child for child in part.children if _is_question(child)]
    if part.kind != "stack" or len(rows) < _FEWEST_QUESTIONS:
        return part
    attributes = (("type", "button"), ("aria-expanded", "false"))
    children = (
        replace(child, tag="button", name="question", attributes=attributes) if child in rows else child
        for child in part.children
    )
    return replace(part, children=tuple(children))


def _is_question(part: Part) -> bool:
    if part.kind != "row" or part.box is not None or part.tag != "div" or len(part.children) != 2:
        return False
    words, mark = part.children
    if words.text is None or len(words.text.lines) > 1 or words.text.style.weight < _BOLD or mark.tag != "div":
        return False
    small = mark.picture is not None and mark.picture.kind == "icon" and max(mark.rect.w, mark.rect.h) <= 24
    sign = mark.text is not None and mark.text.text in _SIGNS
    return (small or sign) and mark.rect.x - words.rect.right > 2 * _LONGEST_LABEL


def _is_avatar(part: Part, text: TextElement) -> bool:
    """Whether a box is a disc with the initials of a person."""
    wide, tall = part.rect.w, part.rect.h
    is_disc = part.box is not None and abs(wide - tall) <= 2 and part.box.radius >= 0.4 * tall
    return is_disc and len(text.text) <= _MOST_INITIALS and text.text.isalpha() and text.text.isupper()


def _is_command(part: Part, text: TextElement) -> bool:
    """Whether a box looks like something to press: no chip, and no message with a sentence in it."""
    return not _is_sentence(text) and not _is_chip(part, text)


def _is_title(text: TextElement) -> bool:
    """Whether a text has more words than what is typed into a field, or is larger."""
    return len(text.text.split()) >= _TITLE_WORDS or text.style.size > _LARGEST_VALUE


def _is_sentence(text: TextElement) -> bool:
    return text.text.endswith(_STOPS) and text.text.count(" ") >= _FEWEST_SPACES


def _is_chip(part: Part, text: TextElement) -> bool:
    """Whether a box is too low for a button, and more so if its ends are round and its words not bold."""
    box = part.box
    is_round = box is not None and box.radius >= 0.4 * part.rect.h and text.style.weight < _BOLD
    return part.rect.h < (LOWEST_ROUND if is_round else LOWEST_BUTTON)


def _is_bar_title(part: Part, text: TextElement) -> bool:
    """Whether bold words in a box across a page are the title of what it unfolds."""
    return part.rect.w > _WIDEST_VALUE and text.style.weight >= _BOLD


def _is_chevron(rect: Rect, part: Part, text: TextElement) -> bool:
    """Whether a picture behind the text is the small arrow of a select: flat, and near the right edge."""
    flat = rect.h <= 12 and rect.w >= 1.2 * rect.h
    return flat and rect.x >= text.rect.right + 4 and part.rect.right - rect.right <= 24


def _empty_field(part: Part, box: Box, count: list[int]) -> Part:
    """Mark a framed box without content as a field, if it is as wide as one."""
    narrowest = _NARROW_NATIVE if is_native_frame(box) else _NARROW_FIELD
    if box.border is None or _is_tinted(box.fill):
        return part
    sides = sum(width > 0 for width in box.border.widths)
    is_covered = sides == 3 and (is_native_frame(box) or part.rect.w >= _WIDE_FIELD)  # by what lies on a side
    if sides < 4 and not is_covered:
        return part
    if part.rect.w < max(narrowest, 2 * part.rect.h) or part.rect.h > _TALLEST_EMPTY:
        return part
    return _plain_field(part, count)


def _is_tinted(fill: str) -> bool:
    """Whether a colour is not a grey, as that of an empty cell of a table may be."""
    parts = rgb_parts(fill) if _HEX.fullmatch(fill) else (0, 0, 0)
    return max(parts) - min(parts) > _TINT


def _field(part: Part, text: TextElement, count: list[int], pictures: list[Part]) -> Part:
    """Make a text field with its value or placeholder; a date, or a select if another picture follows its text."""
    count[0] += 1
    identity = ("id", f"field-{count[0]}")
    date = _DATE.fullmatch(text.text.strip())
    is_followed = any(picture.rect.x > text.rect.right for picture in pictures)
    if date is not None and is_followed:
        month, day, year = date.groups()
        attributes = (identity, ("type", "date"), ("value", f"{year}-{month}-{day}"))
        return replace(part, tag="input", name="field", attributes=attributes, children=_texts_alone(part))
    asks = is_prompt(text.text) and not any(
        picture.picture is not None and _is_chevron(picture.rect, part, text) for picture in pictures
    )
    if is_followed and not asks:
        return replace(part, tag="select", name="select", attributes=(identity,))
    kind = "search" if pictures else "email" if "@" in text.text and " " not in text.text else "text"
    if text.text and not pictures and set(text.text) <= set("•●*·"):
        kind = "password"
    content = ("placeholder", text.text) if kind == "search" else _shown(part, text)
    return replace(part, tag="input", name="field", attributes=(identity, ("type", kind), content))


def _texts_alone(part: Part) -> tuple[Part, ...]:
    """Return the texts of a field without its pictures, which the browser draws."""
    return tuple(child for child in part.children if child.picture is None)


def _shown(part: Part, text: TextElement) -> tuple[str, str]:
    """Return the text of a field as its value if it is as clear as what was typed, else as its placeholder."""
    fill = part.box.fill if part.box is not None else ""
    typed = _HEX.fullmatch(fill) is not None and contrast(text.style.colour, fill) >= _TYPED_CONTRAST
    return ("value" if typed else "placeholder", text.text)


def _is_area(part: Part, above: Part) -> bool:
    """Whether a part is a framed box of several lines, empty or with one text at its top, below a short text."""
    if part.box is None or part.box.border is None or part.tag != "div" or above.text is None:
        return False
    if not HEIGHTS[1] < part.rect.h <= TALLEST_AREA or part.rect.w < 1.5 * part.rect.h:
        return False
    if len(above.text.text) > _LONGEST_LABEL or not 0 <= part.rect.y - above.rect.bottom <= 12:
        return False
    children = without_grip(part)
    if len(children) > 1 or abs(above.rect.x - part.rect.x) > 6:
        return False
    inside = children[0] if children else None
    return inside is None or (inside.text is not None and inside.rect.y - part.rect.y <= 24)


def _asks_for_lines(part: Part, box: Box) -> bool:
    """Whether a framed box of several lines has nothing but a prompt in its upper left corner."""
    children = without_grip(part)
    if box.border is None or len(children) != 1 or not HEIGHTS[1] < part.rect.h <= TALLEST_AREA:
        return False
    text = children[0].text
    if text is None or len(text.lines) > 1 or part.rect.w < 1.5 * part.rect.h:
        return False
    is_corner = text.rect.x - part.rect.x <= _PROMPT_ROOM and text.rect.y - part.rect.y <= _PROMPT_ROOM
    return is_corner and is_prompt(text.text)


def _area(part: Part, count: list[int]) -> Part:
    """Make a text area with its placeholder."""
    count[0] += 1
    placeholders = tuple(("placeholder", text.text) for text in collect_texts(part))
    attributes = (("id", f"field-{count[0]}"), *placeholders)
    return replace(part, tag="textarea", name="area", attributes=attributes, children=without_grip(part))


def _is_list_box(part: Part, box: Box) -> bool:
    """Whether the frame that browsers draw has only lines in it that begin at its left edge: choices, one on each."""
    texts = [child.text for child in part.children if child.text is not None]
    lines = [line for text in texts for line in text.lines]
    if not is_native_frame(box) or has_native_fill(box) or len(texts) < len(part.children) or len(lines) < 2:
        return False
    tops = [line.rect.y for line in lines]
    is_even = max(map(abs, _differences(_differences(tops))), default=0.0) <= _UNEVEN
    return is_even and all(0 <= line.ink.x - part.rect.x <= _CHOICE_ROOM for line in lines)


def _differences(values: Sequence[float]) -> list[float]:
    return [after - before for before, after in itertools.pairwise(values)]


def _list_box(part: Part, count: list[int]) -> Part:
    """Make a select that shows several of its choices."""
    count[0] += 1
    lines = sum(len(text.lines) for text in collect_texts(part))
    attributes = (("id", f"field-{count[0]}"), ("multiple", "multiple"), ("size", f"{lines}"))
    return replace(part, tag="select", name="select", attributes=attributes)


def _fields_within(row: Part, box: Box, count: list[int]) -> Part | None:
    """Make the placeholders in a white box fields: it holds several, or one before a mark or a button."""
    if not box.fill.startswith("#") or colour_distance(box.fill, _WHITE) > _NEAR_WHITE:
        return None
    placeholders = [child for child in row.children if child.text is not None and _is_placeholder(child.text, box)]
    words = [child for child in row.children if child.text is not None and child not in placeholders]
    first = row.children[0]
    if first not in placeholders or first.rect.x - row.rect.x > _PROMPT_ROOM:
        return None
    if len(placeholders) < 2 and not (words and is_placeholder_grey(_colour(first))):
        return None  # one with a mark or a button is a field as other boxes are
    lefts = [child.rect.x for child in row.children[1:]] + [row.rect.right]
    fields: list[Part] = []
    for child, end in zip(row.children, lefts, strict=True):
        if child not in placeholders or child.text is None:
            fields.append(child)
            continue
        if end - child.rect.right < _LEAST_BEHIND:
            return None
        left = row.rect.x if child is first else child.rect.x - _INSET
        rect = Rect(left, row.rect.y + 1, end - left - (_INSET if end < row.rect.right else 1), row.rect.h - 2)
        fields.append(_field(Part("stack", rect, (child,), Box(rect, box.fill)), child.text, count, []))
    return replace(row, children=tuple(fields))


def _colour(part: Part) -> str:
    return part.text.style.colour if part.text is not None else ""


def _is_placeholder(text: TextElement, box: Box) -> bool:
    """Whether words are as grey as those of an empty field, and ask for something or give examples."""
    if len(text.lines) > 1 or text.style.weight >= _BOLD or not _is_grey(text):
        return False
    least, most = _PALE_CONTRAST
    is_pale = is_placeholder_grey(text.style.colour) or least <= contrast(text.style.colour, box.fill) <= most
    return is_pale and (is_prompt(text.text) or trails_off(text.text))


def _mark_underlined(children: tuple[Part, ...], count: list[int]) -> tuple[Part, ...]:
    """Make words that ask for something a field if a line runs closely below them and far behind them.

    Words that ask for nothing above such a line make all of them items of a list.
    """
    result: list[Part] = []
    is_list = any(_is_ruled_item(above, rule, children) for above, rule in itertools.pairwise(children))
    for child in children:
        can_be = bool(result) and child.kind == "rule" and not is_list
        marked = _with_underlined(result[-1], child, count) if can_be else None
        if marked is None:
            result.append(child)
        else:
            result[-1] = marked
    return tuple(result)


def _is_ruled_item(words: Part, rule: Part, children: tuple[Part, ...]) -> bool:
    """Whether dark words that ask for nothing stand above one of several lines of one length."""
    if rule.kind != "rule" or words.text is None or words.tag != "div" or is_prompt(words.text.text):
        return False
    is_near = -2 <= rule.rect.y - words.rect.bottom <= _PROMPT_ROOM / 2 and len(words.text.lines) == 1
    alike = [child for child in children if child.kind == "rule" and abs(child.rect.w - rule.rect.w) <= 1]
    return is_near and len(alike) > 1 and not is_placeholder_grey(words.text.style.colour)


def _with_underlined(above: Part, rule: Part, count: list[int]) -> Part | None:
    """Return a text, or a row with it, as a field above its line; None if it is none."""
    if above.text is not None and rule.box is not None and _is_underlined(above, rule.rect):
        rect = hull((above.rect, rule.rect))
        box = Box(rect, "transparent", border=Border((0.0, 0.0, rule.rect.h, 0.0), rule.box.fill))
        return _field(Part("stack", rect, (above,), box), above.text, count, [])
    if above.kind != "row" or above.tag != "div" or above.box is not None:
        return None
    fields = [(child, field) for child in above.children if (field := _with_underlined(child, rule, count))]
    if len(fields) != 1:
        return None
    ((words, field),) = fields
    inner = tuple(field if child is words else child for child in above.children)
    return replace(above, children=inner, rect=hull(child.rect for child in inner))


def _is_underlined(words: Part, line: Rect) -> bool:
    text = words.text
    if text is None or words.tag != "div" or len(text.lines) > 1 or not is_prompt(text.text):
        return False
    is_below = -2 <= line.y - text.rect.bottom <= _PROMPT_ROOM / 2 and -2 <= text.rect.x - line.x <= _PROMPT_ROOM
    return is_below and _NARROW_FIELD <= line.w <= _WIDEST_VALUE and line.right - text.rect.right >= _LEAST_BEHIND


def _link_labels(children: tuple[Part, ...], count: list[int]) -> tuple[Part, ...]:
    """Mark a text right above a field as its label."""
    result = list(children)
    for number, child in enumerate(children):
        above = children[number - 1] if number else None
        if above is not None and _is_area(child, above):
            child = result[number] = _area(child, count)
        if child.tag not in FIELDS or child.box is None or child.box.control is not None or above is None:
            continue
        near = -4 <= child.rect.y - above.rect.bottom <= 16 and abs(above.rect.x - child.rect.x) <= 6
        if near and above.text is not None and above.tag == "div" and len(above.text.lines) == 1:
            target = (("for", dict(child.attributes)["id"]),)
            result[number - 1] = replace(above, tag="label", name="label", attributes=target)
            result[number] = replace(child, attributes=tuple(a for a in child.attributes if a[0] != "aria-label"))
    return tuple(result)


def _mark_ticks(kind: str, children: tuple[Part, ...]) -> tuple[Part, ...]:
    """Mark a small framed square before a text as a check box, a circle as a radio button; the text names it."""
    if kind != "row":
        return children
    result = list(children)
    for number, (child, after) in enumerate(itertools.pairwise(children)):
        child = _ring_as_box(child)
        box = child.box
        if box is None or box.border is None or child.tag != "div" or child.children or after.text is None:
            continue
        if (
            not 10 <= child.rect.w <= 24
            or abs(child.rect.w - child.rect.h) > 1.5
            or after.rect.x - child.rect.right > 16
        ):
            continue
        kind_of = "radio" if box.radius >= 0.45 * child.rect.w else "checkbox"
        attributes = (("type", kind_of), ("aria-label", after.text.text[:_LONGEST_NAME]))
        result[number] = replace(child, tag="input", name=kind_of, attributes=attributes)
    return tuple(result)


def _ring_as_box(part: Part) -> Part:
    """Convert a lone O that is as wide as tall to the ring of a radio button."""
    text = part.text
    if text is None or text.text not in _RINGS or len(text.lines) != 1:
        return part
    ink = text.lines[0].ink
    if abs(ink.w - ink.h) > 1.5:
        return part
    border = Border((1.5, 1.5, 1.5, 1.5), text.style.colour)
    return Part("stack", ink, box=Box(ink, "transparent", ink.w / 2, border))


def name_fields(part: Part, labels: frozenset[str], row: str = "") -> Part:
    """Name every field that has no label; one in a row of a table after the row."""
    if part.tag == "tr":
        row = next((text.text[:_LONGEST_NAME] for text in collect_texts(part)), row)
    children = tuple(name_fields(child, labels, row) for child in part.children)
    part = replace(part, children=children)
    attributes = dict(part.attributes)
    if part.tag not in FIELDS or "aria-label" in attributes or attributes.get("id") in labels:
        return part
    content = "" if "value" in attributes else next((text.text for text in collect_texts(part)), "")
    label = content or row or "Field"
    return replace(part, attributes=(*part.attributes, ("aria-label", label)))


def label_targets(part: Part) -> frozenset[str]:
    targets = {dict(part.attributes)["for"]} if part.tag == "label" else set[str]()
    return frozenset(targets.union(*(label_targets(child) for child in part.children)))
