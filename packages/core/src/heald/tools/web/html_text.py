"""Converts HTML to readable text with headings, links, lists, code and tables, without scripts and styles."""

import re
from itertools import islice
from urllib.parse import urljoin

from heald.core.lazy import lazy_pattern
from heald.core.markup import EndTag, StartTag, TextToken, scan_html

_IS_SKIPPED = lazy_pattern("script|style|template|svg|math|iframe|object|canvas|noembed|noframes|select").fullmatch
_IS_BLOCK = lazy_pattern(
    "address|article|aside|blockquote|body|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "h[1-6]|header|hr|html|legend|li|main|nav|ol|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul"
).fullmatch
MAX_HTML = 3_000_000
MAX_TOKENS = 300_000
"""Maximum number of tags and text nodes that are read."""
_LISTS = ("ul", "ol")
_SPACE = lazy_pattern(r"\s+")
_LINE_ENDS = lazy_pattern(r" *\n *")
_MAX_LINK = 500
_MAX_INDENT = 6


def html_to_text(html: str, base: str = "", limit: int = 400_000) -> tuple[str, str]:
    """Return the title and the text of a page. Links are resolved against `base`. Stops after `limit` characters."""
    page = _Page(base)
    for token in islice(scan_html(html[:MAX_HTML]), MAX_TOKENS):
        match token:
            case TextToken(text):
                page.text(text)
            case StartTag(name, attributes):
                page.open(name, attributes)
            case EndTag(name):
                page.close(name)
        if page.size > limit:
            break
    return page.title, page.end()


class _Page:
    """Builds the text of a page, block by block."""

    def __init__(self, base: str) -> None:
        self.title = ""
        self.size = 0
        self._base = base
        self._done: list[str] = []
        self._line: list[str] = []  # of the open block
        self._prefix = ""
        self._tight = False  # no empty line before this block
        self._link: tuple[int, str] | None = None  # start index in the line, and href
        self._lists: list[int | None] = []  # number of the last item of each open list; None for unordered lists
        self._skipping: tuple[str, int] | None = None
        self._in_title = False
        self._pre = 0

    def text(self, text: str) -> None:
        if self._skipping:
            return
        if self._in_title:
            self.title = self.title or _SPACE.sub(" ", text).strip()[:300]
        else:
            self._add(text if self._pre else _SPACE.sub(" ", text))

    def open(self, name: str, attributes: dict[str, str | None]) -> None:
        if self._skipping:
            skipped, depth = self._skipping
            self._skipping = (skipped, depth + (name == skipped))
            return
        if _IS_SKIPPED(name):
            self._skipping = (name, 1)
            return
        if _IS_BLOCK(name):
            self._finish()
        match name:
            case "title":
                self._in_title = True
            case "br":
                self._add("\n")
            case "hr":
                self._done.append("\n\n---")
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._prefix = "#" * int(name[1]) + " "
            case "blockquote":
                self._prefix = "> "
            case "ul" | "ol":
                self._lists.append(0 if name == "ol" else None)
            case "li":
                self._item()
            case "tr":
                self._tight = True
            case "td" | "th":
                if self._line:
                    self._add(" | ")
            case "pre":
                self._pre += 1
            case "code" if not self._pre:
                self._add("`")
            case "a":
                self._link = (len(self._line), attributes.get("href") or "")
            case "img" if alt := _SPACE.sub(" ", attributes.get("alt") or "").strip():
                self._add(f"[image: {alt[:300]}]")
            case _:
                pass

    def close(self, name: str) -> None:
        if self._skipping:
            skipped, depth = self._skipping
            if name == skipped:
                self._skipping = (skipped, depth - 1) if depth > 1 else None
            return
        if name == "a":
            self._end_link()
        elif name == "code" and not self._pre:
            self._add("`")
        elif name == "title":
            self._in_title = False
        elif name in _LISTS and self._lists:
            self._finish()
            self._lists.pop()
        elif name == "pre" and self._pre:
            self._finish()
            self._pre -= 1
        elif _IS_BLOCK(name):
            self._finish()

    def end(self) -> str:
        self._finish()
        return "".join(self._done).strip()

    def _add(self, text: str) -> None:
        self._line.append(text)
        self.size += len(text)

    def _item(self) -> None:
        depth = min(max(len(self._lists), 1), _MAX_INDENT)
        mark = "-"
        if self._lists and (number := self._lists[-1]) is not None:
            self._lists[-1] = number + 1
            mark = f"{number + 1}."
        self._prefix = "  " * (depth - 1) + mark + " "
        self._tight = True

    def _end_link(self) -> None:
        if self._link is None:
            return
        start, href = self._link
        self._link = None
        held = _SPACE.sub(" ", "".join(self._line[start:]))
        words = held.strip()
        where = self._whole(href)
        if words and where and not self._pre:
            self._line[start:] = [held.replace(words, f"[{words}]({where})")]
            self.size += len(where)

    def _whole(self, href: str) -> str:
        href = _SPACE.sub("", href)
        if not href or href.startswith("#") or len(href) > _MAX_LINK:
            return ""
        try:
            where = urljoin(self._base, href)
        except ValueError:
            return ""
        return where if where.startswith(("http://", "https://")) and len(where) <= _MAX_LINK else ""

    def _finish(self) -> None:
        """Finish the open block."""
        text = "".join(self._line)
        if self._pre:
            text = text.strip("\n").rstrip()
            body = f"```\n{text}\n```" if text.strip() else ""
        else:
            text = _LINE_ENDS.sub("\n", re.sub(" {2,}", " ", text)).strip()
            body = f"{self._prefix}{text}" if text.strip("|` ") else ""
        self._line = []
        self._link = None
        if not body:
            return
        self._done.append(("\n" if self._tight else "\n\n") + body)
        self._prefix, self._tight = "", False
