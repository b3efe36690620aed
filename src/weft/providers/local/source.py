"""A page's source as elements with their places, in HTML or JSX, so that one can be found and changed in the text."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape

VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"))
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][\w.-]*)"
    r"(?P<attributes>(?:\s+[^\s\"'<>/={}]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\}|[^\s\"'=<>`{}]+))?)*)"
    r"\s*(?P<empty>/?)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s\"'<>/={}]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\}|[^\s\"'=<>`{}]+))?")
_RAW = re.compile(
    r"<(?P<raw>style|script)\b(?P<how>[^<>]*)>(?P<inside>.*?)(?:</(?P=raw)\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.DOTALL)
_STRING = re.compile(r"\{(\"(?:[^\"\\]|\\.)*\")\}")
_PAIR = re.compile(r"(\w+)\s*:\s*(\"[^\"]*\"|'[^']*'|[^,\"']+)")
_NAMES = {"classname": "class", "htmlfor": "for", "tabindex": "tabindex"}
_IGNORED = ("style", "data-weft-source")


@dataclass(frozen=True, slots=True)
class Element:
    """An element and where it stands: its start tag, what is inside, and its end."""

    name: str
    attributes: dict[str, str]
    start: int
    inside: int
    inside_end: int
    end: int
    jsx: bool

    def text(self, source: str) -> str:
        """What it says, in plain words."""
        inside = source[self.inside : self.inside_end]
        return plain(_STRING.sub(_unquoted, inside) if self.jsx else inside)


def elements(source: str) -> list[Element]:
    """Every element, in order of their start tags. What is never closed ends where its parent does."""
    found: list[Element] = []
    open_ones: list[re.Match[str]] = []
    hidden, jsx_parts = _hidden(source)

    def close(upto: int, inside_end: int, end: int) -> None:
        while len(open_ones) > upto:
            tag = open_ones.pop()
            last = len(open_ones) == upto
            found.append(_element(tag, inside_end, end if last else inside_end, jsx_parts))

    for tag in _TAG.finditer(source):
        name = tag["name"]
        if name is None or any(start <= tag.start() < end for start, end in hidden):
            continue
        if tag["close"]:
            match = next((at for at in range(len(open_ones) - 1, -1, -1) if open_ones[at]["name"] == name), None)
            if match is not None:
                close(match, tag.start(), tag.end())
        elif tag["empty"] or name.lower() in VOID:
            found.append(_element(tag, tag.end(), tag.end(), jsx_parts))
        else:
            open_ones.append(tag)
    close(0, len(source), len(source))
    return sorted(found, key=lambda element: element.start)


def inner(source: str, outer: Element) -> Iterator[Element]:
    """The elements within another."""
    return (each for each in elements(source) if outer.start < each.start and each.end <= outer.inside_end)


def plain(markup: str) -> str:
    """The words in a piece of markup."""
    return " ".join(unescape(_MARKUP.sub(" ", markup)).split())


def like(element: Element, other: Element) -> bool:
    """The same start tag, as far as a browser's view of it tells."""
    return element.name.lower() == other.name.lower() and _shown(element) == _shown(other)


def with_style(source: str, element: Element, name: str, value: str) -> str:
    """The source with one more declaration at the element."""
    tag = source[element.start : element.inside]
    if element.jsx:
        return source[: element.start] + _jsx_style(tag, name, value) + source[element.inside :]
    declaration = f"{name}: {value}"
    styled = re.search(r"(\sstyle\s*=\s*)([\"'])(.*?)\2", tag, re.DOTALL)
    if styled is None:
        at = len(tag) - (2 if tag.endswith("/>") else 1)
        new = f'{tag[:at].rstrip()} style="{escape(declaration)}"{" /" if tag.endswith("/>") else ""}>'
    else:
        kept = [
            part.strip() for part in styled[3].split(";") if part.strip() and part.partition(":")[0].strip() != name
        ]
        inside = "; ".join([*kept, escape(declaration)])
        new = f"{tag[: styled.start()]}{styled[1]}{styled[2]}{inside}{styled[2]}{tag[styled.end() :]}"
    return source[: element.start] + new + source[element.inside :]


def with_text(source: str, element: Element, text: str) -> str:
    """The source with other words in the element."""
    words = _jsx_text(text) if element.jsx else escape(text, quote=False)
    return source[: element.inside] + words + source[element.inside_end :]


def without(source: str, element: Element) -> str:
    """The source without the element, and without the line that it had for itself."""
    start, end = _lines(source, element)
    return source[:start] + source[end:]


def doubled(source: str, element: Element) -> str:
    """The source with the element twice. An id stays with the first."""
    start, end = _lines(source, element)
    piece = source[start:end]
    copy = re.sub(r"(\s)id\s*=\s*(?:\"[^\"]*\"|'[^']*')", "", piece, count=1) if "id" in element.attributes else piece
    return source[:end] + copy + source[end:]


def _hidden(source: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where no elements are (styles, scripts), and where they are written as JSX."""
    hidden: list[tuple[int, int]] = []
    jsx: list[tuple[int, int]] = []
    for raw in _RAW.finditer(source):
        (jsx if "text/babel" in raw["how"] else hidden).append(raw.span("inside"))
    return hidden, jsx


def _element(tag: re.Match[str], inside_end: int, end: int, jsx: list[tuple[int, int]]) -> Element:
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(tag["attributes"]):
        key, value = str(found[1]).lower(), found[2] or ""
        attributes[_NAMES.get(key, key)] = unescape(value.strip("\"'") if value[:1] in "\"'" else value)
    inside = any(start <= tag.start() < stop for start, stop in jsx)
    return Element(tag["name"], attributes, tag.start(), tag.end(), inside_end, end, inside)


def _shown(element: Element) -> dict[str, str]:
    kept = {name: " ".join(value.split()) for name, value in element.attributes.items() if name not in _IGNORED}
    return {name: value for name, value in kept.items() if not value.startswith("{")}


def _lines(source: str, element: Element) -> tuple[int, int]:
    """From its start to its end, with the whole of its lines if nothing else is on them."""
    start = source.rfind("\n", 0, element.start) + 1
    stop = source.find("\n", element.end)
    stop = len(source) if stop < 0 else stop + 1
    alone = not source[start : element.start].strip() and not source[element.end : stop].strip()
    return (start, stop) if alone else (element.start, element.end)


def _jsx_style(tag: str, name: str, value: str) -> str:
    key = re.sub(r"-([a-z])", lambda found: found[1].upper(), name)
    entry = f'{key}: "{value}"'
    styled = re.search(r"\sstyle=\{\{(.*?)\}\}", tag, re.DOTALL)
    if styled is not None:
        kept = [pair[0] for pair in _PAIR.finditer(styled[1].strip()) if pair[1] != key]
        return f"{tag[: styled.start()]} style={{{{ {', '.join([*kept, entry])} }}}}{tag[styled.end() :]}"
    end = " />" if tag.endswith("/>") else ">"
    return f"{tag.removesuffix('>').removesuffix('/').rstrip()} style={{{{ {entry} }}}}{end}"


def _unquoted(found: re.Match[str]) -> str:
    """A string between braces as the text that it is, escaped for HTML."""
    try:
        return escape(str(json.loads(found[1])))
    except ValueError:
        return found[1]


def _jsx_text(text: str) -> str:
    return (
        "{" + json.dumps(text, ensure_ascii=False).replace("<", "\\u003c") + "}"
        if re.search(r"[{}<>&\\]", text)
        else text
    )
