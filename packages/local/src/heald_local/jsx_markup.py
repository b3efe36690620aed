"""Scans JSX into tags and text with their positions, in time linear in the length of the source."""

import re
from collections.abc import Iterator
from html import unescape

from heald.core.lazy import lazy_pattern
from heald.core.markup import EndTag, StartTag, find_end

_JSX_NAME = lazy_pattern(r"[A-Za-z][\w.-]*")
_JSX_ATTRIBUTE = lazy_pattern(r"\s+([^\s\"'<>/={}]+)(\s*=\s*)?")
_JSX_PLAIN_VALUE = lazy_pattern(r"[^\s\"'=<>`{}]+")
_JSX_END = lazy_pattern(r"\s*(/?)>")
_JSX_SPREAD = lazy_pattern(r"\s*\{")
_BRACE = lazy_pattern(r"[{}]")


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
                at = find_end(self._source, "-->", at + 2)
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
            attribute = _JSX_ATTRIBUTE.match(self._source, at, self._end)
            if attribute is None:
                return None, at
            value = None
            stop = attribute.end(1)
            if attribute[2] is not None:
                stop = self._find_value_end(attribute.end())
                if stop < 0:
                    return None, attribute.end()
                value = self._source[attribute.end() : stop]
                value = unescape(value[1:-1] if value[0] in "\"'" else value)
            key = attribute[1].lower()
            if key not in attributes:
                attributes[key] = value
                spans.append((key, attribute.start(1), stop))
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
