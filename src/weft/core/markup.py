"""Scans HTML and JSX into tags and text with their positions, in time linear in the length of the source.

The standard library's parser needs minutes for some hundred kilobytes of unclosed tags, and the pages read here come
from the network or from models. The scanner knows tags with their attributes, text with its entities, comments, and
elements whose content is not markup. A tag or comment that is still open at the end is dropped, as browsers do.
"""

import re
from collections.abc import Iterator
from html import unescape

import msgspec

from weft.core.lazy import lazy_pattern

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

_JSX_NAME = lazy_pattern(r"[A-Za-z][\w.-]*")
_JSX_ATTRIBUTE = lazy_pattern(r"\s+([^\s\"'<>/={}]+)(\s*=\s*)?")
_JSX_PLAIN_VALUE = lazy_pattern(r"[^\s\"'=<>`{}]+")
_JSX_END = lazy_pattern(r"\s*(/?)>")
_JSX_SPREAD = lazy_pattern(r"\s*\{")
_BRACE = lazy_pattern(r"[{}]")


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
            at = _find_end(html, "-->", tag + 2)
        elif html.startswith(("<!", "<?"), tag):
            at = _find_end(html, ">", tag)
        elif html.startswith("</", tag):
            name = _NAME.match(html, tag + 2, tag + 2 + _MAX_NAME)
            at = _find_end(html, ">", tag)
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


def _find_end(html: str, mark: str, start: int) -> int:
    """The position behind the next mark; beyond the end of the source if there is none."""
    found = html.find(mark, start)
    return len(html) + 1 if found < 0 else found + len(mark)


def _read_tag(html: str, start: int, name: re.Match[str]) -> StartTag | None:
    """The start tag at a position; None if the source ends inside of it."""
    attributes: dict[str, str | None] = {}
    spans: list[tuple[str, int, int]] = []
    at, size = name.end(), len(html)
    while at < size:
        found = _ATTRIBUTE.match(html, at)
        if found is None:
            return None
        if found["end"]:
            small = name[0][:_MAX_NAME].lower()
            content, close = _find_content(html, small, found.end()) if small in RAW_ELEMENTS else (None, 0)
            return StartTag(small, attributes, start, found.end(), spans, found[0].endswith("/>"), content, close)
        key = found["key"].lower()
        if key and key not in attributes:
            given = next((each for each in (found["double"], found["single"], found["plain"]) if each is not None), "")
            attributes[key] = unescape(given) if found["value"] else None
            spans.append((key, found.start("key"), found.end()))
        at = max(found.end(), at + 1)
    return None


def _find_content(html: str, name: str, start: int) -> tuple[tuple[int, int] | None, int]:
    if name == "plaintext":
        return (start, len(html)), len(html)
    closing = _CLOSING[name].search(html, start)
    if closing is None:
        return None, 0
    return (start, closing.start()), min(_find_end(html, ">", closing.end()), len(html))


def scan_jsx(source: str, start: int = 0, end: int | None = None) -> Iterator[StartTag | EndTag]:
    """Yield the tags in a piece of JSX: the scripts around them are passed over.

    A value in braces keeps its braces. A `<` that begins no well-formed tag is an operator, and scanning goes on where
    the tag failed.
    """
    return _JsxScanner(source, start, len(source) if end is None else end).scan()


class _JsxScanner:
    def __init__(self, source: str, start: int, end: int) -> None:
        self._source = source
        self._start = start
        self._end = end
        self._closing_braces = _match_braces(source, start, end)
        self._missing_quotes: set[str] = set()
        """Quotes that do not occur any more: looked for once, not at each tag."""

    def scan(self) -> Iterator[StartTag | EndTag]:
        at = self._start
        while (at := self._source.find("<", at, self._end)) >= 0:
            if self._source.startswith("<!--", at):
                at = _find_end(self._source, "-->", at + 2)
                continue
            closes = self._source.startswith("/", at + 1)
            name = _JSX_NAME.match(self._source, at + 2 if closes else at + 1, self._end)
            if name is None:
                at += 1
                continue
            token, at = self._read_end_tag(at, name) if closes else self._read_tag(at, name)
            if token is not None:
                yield token

    def _read_end_tag(self, start: int, name: re.Match[str]) -> tuple[EndTag | None, int]:
        closed = _JSX_END.match(self._source, name.end(), self._end)
        return (None, name.end()) if closed is None else (EndTag(name[0], start, closed.end()), closed.end())

    def _read_tag(self, start: int, name: re.Match[str]) -> tuple[StartTag | None, int]:
        """The tag, or None, and where to go on."""
        attributes: dict[str, str | None] = {}
        spans: list[tuple[str, int, int]] = []
        at = name.end()
        while (closed := _JSX_END.match(self._source, at, self._end)) is None:
            if spread := _JSX_SPREAD.match(self._source, at, self._end):
                stop = self._closing_braces.get(spread.end() - 1, -1)
                if stop < 0:
                    return None, spread.end()
                at = stop
                continue
            found = _JSX_ATTRIBUTE.match(self._source, at, self._end)
            if found is None:
                return None, at
            value = None
            stop = found.end(1)
            if found[2] is not None:
                stop = self._find_value_end(found.end())
                if stop < 0:
                    return None, found.end()
                value = self._source[found.end() : stop]
                value = unescape(value[1:-1] if value[0] in "\"'" else value)
            key = found[1].lower()
            if key not in attributes:
                attributes[key] = value
                spans.append((key, found.start(1), stop))
            at = stop
        return StartTag(name[0], attributes, start, closed.end(), spans, bool(closed[1])), closed.end()

    def _find_value_end(self, start: int) -> int:
        """Where the value of an attribute ends; -1 if there is none."""
        mark = self._source[start : start + 1]
        if mark == "{":
            return self._closing_braces.get(start, -1)
        if mark not in ('"', "'"):
            plain = _JSX_PLAIN_VALUE.match(self._source, start, self._end)
            return -1 if plain is None else plain.end()
        if mark in self._missing_quotes:
            return -1
        closing = self._source.find(mark, start + 1, self._end)
        if closing < 0:
            self._missing_quotes.add(mark)
        return closing + 1 or -1


def _match_braces(source: str, start: int, end: int) -> dict[int, int]:
    """The position behind the closing brace of each opening one that has one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(source, start, end):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.end()
    return closing
