"""A name for a file, from words that a person or a model chose."""

import re
import unicodedata

_UNFIT = re.compile(r"[^\w.-]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MAX = 80


def safe_name(text: str, fallback: str = "project") -> str:
    """One plain name: no folder, no hidden file, nothing that a system gives a meaning of its own."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = _UNFIT.sub("-", plain)[:_MAX].strip("-._")
    return name if name and not _RESERVED.fullmatch(name) else fallback
