"""Answers addresses of placeholder images with drawings."""

import re
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

from heald.core.lazy import lazy_pattern
from heald_studio.cdn.addresses import PHOTO_HOSTS

_SIZE = lazy_pattern(r"(\d{1,4})(?:(?:[xX]|/(?=\d{1,4}(?:[/.]|$)))(\d{1,4}))?(?!\d)")
_COLOUR = lazy_pattern(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}")
_MAX_WORDS = 120


def placeholder(url: str) -> str:
    """Draw a placeholder picture as SVG, with the size, colours and words of its address."""
    parts = urlsplit(url)
    path = re.sub(r"^(?:seed/[^/]*|id/\d+)/", "", unquote(parts.path).lstrip("/"))
    size = _SIZE.match(path)
    width = max(int(size[1]), 1) if size else 300
    height = max(int(size[2]), 1) if size and size[2] else width if size else 200
    colours = [part for part in path.split("/")[1:] if _COLOUR.fullmatch(part)] if size else []
    back, ink = (f"#{colour}" for colour in (*colours, *("dddddd", "666666")[len(colours) :])[:2])
    caption = parse_qs(parts.query).get("text", [""])[0].replace("\\n", " ")[:_MAX_WORDS]
    asked = "".join(char for char in caption if char.isprintable())
    words = asked or ("" if parts.hostname in PHOTO_HOSTS else f"{width} × {height}")
    letter = max(min(height // 3, width * 3 // (2 * max(len(words), 1)), 64), 6)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" fill="{back}"/>'
        f'<text x="50%" y="50%" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="{letter}" '
        f'fill="{ink}">{escape(words)}</text></svg>'
    )
