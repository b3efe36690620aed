"""Loads the style sheets of a page on the web in the order of their cascade: the last one wins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald_studio.design.style_variables import without_comments

MAX_SHEETS = 12
_MAX_IMPORTS = 4  # sheets that import each other, one inside of the other
_IMPORT = lazy_pattern(
    r"@import\s+(?:url\(\s*)?[\"']?(?P<address>[^\"')\s;]+)[\"']?\s*\)?"
    r"(?:\s*(?:layer|supports)(?:\([^;]*?\))?(?=[\s;]|$))*(?P<media>[^;]*)"
)
_SCREEN = lazy_pattern(r"(?:only\s+)?(?:all|screen)?", re.IGNORECASE)
_PAPER = lazy_pattern(r"(?:only\s+)?(?:print|speech)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageSheet:
    """A style sheet. Its text is inside of the media query that it is loaded with, if there is one."""

    address: str
    """Empty for the rules that stand in the page itself."""
    text: str


class PageSheets:
    """The style sheets of a page as they are loaded, and notes on those that could not be."""

    def __init__(self, fetcher: WebFetcher) -> None:
        self._fetcher = fetcher
        self._addresses: set[str] = set()
        self.sheets: list[PageSheet] = []
        self.notes: list[str] = []

    async def add_page(self, html: str, url: str) -> None:
        """Load the sheets that a page holds or links to."""
        base = url
        attributes: list[str] = []
        for tag in start_tags(html):
            media = tag.attributes.get("media") or ""
            address = (tag.attributes.get("href") or "").strip()
            if tag.name == "base" and address and base == url:
                base = urljoin(url, address)
            elif tag.name == "style" and tag.content is not None:
                await self.add_sheet(html[slice(*tag.content)], "", base, media)
            elif tag.name == "link" and _is_applied((tag.attributes.get("rel") or "").lower().split()):
                await self._load(urljoin(base, address), media)
            style = tag.attributes.get("style")
            if style:
                attributes.append(f"x {{ {style} }}")
        if attributes:
            self.sheets.append(PageSheet("", "\n".join(attributes)))

    async def add_sheet(self, text: str, address: str, base: str, media: str = "", depth: int = 0) -> None:
        """Add a sheet behind those that it imports. Sheets for print and speech are left out."""
        media = media.strip()
        if _PAPER.match(media):
            return
        if depth < _MAX_IMPORTS:
            for target, condition in _imports(text, base):
                await self._load(target, " and ".join(filter(None, (media, condition))), depth + 1)
        self.sheets.append(PageSheet(address, text if _SCREEN.fullmatch(media) else f"@media {media} {{\n{text}\n}}"))

    async def _load(self, address: str, media: str, depth: int = 0) -> None:
        if not address.startswith(("https://", "http://")) or _PAPER.match(media.strip()):
            return
        if address in self._addresses or len(self._addresses) >= MAX_SHEETS:
            return
        self._addresses.add(address)
        try:
            answer = await self._fetcher.fetch(address)
        except ToolFault as fault:
            self.notes.append(f"A style sheet was not read: {fault}")
            return
        if answer.status != 200:
            self.notes.append(f"A style sheet was not read: {address[:200]} answers with status {answer.status}.")
            return
        await self.add_sheet(answer.body.decode("utf-8", "replace"), answer.url, answer.url, media, depth)


def _is_applied(relations: list[str]) -> bool:
    return "stylesheet" in relations and "alternate" not in relations


def _imports(text: str, base: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a sheet imports, each with its media query."""
    for match in _IMPORT.finditer(without_comments(text)):
        media = match["media"].strip()
        yield urljoin(base, match["address"]), "" if _SCREEN.fullmatch(media) else media
