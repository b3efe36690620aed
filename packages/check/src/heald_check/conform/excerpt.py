"""Shortens what a server sent to a printable line, with keys masked."""

from heald.wires.errors import mask_keys

_SHOWN = 100


def printable(text: str) -> str:
    """Replace control characters and what cannot be encoded."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def excerpt(text: str | bytes, width: int = _SHOWN) -> str:
    """Shorten what a server sent to one printable line, with keys masked."""
    if isinstance(text, bytes):
        text = text[: 8 * width].decode("utf-8", "replace")
    line = printable(" ".join(mask_keys(text[: 8 * width]).split()))
    return line if len(line) <= width else f"{line[: width - 1]}…"


def quoted(text: str | bytes, width: int = _SHOWN) -> str:
    return f"“{excerpt(text, width)}”"
