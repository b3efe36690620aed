"""Where in the project the chosen element is written, and the words that say which one it is."""

import re
from collections.abc import Iterator, Mapping
from html import unescape

import msgspec

from weft.studio.prompts.request import Element
from weft.studio.prompts.texts import Texts
from weft.studio.stacks.tags import Tag, tags

_SOURCE = re.compile(r"""\sdata-weft-source=(?:"([^"]*)"|'([^']*)')""")
_PLACE = re.compile(r"(?P<file>[^:]+):(?P<line>\d{1,7})")
_TAG = re.compile(r"<([a-zA-Z][\w-]*)")
_CLASS = re.compile(r"""\sclass=(?:"([^"]*)"|'([^']*)')""")
_WORDS = re.compile(r">([^<>]{3,})<")
_MAX_HTML = 6_000


def located(element: Element, files: Mapping[str, str]) -> Element:
    """The element with its file and line, as far as they can be told, and without our marks in its HTML."""
    marked = _SOURCE.search(element.html[:2_000])
    html = _SOURCE.sub("", element.html)
    element = msgspec.structs.replace(element, html=html)
    if element.file:
        return element
    if marked is not None and (place := _PLACE.fullmatch(unescape(marked[1] or marked[2] or ""))) is not None:
        return msgspec.structs.replace(element, file=place["file"], line=int(place["line"]))
    return _in_pages(element, files) or _in_code(element, files) or element


def element_text(element: Element, texts: Texts) -> str:
    """What the prompt says about the element."""
    which = f", number {element.index} of the {element.count} that look alike" if element.count > 1 else ""
    html = element.html.strip()
    if len(html) > _MAX_HTML:
        html = f"{html[:_MAX_HTML]}\n… ({len(html) - _MAX_HTML} more characters)"
    place = ""
    if element.file:
        place = f"It is written in `{element.file}`" + (f", line {element.line}." if element.line else ".")
    if element.path:
        place += f"{' ' if place else ''}Its place in the page is `{element.path}`."
    return texts.fill("element", which=which, html=html, place=place)


def _starts(text: str) -> Iterator[tuple[Tag, int]]:
    """The start tags of a text, each with its line."""
    line, at = 1, 0
    for tag in tags(text):
        line += text.count("\n", at, tag.start)
        at = tag.start
        yield tag, line


def _in_pages(element: Element, files: Mapping[str, str]) -> Element | None:
    """By its start tag, in files that are written as HTML. Of several alike the chosen one is taken by its number."""
    wanted = next(tags(element.html), None)
    if wanted is None:
        return None
    places = [
        (path, line)
        for path, text in files.items()
        if path.endswith((".html", ".htm", ".svg", ".vue"))
        for tag, line in _starts(text)
        if tag.name == wanted.name and tag.attributes == wanted.attributes
    ]
    if not places:
        return None
    index = element.index if 0 < element.index <= len(places) else 1
    if len(places) > 1 and element.index == 0:
        file = places[0][0] if len({path for path, _ in places}) == 1 else ""
        return msgspec.structs.replace(element, file=file) if file else None
    file, line = places[index - 1]
    return msgspec.structs.replace(element, file=file, line=line)


def _in_code(element: Element, files: Mapping[str, str]) -> Element | None:
    """By its classes or its words, where only one line of the project has them."""
    head = element.html[: element.html.find(">") + 1]
    classes = _CLASS.search(head)
    words = _WORDS.search(element.html)
    tag = _TAG.match(element.html.lstrip())
    for text in (classes and (classes[1] or classes[2]), words and words[1].strip()):
        if not text or tag is None:
            continue
        found = [(path, code.count("\n", 0, at) + 1) for path, code in files.items() if (at := code.find(text)) >= 0]
        if len(found) == 1 and files[found[0][0]].count(text) == 1:
            return msgspec.structs.replace(element, file=found[0][0], line=found[0][1])
    return None
