"""Finds the labels of fields: texts beside and above them, which are not links."""

from collections.abc import Iterator, Sequence

from heald_local.arrange.part import Part
from heald_local.arrange.prompts import is_prompt
from heald_local.arrange.role_features import Item
from heald_pictures.rect import Rect

_FIELDS = frozenset({"input", "select", "textarea"})
_MENUS = frozenset({"header", "footer", "nav"})  # a text beside a search field there is an item of a menu
_LEVEL = 8.0  # pixels between the middles of a label and its field
_BESIDE, _ABOVE, _BEHIND = 160.0, 12.0, 16.0  # pixels from a label to its field, and from a box to tick to its label
_SAME_EDGE = 6.0  # pixels between the left edges of a field and of the label above it
_NAME_ENDS = (":", "*", "?")
_ALONE = 160.0  # pixels at the left of a label without another text


def find_field_labels(body: Part, items: Sequence[Item]) -> frozenset[int]:
    """Return the ids of the texts that name a field."""
    fields = [part for part in _walk(body) if part.tag in _FIELDS]
    boxes = [part for part in _walk(body) if part.box is not None and part.box.control is not None]
    texts = [item for item in items if item.text is not None and item.sentence is None]
    labels = (
        item
        for item in texts
        if any(_names_field(item, field, texts) for field in fields)
        or any(_is_behind(item.area, box.rect) for box in boxes)
    )
    return frozenset(id(item.part) for item in labels)


def _names_field(item: Item, part: Part, texts: Sequence[Item]) -> bool:
    area, field = item.area, part.rect
    is_above = 0 <= field.y - area.bottom <= _ABOVE and abs(field.x - area.x) <= _SAME_EDGE
    if is_above:
        return True
    if not _is_level(area, field) or not 0 <= field.x - area.right <= _BESIDE:
        return False
    if _asks(part) and item.text is not None and not item.text.text.endswith(_NAME_ENDS):
        return False
    return not any(part.tag in _MENUS for part in item.around) and not any(
        _is_level(area, other.area) and 0 <= area.x - other.area.right <= _ALONE for other in texts if other is not item
    )


def _asks(field: Part) -> bool:
    """Whether a field says itself what to type, so that the text beside it is no label."""
    return any(is_prompt(value) for name, value in field.attributes if name in ("placeholder", "value"))


def _is_behind(area: Rect, box: Rect) -> bool:
    return _is_level(area, box) and 0 <= area.x - box.right <= _BEHIND


def _is_level(area: Rect, other: Rect) -> bool:
    return abs(area.middle[1] - other.middle[1]) <= _LEVEL


def _walk(part: Part) -> Iterator[Part]:
    yield part
    for child in part.children:
        yield from _walk(child)
