"""HTML as a flow of tokens, in time linear in its length whatever it holds.

The standard library's parser needs minutes for some hundred kilobytes of unclosed tags, which any page can bring. This
one knows what reading needs: tags with their attributes, text with its entities, comments, and elements whose content
is not markup. What is left open at the end is dropped, as browsers do.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_RAW = ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp", "plaintext")
_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""[\s/]*(?:(>)|(=?[^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)?))?)""")
_MAX_NAME = 40
_MAX_ATTRIBUTES = 100


class Text(NamedTuple):
    text: str


class Open(NamedTuple):
    name: str
    attributes: dict[str, str]


class Close(NamedTuple):
    name: str


Token = Text | Open | Close


def tokens(html: str) -> Iterator[Token]:
    """The tokens of a page. The content of a raw element is one Text."""
    at, end = 0, len(html)
    while at < end:
        tag = html.find("<", at)
        if tag < 0:
            tag = end
        if tag > at:
            yield Text(unescape(html[at:tag]))
        if tag == end:
            return
        at = tag + 1
        following = html[at : at + 3]
        if following == "!--":
            at = _after(html, "-->", at + 1)
        elif following[:1] in ("!", "?"):
            at = _after(html, ">", at)
        elif following[:1] == "/":
            name = _NAME.match(html, at + 1, at + 1 + _MAX_NAME)
            at = _after(html, ">", at)
            if name and at <= end:
                yield Close(name[0].lower())
        elif name := _NAME.match(html, at):
            opened, at = _open(html, name)
            if opened is None:
                return
            yield opened
            if opened.name in _RAW:
                content, at = _raw(html, opened.name, at)
                yield content
                yield Close(opened.name)
        else:
            yield Text("<")


def _after(html: str, mark: str, start: int) -> int:
    """The place behind the next mark; beyond the end if there is none."""
    found = html.find(mark, start)
    return len(html) + 1 if found < 0 else found + len(mark)


def _open(html: str, name: re.Match[str]) -> tuple[Open | None, int]:
    """A tag and the place behind it; None if the page ends inside."""
    attributes: dict[str, str] = {}
    at, end = name.end(), len(html)
    if html[at : at + 1] == ">":
        return Open(name[0][:_MAX_NAME].lower(), attributes), at + 1
    while at < end:
        found = _ATTRIBUTE.match(html, at)
        if found is None:
            return None, end
        closed, key, double, single, plain = found.groups()
        if closed:
            return Open(name[0][:_MAX_NAME].lower(), attributes), found.end()
        at = max(found.end(), at + 1)
        if key and len(attributes) < _MAX_ATTRIBUTES:
            attributes.setdefault(key.lower(), unescape(double or single or plain or ""))
    return None, end


def _raw(html: str, name: str, at: int) -> tuple[Text, int]:
    """The content of an element that ends only with its own closing tag."""
    closing = re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE).search(html, at)
    if closing is None:
        return Text("" if name != "plaintext" else html[at:]), len(html) + 1
    content = html[at : closing.start()]
    return Text(unescape(content) if name in ("textarea", "title") else content), _after(html, ">", closing.end())
