"""The contents of files as text and bytes."""

from heald.tools.workspace.paths import PathFault, quote_path

_LOOK = 8192


def decode_text(content: bytes) -> str | None:
    """Decode UTF-8 text; None if the content is not text."""
    if b"\0" in content[:_LOOK]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def require_text(path: str, content: bytes) -> str:
    text = decode_text(content)
    if text is None:
        raise PathFault(f"{quote_path(path)} is not a text file (it is not UTF-8, or holds NUL bytes).", "not_text")
    return text


def encode_content(path: str, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise PathFault(
            f"The content for {quote_path(path)} holds half a character (a lone surrogate); write whole characters.",
            "not_text",
        ) from None
