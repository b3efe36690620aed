"""The start tags of a page with the places where they stand, in time linear in its length whatever it holds.

The standard library's parser needs minutes for some pages, and the pages here are written by models. What is left open
at the end is no tag. Text inside scripts, styles and comments is not looked at.
"""

import re
from collections.abc import Iterator
from html import unescape

import msgspec

_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?:(?P<end>>)|(?P<key>=?[^\s/>=]*)"""
    r"""(?P<value>\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s"'>][^\s>]*)?))?)"""
)
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
_CLOSING = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
_MAX_NAME = 60


class Tag(msgspec.Struct, frozen=True):
    """A start tag. `attributes` have small names; one without a value has None."""

    name: str
    attributes: dict[str, str | None]
    start: int
    end: int
    spans: list[tuple[str, int, int]]
    """Each attribute's name, and from where to where it is written."""
    content: tuple[int, int] | None = None
    """Where the text of an element stands that holds no markup, such as a script; None if it is not closed."""
    close: int = 0
    """Where such an element ends."""


def tags(html: str) -> Iterator[Tag]:
    at, size = 0, len(html)
    while (at := html.find("<", at)) >= 0:
        if html.startswith("<!--", at):
            at = _after(html, "-->", at + 4)
        elif html.startswith(("<!", "<?", "</"), at):
            at = _after(html, ">", at)
        elif (name := _NAME.match(html, at + 1)) is not None:
            tag = _tag(html, at, name)
            if tag is None:
                return
            yield tag
            at = max(tag.end, tag.close)
            if tag.name in _RAW and tag.content is None:
                return
        else:
            at += 1
        if at >= size:
            return


def _after(html: str, mark: str, start: int) -> int:
    found = html.find(mark, start)
    return len(html) if found < 0 else found + len(mark)


def _tag(html: str, start: int, name: re.Match[str]) -> Tag | None:
    attributes: dict[str, str | None] = {}
    spans: list[tuple[str, int, int]] = []
    at, size = name.end(), len(html)
    while at < size:
        found = _ATTRIBUTE.match(html, at)
        if found is None:
            return None
        if found["end"]:
            return _with_content(html, Tag(name[0][:_MAX_NAME].lower(), attributes, start, found.end(), spans))
        key = found["key"].lower()
        if key and key not in attributes:
            given = next((each for each in (found["double"], found["single"], found["plain"]) if each is not None), "")
            attributes[key] = unescape(given) if found["value"] else None
            spans.append((key, found.start("key"), found.end()))
        at = max(found.end(), at + 1)
    return None


def _with_content(html: str, tag: Tag) -> Tag:
    if tag.name not in _RAW:
        return tag
    closing = _CLOSING[tag.name].search(html, tag.end)
    if closing is None:
        return tag
    close = _after(html, ">", closing.end())
    return msgspec.structs.replace(tag, content=(tag.end, closing.start()), close=close)
