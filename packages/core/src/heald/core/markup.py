"""Scans HTML into tags and text with their positions, in time linear in the length of the source.

The standard library's parser needs minutes for some hundred kilobytes of unclosed tags, and the pages read here come
from the network or from models. The scanner reads tags with their attributes, text with its entities, comments, and
elements whose content is not markup. A tag or comment that is still open at the end is dropped, as browsers do.
"""

import re
from collections.abc import Iterator
from html import unescape

import msgspec

from heald.core.lazy import lazy_pattern

VOID_ELEMENTS = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
RAW_ELEMENTS = ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp", "plaintext")
"""Elements that hold text only: they end with their own end tag, and nothing inside is a tag."""

_NAME = lazy_pattern(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = lazy_pattern(
    r"""[\s/]*(?:(?P<end>>)|(?P<key>=?[^\s/>=]*)"""
    r"""(?P<value>\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s"'>][^\s>]*)?))?)"""
)
_CLOSING = {name: lazy_pattern(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in RAW_ELEMENTS}
_MAX_NAME = 60


class TextToken(msgspec.Struct, frozen=True):
    """Text between tags, or the content of a raw element. Entities are decoded where HTML decodes them."""

    text: str
    start: int
    end: int


class StartTag(msgspec.Struct, frozen=True):
    """A start tag. In HTML its name is lower-case; in JSX it is as written."""

    name: str
    attributes: dict[str, str | None]
    """By lower-case name; the first of a name counts. An attribute without a value has None."""
    start: int
    end: int
    spans: list[tuple[str, int, int]]
    """The lower-case name of each attribute, and from where to where it is written."""
    self_closing: bool = False
    content: tuple[int, int] | None = None
    """Where the content of a raw element stands; None for other elements, and if the end tag is missing."""
    close: int = 0
    """Where a raw element ends: behind its end tag."""


class EndTag(msgspec.Struct, frozen=True):
    name: str
    start: int
    end: int


Token = TextToken | StartTag | EndTag


def scan_html(html: str) -> Iterator[Token]:
    """Yield the tokens of a page in order. The content of a raw element is one TextToken between its tags."""
    at, size = 0, len(html)
    while at < size:
        tag = html.find("<", at)
        if tag < 0:
            tag = size
        if tag > at:
            yield TextToken(unescape(html[at:tag]), at, tag)
        if tag == size:
            return
        if html.startswith("<!--", tag):
            at = find_end(html, "-->", tag + 2)
        elif html.startswith(("<!", "<?"), tag):
            at = find_end(html, ">", tag)
        elif html.startswith("</", tag):
            name = _NAME.match(html, tag + 2, tag + 2 + _MAX_NAME)
            at = find_end(html, ">", tag)
            if name and at <= size:
                yield EndTag(name[0].lower(), tag, at)
        elif name := _NAME.match(html, tag + 1):
            opened = _read_tag(html, tag, name)
            if opened is None:
                return
            yield opened
            at = opened.end
            if opened.name in RAW_ELEMENTS:
                if opened.content is None:
                    return
                start, end = opened.content
                text = html[start:end]
                yield TextToken(unescape(text) if opened.name in ("textarea", "title") else text, start, end)
                yield EndTag(opened.name, end, opened.close)
                at = opened.close
        else:
            yield TextToken("<", tag, tag + 1)
            at = tag + 1


def start_tags(html: str) -> Iterator[StartTag]:
    """Yield the start tags of a page in order."""
    return (token for token in scan_html(html) if isinstance(token, StartTag))


def find_end(html: str, mark: str, start: int) -> int:
    """The position behind the next mark; beyond the end of the source if there is none."""
    at = html.find(mark, start)
    return len(html) + 1 if at < 0 else at + len(mark)


def _read_tag(html: str, start: int, name: re.Match[str]) -> StartTag | None:
    """The start tag at a position; None if the source ends inside of it."""
    attributes: dict[str, str | None] = {}
    spans: list[tuple[str, int, int]] = []
    at, size = name.end(), len(html)
    while at < size:
        attribute = _ATTRIBUTE.match(html, at)
        if attribute is None:
            return None
        if attribute["end"]:
            small = name[0][:_MAX_NAME].lower()
            content, close = _find_content(html, small, attribute.end()) if small in RAW_ELEMENTS else (None, 0)
            return StartTag(
                small, attributes, start, attribute.end(), spans, attribute[0].endswith("/>"), content, close
            )
        key = attribute["key"].lower()
        if key and key not in attributes:
            value = next(
                (
                    candidate
                    for candidate in (attribute["double"], attribute["single"], attribute["plain"])
                    if candidate is not None
                ),
                "",
            )
            attributes[key] = unescape(value) if attribute["value"] else None
            spans.append((key, attribute.start("key"), attribute.end()))
        at = max(attribute.end(), at + 1)
    return None


def _find_content(html: str, name: str, start: int) -> tuple[tuple[int, int] | None, int]:
    if name == "plaintext":
        return (start, len(html)), len(html)
    closing = _CLOSING[name].search(html, start)
    if closing is None:
        return None, 0
    return (start, closing.start()), min(find_end(html, ">", closing.end()), len(html))
