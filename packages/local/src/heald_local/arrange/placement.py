"""Places the parts of a stack across: at the left, in the middle or at the right, in a column that stays centred."""

import itertools
from dataclasses import dataclass

from heald_local.arrange.controls import FIELDS
from heald_local.arrange.nodes import Declarations, is_caption, length
from heald_local.arrange.part import Part
from heald_local.arrange.shapes import FAR, fluid_length, has_columns, has_single_lines, is_list_of_words, share_of
from heald_local.see.paragraphs import wrap_width
from heald_pictures.elements import Family, TextElement

NEAR = 1.6  # edges closer than this are the same edge
GUTTER = 20  # padding left and right on a narrow screen, at most
EDGE = 16  # padding of the outer elements on a narrow screen
SPRING = 2 * FAR  # a gap that is wider gives way first
_WIDEST = 340  # a row up to this wide fits a narrow screen as it is
_WIDER = 1.08  # words that decide the width of a part may be wider in other fonts
_SHRINKING = 0.75  # of its room, which a screen that is narrower than the page's own leaves before columns stack
_LONGEST_LINK, _LEAST_REST = 280.0, 24.0  # pixels of a link that never wraps, and of the room that it leaves
_INDENT_SHARE = 0.06  # of its room, up to which what is before a part is an indent
_LEAST_INDENT = 1.0  # pixels; less than that is not an indent, but a letter that begins a little inside its place
INDENT = 48.0  # a column that begins farther inside than this is centred on wider screens


@dataclass(frozen=True, slots=True)
class LayoutRoom:
    """The room for the children of a part: the edges of its content, and inherited properties."""

    left: float
    right: float
    family: Family
    page: tuple[float, float]  # left and right edge of the page's centred column
    width: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def is_page(self) -> bool:
        """Whether it is as wide as the page."""
        return self.left <= NEAR and self.right >= self.width - NEAR

    def indent(self, left: float) -> str:
        """Return a distance from the left; that of the page's column grows with the screen, so that it is centred."""
        if not self.is_page or abs(left - self.page[0]) > NEAR or left < INDENT:
            return fluid_length(left, self.right - self.left)
        return f"max({GUTTER}px, calc(50% - {length(self.width / 2 - left)}))"


def place_across(child: Part, frame: LayoutRoom, place: Declarations, slim: Declarations) -> None:
    rect, room = child.rect, frame.right - frame.left
    left, right = rect.x - frame.left, frame.right - rect.right
    if child.kind == "text" and child.text is not None:
        _place_text_across(child, child.text, frame, place, slim)
        return
    if abs(left) <= NEAR and abs(right) <= NEAR:
        place["align-self"] = "stretch"
        return
    centred = abs(left - right) <= 2.5 and left > 2
    if child.kind == "row" and child.box is None:
        _place_row_across(child, frame, place, slim, centred)
        return
    if centred:
        place["align-self"] = "center"
    elif abs(right) <= NEAR and _is_at_end(left, room):
        place["align-self"] = "flex-end"
    elif 0 < right <= FAR < left:
        place["align-self"], place["margin-right"], slim["margin-right"] = "flex-end", length(right), "0"
    else:
        set_margin_left(left, frame, place, slim)
    if child.kind in ("picture", "rule"):
        if child.kind == "rule":
            place["width"] = length(rect.w)
        place["align-self"] = place.get("align-self", "flex-start")
        _limit_width(rect.w, left, frame, place, slim)
        return
    if child.tag in (*FIELDS, "button") or not child.children or is_caption(child):
        place["width"] = length(min(rect.w, room) if room > 0 else rect.w)
        place.setdefault("align-self", "flex-start")
        _limit_width(rect.w, left, frame, place, slim)
        return
    if frame.is_page and centred and left >= GUTTER:
        centre_column(rect.w, place)
        return
    if frame.is_page and centred and child.kind == "stack" and child.box is None:
        place["align-self"], place["padding"] = "stretch", f"0 {length(left)}"
        return
    if "align-self" in place:
        place["width"] = "100%"
    elif is_list_of_words(child):
        return
    width = min(rect.w, room) if room > 0 else rect.w
    is_bare = child.box is None and has_single_lines(child) and "align-self" not in place  # would move it otherwise
    is_bare = is_bare and not has_columns(child)  # whose places depend on the width
    if is_bare and all(inner.rect.x - rect.x <= NEAR for inner in child.children):
        width *= _WIDER
    place["max-width"] = length(round(width))


def _is_at_end(left: float, room: float) -> bool:
    """Whether what ends at the right edge was put there: the longest line of a list has only an indent before it."""
    return left > max(8, _INDENT_SHARE * room)


