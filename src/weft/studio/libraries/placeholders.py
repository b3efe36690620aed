"""Placeholder pictures, drawn here instead of fetched: the size and the words that the address asks for."""

import re
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

HOSTS = ("dummyimage.com", "fakeimg.pl", "picsum.photos", "placehold.co", "placekitten.com", "via.placeholder.com")

_SIZE = re.compile(r"(\d{1,4})(?:(?:[xX]|/(?=\d{1,4}(?:[/.]|$)))(\d{1,4}))?(?!\d)")
_COLOUR = re.compile(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}")
_MAX_WORDS = 120


def placeholder(url: str) -> str:
    """The picture as SVG."""
    parts = urlsplit(url)
    path = re.sub(r"^(?:seed/[^/]*|id/\d+)/", "", unquote(parts.path).lstrip("/"))
    size = _SIZE.match(path)
    width = max(int(size[1]), 1) if size else 300
    height = max(int(size[2]), 1) if size and size[2] else width if size else 200
    colours = [part for part in path.split("/")[1:] if _COLOUR.fullmatch(part)] if size else []
    back, ink = (f"#{colour}" for colour in (*colours, *("dddddd", "666666")[len(colours) :])[:2])
    given = parse_qs(parts.query).get("text", [""])[0].replace("\\n", " ")[:_MAX_WORDS]
    asked = "".join(char for char in given if char.isprintable())
    words = asked or ("" if parts.hostname in ("picsum.photos", "placekitten.com") else f"{width} × {height}")
    letter = max(min(height // 3, width * 3 // (2 * max(len(words), 1)), 64), 6)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" fill="{back}"/>'
        f'<text x="50%" y="50%" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="{letter}" '
        f'fill="{ink}">{escape(words)}</text></svg>'
    )
