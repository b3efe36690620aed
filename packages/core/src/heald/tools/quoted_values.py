"""Quotes values as shortened JSON, for sentences that a model reads."""

from collections.abc import Iterable
from typing import Any

from heald.core.json import encode_text

MAX_SHOWN = 80
MAX_LISTED = 200


def quote(value: Any) -> str:
    """Return a value as shortened JSON."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return escape(encode_text(value[:MAX_SHOWN])).removesuffix('"') + '…"'
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of about {int(value.bit_length() * 0.30103)} digits"
    text = str(value) if type(value) is int else encode_text(value)
    return escape(text if len(text) <= MAX_SHOWN + 2 else text[:MAX_SHOWN] + "…")


def escape(text: str) -> str:
    """Escape unprintable characters."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def format_path(path: Iterable[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:MAX_SHOWN]}" for part in path)
    return escape(text.removeprefix(".")[:MAX_LISTED])


def quote_list(values: Iterable[Any]) -> str:
    parts: list[str] = []
    length = 0
    for value in values:
        part = quote(value)
        length += len(part) + 2
        if parts and length > MAX_LISTED:
            parts.append("…")
            break
        parts.append(part)
    return ", ".join(parts)