def _limit_width(width: float, left: float, frame: LayoutRoom, place: Declarations, slim: Declarations) -> None:
    """Keep an element with a width of its own in its room where that becomes narrower."""
    place["max-width"] = "100%"
    indent = place.get("margin-left", "0")
    if indent in ("0", "auto") or left < 0:
        return
    if left + width > _SHRINKING * (frame.right - frame.left):
        place["max-width"] = f"calc(100% - {indent})"
    else:
        slim.medium["max-width"] = f"calc(100% - {indent})"
    slim["max-width"] = "100%"


def centre_column(width: float, place: Declarations) -> None:
    """Centre a column of the page, which keeps a gutter on screens that are narrower than it."""
    place.pop("align-self", None)
    place["width"] = f"min(100% - {2 * GUTTER}px, {length(round(width))})"
    place["margin-inline"] = "auto"


def _place_row_across(child: Part, frame: LayoutRoom, place: Declarations, slim: Declarations, centred: bool) -> None:
    left, right = child.rect.x - frame.left, frame.right - child.rect.right
    place["align-self"] = "stretch"
    gaps = [after.rect.x - before.rect.right for before, after in itertools.pairwise(child.children)]
    is_column = frame.is_page and left >= INDENT and child.rect.w > frame.width / 2
    if centred and frame.is_page and (is_column or max(gaps, default=0.0) > SPRING):
        centre_column(child.rect.w, place)
    elif centred and max(gaps, default=0.0) > SPRING:
        place["padding"] = f"0 {length(left)}"
        slim.medium["padding"] = f"0 {share_of(left, frame.right - frame.left)}"
        slim["padding"] = f"0 {min(round(left), EDGE)}px"
    elif centred:
        place["justify-content"] = "center"
    elif abs(right) <= NEAR and _is_at_end(left, frame.right - frame.left):
        place["justify-content"] = "flex-end"
        if child.rect.w > _WIDEST:
            slim["justify-content"] = "flex-start"
    else:
        del place["align-self"]
        set_margin_left(left, frame, place, slim)
        if frame.is_page and "margin-left" in slim:
            slim["margin-left"] = f"{EDGE}px"


def set_margin_left(value: float, frame: LayoutRoom, place: Declarations, slim: Declarations) -> None:
    """Set a margin that is dropped on a narrow screen."""
    if abs(value) >= _LEAST_INDENT:
        place["margin-left"] = frame.indent(round(value))
        slim["margin-left"] = "0"


def _place_text_across(
    child: Part, text: TextElement, frame: LayoutRoom, place: Declarations, slim: Declarations
) -> None:
    rect, room = child.rect, frame.right - frame.left
    left, right = rect.x - frame.left, frame.right - rect.right
    centred = abs(left - right) <= 2.5 and left > 2
    if len(text.lines) == 1:
        if child.tag == "a" and rect.w <= _LONGEST_LINK and room - rect.w > _LEAST_REST:
            _place_link_across(left, right, frame, place, slim)
        elif centred:
            place["text-align"] = "center"
        elif abs(right) <= NEAR and _is_at_end(left, room):
            place["text-align"] = "right"
        else:
            set_margin_left(left, frame, place, slim)
        return
    least, most = wrap_width(text)
    width = min(least + 2, (least + most) / 2) if most > least else least + 2
    if text.align != "left":
        place["text-align"] = text.align
    if text.align == "center" or (text.align == "left" and centred and left > 12):
        middle = abs(rect.middle[0] - frame.middle) <= 2.5
        if middle and text.align == "center" and least <= room < most:
            return
        place["max-width"] = length(width)
        if middle:
            place["align-self"] = "center"
            return
        set_margin_left(rect.middle[0] - width / 2 - frame.left, frame, place, slim)
        return
    if text.align == "right":
        place["max-width"] = length(width)
        place["align-self"] = "flex-end"
        place.set_px("margin-right", frame.right - rect.right)
        return
    set_margin_left(left, frame, place, slim)
    keep_wrapping(text, room - left, place)


def _place_link_across(left: float, right: float, frame: LayoutRoom, place: Declarations, slim: Declarations) -> None:
    """Give a link the width of its words: the rest of its room does not lead anywhere."""
    if abs(left - right) <= 2.5 and left > 2:
        place["align-self"] = "center"
    elif abs(right) <= NEAR and _is_at_end(left, frame.right - frame.left):
        place["align-self"] = "flex-end"
    else:
        place["align-self"] = "flex-start"
        set_margin_left(left, frame, place, slim)


def keep_wrapping(text: TextElement, room: float, place: Declarations) -> None:
    """Limit the width of a text of several lines, if it would wrap elsewhere in its room."""
    least, most = wrap_width(text)
    if len(text.lines) > 1 and not least - 0.5 <= room < most - 0.5:
        place["max-width"] = length(min(least + 2, (least + most) / 2) if most > least else least + 2)
