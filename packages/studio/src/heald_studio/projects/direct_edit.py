"""Changes one element in the source of a page: its text, its style, its attributes. No model is called.

The element is named by its selector from the page down, as the preview reports it. Where the source does not have the
element, because a script makes it, a text that occurs once in the project is replaced instead.
"""

import re
from collections.abc import Mapping
from html import escape

import msgspec

from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.core.markup import VOID_ELEMENTS, EndTag, StartTag, scan_html

_STEP = lazy_pattern(r"(?P<name>[a-z][\w-]*)(?::nth-of-type\((?P<number>\d{1,5})\))?")
_PROPERTY = lazy_pattern(r"[a-z][a-z-]{1,40}")
_SCRIPTS = (".jsx", ".tsx", ".js", ".ts", ".vue", ".html", ".htm", ".svg")
_MOST_STEPS = 200


class CannotEdit(HealdError):
    """The element cannot be changed directly."""

    code = "invalid_request"


class ElementChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one element. None leaves a part as it is."""

    path: str
    """The selector of the element, from the page down."""
    text: str | None = None
    before: str = ""
    """The text that the element showed, for elements that are not in the source."""
    page: str = ""
    """The file of the page that shows it; empty for the first page."""
    style: dict[str, str] = {}
    """CSS properties; an empty value removes one."""
    attributes: dict[str, str] = {}

    @property
    def description(self) -> str:
        """What it changes, for the list of what can be undone."""
        step = _STEP.fullmatch(self.path.rpartition(">")[2].strip())
        parts = [*(["text"] if self.text is not None else []), *self.style, *self.attributes]
        return f"edit of {step['name'] if step is not None else 'an element'} ({', '.join(parts)})"


class _Element(msgspec.Struct):
    tag: StartTag | None
    children: list["_Element"] = []
    end: int = -1
    """Where its content ends; -1 if it has none."""

    @property
    def name(self) -> str:
        return self.tag.name if self.tag is not None else ""


def edit_element(files: Mapping[str, bytes], entry: str, change: ElementChange) -> dict[str, bytes]:
    """Return the files that change. Raises CannotEdit whose message names the alternative."""
    _check_style(change.style)
    source = files.get(entry, b"").decode("utf-8", "replace")
    element = _find(source, change.path)
    if element is not None and element.tag is not None:
        return {entry: _edit(source, element, element.tag, change).encode()}
    if change.text is None or change.style or change.attributes:
        raise CannotEdit(
            "A script makes this element, so its look cannot be changed here; describe the change in words."
        )
    return _replace_text(files, change)


def _find(source: str, path: str) -> _Element | None:
    """Find the element of a selector in the source."""
    steps = [_STEP.fullmatch(step.strip()) for step in path.split(">")[:_MOST_STEPS]]
    here = _parse(source)
    inner = next((element for element in _descend(here) if element.name == "body"), None)
    if steps and steps[0] is not None and steps[0]["name"] == "body":
        steps = steps[1:]
        here = inner or here
    for step in steps:
        if step is None:
            return None
        alike = [element for element in here.children if element.name == step["name"]]
        number = int(step["number"] or 1)
        if number > len(alike) or (not step["number"] and len(alike) != 1):
            return None
        here = alike[number - 1]
    return here


def _descend(element: _Element) -> list[_Element]:
    elements = [element]
    for descendant in elements:
        elements.extend(descendant.children)
    return elements


def _parse(source: str) -> _Element:
    """Parse the elements of a page into a tree. End tags that are missing are assumed at the end of the parent."""
    root = _Element(None)
    open_elements = [root]
    for token in scan_html(source):
        match token:
            case StartTag():
                element = _Element(token, [])
                open_elements[-1].children.append(element)
                if token.name not in VOID_ELEMENTS and not token.self_closing:
                    open_elements.append(element)
            case EndTag(name=name, start=start):
                at = next((n for n in range(len(open_elements) - 1, 0, -1) if open_elements[n].name == name), 0)
                if at:
                    open_elements[at].end = start
                    del open_elements[at:]
            case _:
                pass
    return root


def _edit(source: str, element: _Element, tag: StartTag, change: ElementChange) -> str:
    text = source
    if change.text is not None:
        if element.end < 0 or element.children:
            raise CannotEdit("This element holds other elements; select the text itself.")
        text = text[: tag.end] + escape(change.text, quote=False) + text[element.end :]
    attributes = dict(change.attributes)
    if change.style:
        attributes["style"] = _merge_style(tag.attributes.get("style") or "", change.style)
    places = {name: (start, end) for name, start, end in tag.spans}
    new = (tag.start + 1 + len(tag.name),) * 2
    for name in sorted(
        attributes, key=lambda attribute: places.get(attribute, new), reverse=True
    ):  # the last one first
        text = _set_attribute(text, places.get(name), new[0], name, attributes[name])
    return text


def _set_attribute(source: str, place: tuple[int, int] | None, new: int, name: str, value: str) -> str:
    """Write an attribute at its place in a start tag, or at the place for new ones. An empty value removes it."""
    written = f'{name}="{escape(value)}"' if value else ""
    if place is None:
        return source[:new] + (f" {written}" if written else "") + source[new:]
    start, end = place
    return source[:start] + written + source[end:]


def _merge_style(style: str, changes: Mapping[str, str]) -> str:
    declarations = [part.strip() for part in style.split(";") if part.strip()]
    declarations = [part for part in declarations if part.partition(":")[0].strip().lower() not in changes]
    return "; ".join([*declarations, *(f"{name}: {value}" for name, value in changes.items() if value)])


def _check_style(style: Mapping[str, str]) -> None:
    for name, value in style.items():
        if not _PROPERTY.fullmatch(name) or re.search(r"[;{}<>\"]", value):
            raise CannotEdit("That is not a value of a style; write it as in CSS, without a semicolon.")


def _replace_text(files: Mapping[str, bytes], change: ElementChange) -> dict[str, bytes]:
    before, after = change.before.strip(), (change.text or "").strip()
    places = [
        (path, text)
        for path, data in files.items()
        if path.endswith(_SCRIPTS) and before and before in (text := data.decode("utf-8", "replace"))
    ]
    if len(places) != 1 or places[0][1].count(before) != 1:
        raise CannotEdit("This text is not in the source, or in several places; describe the change in words.")
    path, text = places[0]
    return {path: text.replace(before, after).encode()}
