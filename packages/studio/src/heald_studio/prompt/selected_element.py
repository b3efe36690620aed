"""The element that a person selected in a preview: finds it in the source, and describes it for a prompt."""

from collections.abc import Iterator, Mapping
from html import unescape

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.markup import StartTag, start_tags
from heald_studio.prompt.request import ChosenElement
from heald_studio.prompt.texts import PromptTexts

_SOURCE_ATTRIBUTE = lazy_pattern(r"""\sdata-heald-source=(?:"([^"]*)"|'([^']*)')""")
_SOURCE_LINE = lazy_pattern(r"(?P<file>[^:#]+):(?P<line>\d{1,7})(?::\d{1,7})?")
_TAG_NAME = lazy_pattern(r"<([a-zA-Z][\w-]*)")
_CLASS_ATTRIBUTE = lazy_pattern(r"""\sclass=(?:"([^"]*)"|'([^']*)')""")
_WORDS = lazy_pattern(r">([^<>]{3,})<")
_MAX_HTML = 6_000


def locate_element(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement:
    """Find the file and line of the element if possible, and remove the preview's marks from its HTML."""
    marked = _SOURCE_ATTRIBUTE.search(element.html[:2_000])
    html = _SOURCE_ATTRIBUTE.sub("", element.html)
    element = msgspec.structs.replace(element, html=html)
    if element.file:
        return element
    if marked is not None and (place := _SOURCE_LINE.fullmatch(unescape(marked[1] or marked[2] or ""))) is not None:
        return msgspec.structs.replace(element, file=place["file"], line=int(place["line"]))
    return _locate_in_html(element, files) or _locate_in_code(element, files) or element


def describe_element(element: ChosenElement, texts: PromptTexts) -> str:
    """Describe the element for the prompt."""
    which = f", number {element.index} of the {element.count} that look alike" if element.count > 1 else ""
    html = element.html.strip()
    if len(html) > _MAX_HTML:
        html = f"{html[:_MAX_HTML]}\n… ({len(html) - _MAX_HTML} more characters)"
    place = ""
    if element.file:
        place = f"It is written in `{element.file}`" + (f", line {element.line}." if element.line else ".")
    if element.path:
        place += f"{' ' if place else ''}Its place in the page is `{element.path}`."
    return texts.render("element", which=which, html=html, place=place)


def _tags_with_lines(text: str) -> Iterator[tuple[StartTag, int]]:
    """Yield the start tags of a text, each with its line."""
    line, at = 1, 0
    for tag in start_tags(text):
        line += text.count("\n", at, tag.start)
        at = tag.start
        yield tag, line


def _locate_in_html(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement | None:
    """Find an element by its start tag in HTML files, by its number if there are several."""
    selected_tag = next(start_tags(element.html), None)
    if selected_tag is None:
        return None
    places = [
        (path, line)
        for path, text in files.items()
        if path.endswith((".html", ".htm", ".svg", ".vue"))
        for tag, line in _tags_with_lines(text)
        if tag.name == selected_tag.name and tag.attributes == selected_tag.attributes
    ]
    if not places:
        return None
    index = element.index if 0 < element.index <= len(places) else 1
    if len(places) > 1 and element.index == 0:
        file = places[0][0] if len({path for path, _ in places}) == 1 else ""
        return msgspec.structs.replace(element, file=file) if file else None
    file, line = places[index - 1]
    return msgspec.structs.replace(element, file=file, line=line)


def _locate_in_code(element: ChosenElement, files: Mapping[str, str]) -> ChosenElement | None:
    """Find an element by its classes or its text, if only one line of the project has them."""
    head = element.html[: element.html.find(">") + 1]
    classes = _CLASS_ATTRIBUTE.search(head)
    words = _WORDS.search(element.html)
    tag = _TAG_NAME.match(element.html.lstrip())
    for text in (classes and (classes[1] or classes[2]), words and words[1].strip()):
        if not text or tag is None:
            continue
        places = [(path, code.count("\n", 0, at) + 1) for path, code in files.items() if (at := code.find(text)) >= 0]
        if len(places) == 1 and files[places[0][0]].count(text) == 1:
            return msgspec.structs.replace(element, file=places[0][0], line=places[0][1])
    return None
