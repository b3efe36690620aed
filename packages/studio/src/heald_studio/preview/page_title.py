"""Reads the title of a page."""

from collections.abc import Mapping

from heald.core.markup import EndTag, StartTag, TextToken, scan_html
from heald_studio.preview.preview import PAGE
from heald_studio.preview.routes import has_routes

_MAX_TITLE = 80
_MAX_SCANNED = 400_000
_HEADINGS = ("h1", "h2")
_EMPTY_TITLES = frozenset(
    ("", "document", "untitled", "title", "page", "my page", "my app", "app", "react app", "vite app", "vite + react",
     "vite + react + ts", "drawing", "index", "home")
)  # fmt: skip


def read_title(files: Mapping[str, bytes], entry: str) -> str:
    """Read the title of the page, or its first heading if the title is missing or generic; else empty."""
    page = files.get(entry) or files.get(PAGE) or b""
    is_code = has_routes(entry)  # in which braces hold expressions
    title, heading, inside, parts = "", "", "", list[str]()
    for token in scan_html(page.decode("utf-8", "replace")[:_MAX_SCANNED]):
        match token:
            case StartTag(name=name) if name == "title" or name in _HEADINGS:
                inside, parts = name, []
            case TextToken(text=text) if inside:
                parts.append(text)
            case EndTag(name=name) if name == inside and inside:
                words = " ".join("".join(parts).split())[:_MAX_TITLE]
                words = "" if is_code and "{" in words else words
                if inside == "title":
                    title = title or words
                else:
                    heading = heading or words
                inside = ""
            case _:
                pass
    return heading if title.lower() in _EMPTY_TITLES else title
