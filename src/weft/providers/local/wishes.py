"""Small changes in plain words: a colour, a text, a size, remove, duplicate. What is not understood whole is not done.

wishes('make "Order now" red and remove the footer')
→ Paint("red", …, Target(text="Order now")), Remove(Target(tag="footer"))
"""

import re
from dataclasses import dataclass

_OPEN, _CLOSE = "\"“‘'`«", "\"”’'`»"
_QUOTED = rf"[{_OPEN}](?P<{{0}}>[^{_CLOSE}]+)[{_CLOSE}]"
_KINDS = {
    "title": "h1",
    "heading": "h1",
    "headline": "h1",
    "header": "header",
    "footer": "footer",
    "navigation": "nav",
    "nav": "nav",
    "page": "body",
    "body": "body",
}
_THIS = r"it|this|that|(?:the|this|that)\s+(?:selected\s+|chosen\s+)?(?:element|one|thing|item|selection)"
_NOUN = r"(?:\s+(?:button|link|text|heading|title|paragraph|label|item|card|element|word|words|line|image|section))?"
_TARGET = rf"(?:{_THIS}|(?:the\s+)?{_QUOTED.format('quoted')}{_NOUN}|(?:the\s+)?(?P<kind>{'|'.join(_KINDS)}))"
_VALUE = r"#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/]+\)|[a-z]{3,20}"
_LENGTH = r"\d{1,4}(?:\.\d{1,3})?\s*(?:px|rem|em|pt|%)?"
_SIDE = r"(?P<side>background|text|font|border)?\s*(?:colou?r)?"
_SIZES = {
    "font size": "font-size",
    "text size": "font-size",
    "size": "font-size",
    "width": "width",
    "height": "height",
    "padding": "padding",
    "margin": "margin",
    "radius": "border-radius",
    "border radius": "border-radius",
    "corner radius": "border-radius",
}
_SIZE = rf"(?P<size>{'|'.join(sorted(_SIZES, key=len, reverse=True))})"
_SET = r"(?:make|set|change|turn|give|colou?r|paint)"
_FLAGS = re.IGNORECASE | re.DOTALL


@dataclass(frozen=True, slots=True)
class Target:
    """What is meant: by its text, by what it is, or (neither given) the element that was chosen."""

    text: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """Another text."""

    target: Target
    text: str


@dataclass(frozen=True, slots=True)
class Paint:
    """A colour. `side` is background, text or border; empty if it was not said."""

    target: Target
    colour: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """A property with its value."""

    target: Target
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Remove:
    target: Target


@dataclass(frozen=True, slots=True)
class Duplicate:
    target: Target


Wish = Write | Paint | Style | Remove | Duplicate

