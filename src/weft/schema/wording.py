"""How values and choices are put into a sentence for a model: as JSON, and never long."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from weft.core.json import encode_text

_MAX_SHOWN = 80
_MAX_LISTED = 200
_MAX_COMPARED = 100

KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


def shown(value: Any) -> str:
    """A value as JSON, cut, with escapes for whatever cannot be seen."""
    if isinstance(value, str) and len(value) > _MAX_SHOWN:
        return visible(encode_text(value[:_MAX_SHOWN])).removesuffix('"') + '…"'
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of about {int(value.bit_length() * 0.30103)} digits"
    text = str(value) if type(value) is int else encode_text(value)
    return visible(text if len(text) <= _MAX_SHOWN + 2 else text[:_MAX_SHOWN] + "…")


def visible(text: str) -> str:
    """A text with escapes for what cannot be seen: strangers name properties too."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def placed(path: Iterable[str | int]) -> str:
    """A way into a value or a schema, as `steps[0].path`, cut."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:_MAX_SHOWN]}" for part in path)
    return visible(text.removeprefix(".")[:_MAX_LISTED])


def listed(values: Iterable[Any]) -> str:
    """Values as JSON with commas between them, cut."""
    parts: list[str] = []
    length = 0
    for value in values:
        part = shown(value)
        length += len(part) + 2
        if parts and length > _MAX_LISTED:
            parts.append("…")
            break
        parts.append(part)
    return ", ".join(parts)


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def kinds_named(kinds: Iterable[str]) -> str:
    return either([KINDS[kind] for kind in kinds])


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that was most likely meant."""
    found = get_close_matches(
        name[:_MAX_SHOWN].lower(), [each[:_MAX_SHOWN].lower() for each in known[:_MAX_COMPARED]], 1
    )
    if not found:
        return None
    return next(each for each in known if each[:_MAX_SHOWN].lower() == found[0])
