"""Text documents in requests: files whose content is text are sent as text where an API accepts only that."""

import base64

from heald.core.messages import File

_TEXT_TYPES = frozenset(
    {
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/csv",
        "application/javascript",
        "application/sql",
    }
)


def is_text(media_type: str) -> bool:
    kind = media_type.lower().partition(";")[0].strip()
    return kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))


def read_text_document(file: File) -> str | None:
    """Return the text of a file that holds text; None for any other file. Bytes that are not UTF-8 become U+FFFD."""
    if file.data is None or not is_text(file.media_type):
        return None
    try:
        return base64.b64decode(file.data).decode("utf-8-sig", "replace")
    except ValueError:
        return None