_TEXT = [
    re.compile(
        rf"(?:change|replace|rename|set|turn)\s+(?:the\s+)?(?:text\s+|word\s+|words\s+|title\s+|heading\s+)?{_QUOTED.format('quoted')}"
        rf"{_NOUN}\s+(?:to|with|by|into)\s+(?:say\s+|read\s+)?{_QUOTED.format('text')}",
        _FLAGS,
    ),
    re.compile(
        rf"(?:change|set|make)\s+(?:the\s+)?(?:text|label|wording|caption|words)(?:\s+of\s+{_TARGET})?\s+(?:to|say|read)\s+"
        rf"{_QUOTED.format('text')}",
        _FLAGS,
    ),
    re.compile(rf"(?:let|make|change|set)\s+{_TARGET}\s+(?:to\s+)?(?:to|say|read)\s+{_QUOTED.format('text')}", _FLAGS),
]
_PAINT = [
    re.compile(rf"{_SET}\s+{_TARGET}\s+{_SIDE}\s*(?:to\s+)?(?P<colour>{_VALUE})", _FLAGS),
    re.compile(
        rf"{_SET}\s+(?:the\s+)?{_SIDE}\s*(?:of\s+{_TARGET})?\s*(?:to\s+|:\s*|=\s*)?(?P<colour>{_VALUE})", _FLAGS
    ),
    re.compile(rf"{_SIDE}\s*(?:to\s+|:\s*|=\s*)?(?P<colour>{_VALUE})", _FLAGS),
]
_MEASURE = [
    re.compile(
        rf"{_SET}\s+(?:the\s+)?{_SIZE}(?:\s+of\s+{_TARGET})?\s*(?:to\s+|:\s*|=\s*)?(?P<length>{_LENGTH})", _FLAGS
    ),
    re.compile(rf"{_SET}\s+{_TARGET}\s+(?P<length>{_LENGTH})\s*(?P<way>wide|tall|high|large|big)", _FLAGS),
    re.compile(rf"{_SIZE}\s*(?:to\s+|:\s*|=\s*)?(?P<length>{_LENGTH})", _FLAGS),
]
_GROW = re.compile(
    rf"make\s+{_TARGET}\s+(?:a\s+(?:bit|little)\s+)?(?P<grow>bigger|larger|smaller|bold|bolder|italic)", _FLAGS
)
_REMOVE = re.compile(rf"(?:remove|delete|drop|take\s+out|get\s+rid\s+of)\s+{_TARGET}", _FLAGS)
_DUPLICATE = re.compile(rf"(?:duplicate|copy|clone|repeat)\s+{_TARGET}", _FLAGS)
_POLITE = re.compile(
    r"^(?:please|kindly|can you|could you|would you)[\s,]+|[\s,]*(?:please|thanks|thank you)?[\s.!?]*$", re.I
)
_AND = re.compile(
    rf"\s*(?:;|\n+|,\s*(?:and|then)\s|\sand\s(?:then\s)?|,\s)(?=(?:[^{_OPEN}{_CLOSE}]*[{_OPEN}][^{_CLOSE}]*[{_CLOSE}])*[^{_OPEN}{_CLOSE}]*$)\s*"
)
_WAYS = {"wide": "width", "tall": "height", "high": "height", "large": "font-size", "big": "font-size"}
_GROWN = {
    "bigger": ("zoom", "1.25"),
    "larger": ("zoom", "1.25"),
    "smaller": ("zoom", "0.8"),
    "bold": ("font-weight", "700"),
    "bolder": ("font-weight", "700"),
    "italic": ("font-style", "italic"),
}
_LONGEST = 600


def wishes(words: str) -> list[Wish]:
    """All that is wished for; nothing if any of it was not understood."""
    text = _POLITE.sub("", words.strip())
    if not text or len(text) > _LONGEST:
        return []
    whole = _wish(text)
    if whole is not None:
        return [whole]
    parts = [_wish(_POLITE.sub("", part.strip())) for part in _AND.split(text) if part.strip()]
    return [part for part in parts if part is not None] if len(parts) > 1 and None not in parts else []


def _wish(text: str) -> Wish | None:
    return _write(text) or _measure(text) or _grow(text) or _paint(text) or _whole(text)


def _write(text: str) -> Wish | None:
    found = next((match for pattern in _TEXT if (match := pattern.fullmatch(text))), None)
    return Write(_target(found), found["text"].strip()) if found is not None else None


def _measure(text: str) -> Wish | None:
    found = next((match for pattern in _MEASURE if (match := pattern.fullmatch(text))), None)
    if found is None:
        return None
    groups = found.groupdict()
    name = _WAYS[groups["way"].lower()] if groups.get("way") else _SIZES[" ".join(groups["size"].lower().split())]
    length = re.sub(r"\s", "", groups["length"].lower())
    return Style(_target(found), name, f"{length}px" if length[-1].isdigit() else length)


def _grow(text: str) -> Wish | None:
    found = _GROW.fullmatch(text)
    return Style(_target(found), *_GROWN[found["grow"].lower()]) if found is not None else None


def _paint(text: str) -> Wish | None:
    for pattern in _PAINT:
        found = pattern.fullmatch(text)
        if found is not None and (colour := _colour(found["colour"])):
            return Paint(_target(found), colour, (found["side"] or "").lower().replace("font", "text"))
    return None


def _whole(text: str) -> Wish | None:
    if (found := _REMOVE.fullmatch(text)) is not None:
        return Remove(_target(found))
    if (found := _DUPLICATE.fullmatch(text)) is not None:
        return Duplicate(_target(found))
    return None


def _colour(word: str) -> str:
    """A colour as CSS knows it; empty if it is none."""
    from PIL.ImageColor import colormap

    plain = " ".join(word.lower().split())
    if plain.startswith("#"):
        return plain if len(plain) in (4, 5, 7, 9) else ""
    if "(" in plain:
        return plain
    return plain if plain in colormap or plain == "transparent" else ""


def _target(found: re.Match[str]) -> Target:
    groups = found.groupdict()
    kind = (groups.get("kind") or "").lower()
    return Target(text=(groups.get("quoted") or "").strip(), tag=_KINDS.get(kind, ""))
