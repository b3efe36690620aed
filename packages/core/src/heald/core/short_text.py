"""A text as one short line, for `repr`."""

_MAX = 80


def quote(text: str, limit: int = _MAX) -> str:
    """Return a text in quotes, cut off at `limit` characters."""
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}…"
