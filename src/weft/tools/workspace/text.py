"""What counts as text: UTF-8 without a NUL near its start. A byte order mark is kept as it is."""

from weft.tools.workspace.base import PathFault
from weft.tools.workspace.paths import shown

_LOOK = 8192


def decoded(content: bytes) -> str | None:
    """The content as text, or None if it is none."""
    if b"\0" in content[:_LOOK]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def text_of(path: str, content: bytes) -> str:
    text = decoded(content)
    if text is None:
        raise PathFault(f"{shown(path)} is not a text file (it is not UTF-8, or holds NUL bytes).", "not_text")
    return text


def bytes_of(path: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise PathFault(
            f"The content for {shown(path)} holds half a character (a lone surrogate); write whole characters.",
            "not_text",
        ) from None
