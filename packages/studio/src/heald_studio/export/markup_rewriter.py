"""Rewrites the tags of a page."""

import re
from collections.abc import Mapping
from html import escape

from heald.core.lazy import lazy_pattern
from heald.core.markup import StartTag, start_tags

_HEAD = lazy_pattern(r"<head\b[^>]{0,2000}>", re.IGNORECASE)
_HTML = lazy_pattern(r"<html\b[^>]{0,2000}>|<!doctype[^>]{0,2000}>", re.IGNORECASE)


class MarkupRewriter:
    """Rewrites tags of a page. What a subclass does not change is copied exactly."""

    def __init__(self, page: str) -> None:
        self.page = page

    def rewrite(self) -> str:
        out: list[str] = []
        at = 0
        for tag in start_tags(self.page):
            out.append(self.page[at : tag.start])
            if tag.name in ("script", "style") and tag.content is not None:
                out.append(self.rewrite_raw(tag, self.page[slice(*tag.content)]))
                at = tag.close
            else:
                out.append(self.rewrite_tag(tag))
                at = tag.end
        out.append(self.page[at:])
        return "".join(out)

    def rewrite_tag(self, tag: StartTag) -> str:
        return self.tag_source(tag)

    def rewrite_raw(self, tag: StartTag, text: str) -> str:
        return self.page[tag.start : tag.close]

    def tag_source(self, tag: StartTag) -> str:
        return self.page[tag.start : tag.end]

    def change_attributes(self, tag: StartTag, changes: Mapping[str, str], *, drop: tuple[str, ...] = ()) -> str:
        """Set or drop attributes of a start tag; the others stay as written."""
        out: list[str] = []
        at = tag.start
        for key, start, end in tag.spans:
            if key not in changes and key not in drop:
                continue
            before = self.page[at:start]
            if key in drop:
                out.append(before.rstrip())
            else:
                out.append(f'{before}{self.page[start : start + len(key)]}="{escape(changes[key])}"')
            at = end
        out.append(self.page[at : tag.end])
        return "".join(out)


def insert_in_head(html: str, text: str) -> str:
    """Insert a text at the start of the page's head, before any script."""
    match = _HEAD.search(html) or _HTML.search(html)
    at = match.end() if match else 0
    return f"{html[:at]}{text}{html[at:]}"


def insert_before_body_end(html: str, text: str) -> str:
    """Insert a text at the end of the page's body."""
    at = html.lower().rfind("</body>")
    return f"{html}{text}" if at < 0 else f"{html[:at]}{text}{html[at:]}"
