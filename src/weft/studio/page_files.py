"""Judges the files of a project: whether there is a page, how it is called, and which stack it is written in."""

import re
from collections.abc import Mapping

from weft.core.markup import EndTag, StartTag, TextToken, scan_html
from weft.studio.preview import PAGE

_MAX_TITLE = 80
_MAX_SCANNED = 400_000
_HEADINGS = ("h1", "h2")
_EMPTY_TITLES = frozenset(
    ("", "document", "untitled", "title", "page", "my page", "my app", "app", "react app", "vite app", "vite + react",
     "vite + react + ts", "drawing", "index", "home")
)  # fmt: skip
_STACK_MARKS = (
    ("ionic_tailwind", re.compile(r"@ionic/core|<ion-app\b", re.I)),
    ("vue_tailwind", re.compile(r"vue(?:@3)?(?:/dist/vue|\.global)|unpkg\.com/vue|npm/vue@", re.I)),
    ("react_tailwind", re.compile(r"text/babel|react-dom(?:@|\.)", re.I)),
    ("bootstrap", re.compile(r"bootstrap(?:@\d|\.min|\.bundle)", re.I)),
    ("html_tailwind", re.compile(r"cdn\.tailwindcss\.com|@tailwindcss/browser", re.I)),
)


def has_page(files: Mapping[str, bytes], entry: str) -> bool:
    """Whether the files hold a page that a preview can show."""
    return any(files.get(path, b"").strip() for path in (entry, PAGE))


def read_title(files: Mapping[str, bytes], entry: str) -> str:
    """Read the title of the page, or its first heading if the title is missing or says nothing; else empty."""
    page = files.get(entry) or files.get(PAGE) or b""
    title, heading, inside, parts = "", "", "", list[str]()
    for token in scan_html(page.decode("utf-8", "replace")[:_MAX_SCANNED]):
        match token:
            case StartTag(name=name) if name == "title" or name in _HEADINGS:
                inside, parts = name, []
            case TextToken(text=text) if inside:
                parts.append(text)
            case EndTag(name=name) if name == inside and inside:
                words = " ".join("".join(parts).split())[:_MAX_TITLE]
                if inside == "title":
                    title = title or words
                else:
                    heading = heading or words
                inside = ""
            case _:
                pass
    return heading if title.lower() in _EMPTY_TITLES else title


def guess_stack(page: str) -> str:
    """Guess the stack of an imported page by the libraries that it loads."""
    if page.lstrip()[:2_000].lower().startswith(("<svg", "<?xml")) and "<html" not in page[:2_000].lower():
        return "svg"
    return next((name for name, mark in _STACK_MARKS if mark.search(page)), "html_css")
