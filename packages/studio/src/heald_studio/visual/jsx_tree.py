"""Parses the JSX of a script into a tree of elements with positions, in time linear in the length of the source.

The script around the elements is only lexed: strings, templates, comments and regular expressions are passed over. A
`<` begins an element where an expression may begin, and what follows is well-formed; everywhere else it is an
operator or the type argument of a function.
"""

import re

from heald.core.lazy import lazy_pattern
from heald_studio.visual.markup_element import MarkupAttribute, MarkupElement

_NAME = lazy_pattern(r"[A-Za-z_$][\w$.:-]*")
_SPACE = lazy_pattern(r"(?:\s+|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_STRING = lazy_pattern(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_REGEX = lazy_pattern(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_WORD = lazy_pattern(r"[\w$]+")
_BEFORE_EXPRESSION = frozenset(
    [
        "return",
        "typeof",
        "case",
        "default",
        "do",
        "else",
        "in",
        "of",
        "new",
        "delete",
        "void",
        "throw",
        "await",
        "yield",
    ]
)
_MAX_DEPTH = 100


class _NotJsx(Exception):
    """What was taken for an element is not one."""


def parse_jsx(source: str, start: int = 0, end: int | None = None) -> MarkupElement:
    """Return a root whose `inner` elements are the outermost ones of the script."""
    stop = len(source) if end is None else end
    root = MarkupElement("", "jsx", start, start, content_end=stop, end=stop, inner=[])
    try:
        _JsxParser(source, stop).script(start, root, closing="", depth=0)
    except _NotJsx:
        root.inner.clear()
    return root


class _JsxParser:
    def __init__(self, source: str, end: int) -> None:
        self._source = source
        self._end = end
        self._failed: set[int] = set()

    def script(self, at: int, owner: MarkupElement, *, closing: str, depth: int) -> int:
        """Read code up to an unmatched closing bracket, or to the end, and return the position of it."""
        if depth > _MAX_DEPTH:
            raise _NotJsx
        source, end = self._source, self._end
        may_begin = True  # whether an expression may begin here
        brackets = 0
        while at < end:
            space = _SPACE.match(source, at, end)
            at = space.end() if space is not None else at
            if at >= end:
                break
            character = source[at]
            if character in "\"'":
                string = _STRING.match(source, at, end)
                at = string.end() if string is not None else at + 1
                may_begin = False
            elif character == "`":
                at = self._template(at + 1, owner, depth)
                may_begin = False
            elif character in "([{":
                brackets += 1
                at += 1
                may_begin = True
            elif character in ")]}":
                if brackets == 0 and closing:
                    return at
                brackets -= 1
                at += 1
                may_begin = character == "}"
            elif character == "<" and may_begin:
                at, may_begin = self._element_or_operator(at, owner, depth)
            elif character == "/" and may_begin and (regex := _REGEX.match(source, at, end)) is not None:
                at = regex.end()
                may_begin = False
            elif (word := _WORD.match(source, at, end)) is not None:
                at = word.end()
                may_begin = word[0] in _BEFORE_EXPRESSION
            else:
                at += 1
                may_begin = character != "."
        if closing:
            raise _NotJsx
        return end

    def _element_or_operator(self, at: int, owner: MarkupElement, depth: int) -> tuple[int, bool]:
        if at in self._failed:
            return at + 1, True
        try:
            element, stop = self._element(at, owner, depth + 1)
        except _NotJsx:
            self._failed.add(at)
            return at + 1, True
        owner.inner.append(element)
        return stop, False

    def _template(self, at: int, owner: MarkupElement, depth: int) -> int:
        """Read the rest of a template literal and return the position behind it."""
        source = self._source
        while at < self._end:
            character = source[at]
            if character == "\\":
                at += 2
            elif character == "`":
                return at + 1
            elif source.startswith("${", at):
                at = self.script(at + 2, owner, closing="}", depth=depth + 1) + 1
            else:
                at += 1
        return self._end

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._source, at, self._end)
        return space.end() if space is not None else at

    def _element(self, start: int, parent: MarkupElement, depth: int) -> tuple[MarkupElement, int]:
        """Read an element or a fragment, and return it and the position behind it."""
        if depth > _MAX_DEPTH:
            raise _NotJsx
        source = self._source
        name = _NAME.match(source, start + 1, self._end)
        name_end = name.end() if name is not None else start + 1
        element = MarkupElement(
            name[0] if name is not None else "",
            "jsx",
            start,
            start,
            name_end=name_end,
            attributes={},
            children=[],
            inner=[],
            parent=parent,
            expressions=[],
        )
        if name is None and source[start + 1 : start + 2] != ">":
            raise _NotJsx
        at = self._attributes(element, name_end, depth)
        if source.startswith("/", at):
            at = self._skip(at + 1)
            if not source.startswith(">", at):
                raise _NotJsx
            element.open_end = element.end = at + 1
            return element, at + 1
        element.open_end = at + 1
        element.end = self._children(element, at + 1, depth)
        return element, element.end

    def _attributes(self, element: MarkupElement, at: int, depth: int) -> int:
        """Read the attributes of a start tag and return the position of its `>` or `/`."""
        source = self._source
        while True:
            at = self._skip(at)
            if at >= self._end:
                raise _NotJsx
            if source[at] in ">/":
                return at
            if source[at] == "{":
                at = self.script(at + 1, element, closing="}", depth=depth) + 1
                continue
            name = _NAME.match(source, at, self._end)
            if name is None:
                raise _NotJsx
            after = self._skip(name.end())
            if not source.startswith("=", after):
                element.attributes.setdefault(name[0], MarkupAttribute(name[0], at, name.end()))
                at = name.end()
                continue
            value = self._skip(after + 1)
            quote = source[value : value + 1]
            if quote == "{":
                stop = self.script(value + 1, element, closing="}", depth=depth)
            elif quote in ('"', "'"):
                stop = source.find(quote, value + 1, self._end)
            else:
                raise _NotJsx
            if stop < 0:
                raise _NotJsx
            attribute = MarkupAttribute(name[0], at, stop + 1, value + 1, stop, quote)
            element.attributes.setdefault(name[0], attribute)
            at = stop + 1

    def _children(self, element: MarkupElement, at: int, depth: int) -> int:
        """Read up to the end tag and return the position behind it."""
        source = self._source
        while at < self._end:
            character = source[at]
            if character == "{":
                stop = self.script(at + 1, element, closing="}", depth=depth) + 1
                element.expressions.append((at, stop))
                at = stop
            elif source.startswith("</", at):
                name_start = self._skip(at + 2)
                name = _NAME.match(source, name_start, self._end)
                if (name[0] if name is not None else "") != element.name:
                    raise _NotJsx
                stop = self._skip(name.end() if name is not None else name_start)
                if not source.startswith(">", stop):
                    raise _NotJsx
                element.content_end = at
                return stop + 1
            elif character == "<":
                child, at = self._element(at, element, depth + 1)
                element.children.append(child)
            else:
                at += 1
        raise _NotJsx
