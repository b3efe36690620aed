"""Reads the design system of a page on the web: its style sheets, and the values that they use most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import FetchedResponse, WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.design.reading import DesignReading, read_files
from heald_studio.design.style_variables import StyleVariables, declarations, read_style_variables
from heald_studio.design.token import DesignToken, TokenKind, as_colour, is_length, make_token, split_commas

MAX_SHEETS = 12
_MAX_SHEET = 2_000_000
_ENOUGH = 3  # variables of a kind from which on the values that are used most are not needed
_MOST: dict[TokenKind, int] = {"color": 16, "font": 4, "size": 10, "space": 12, "radius": 6}
_IMPORT = lazy_pattern(r"@import\s+(?:url\(\s*)?[\"']?([^\"')\s;]+)")
_COLOUR = lazy_pattern(r"#[0-9a-fA-F]{3,8}\b|(?:rgba?|hsla?|oklch|oklab|lab|lch)\([^()]*\)")
_GENERIC = ("inherit", "initial", "unset", "revert")
_NAMES: dict[TokenKind, str] = {"color": "colour", "font": "font", "size": "size", "space": "space", "radius": "radius"}


async def read_web_page(url: str, fetcher: WebFetcher | None = None) -> DesignReading:
    """Read the design system of the page at an address. Raises BadInput if it cannot be fetched, or is not allowed."""
    fetcher = fetcher or WebFetcher(max_bytes=_MAX_SHEET)
    address = url if "://" in url else f"https://{url}"
    notes: list[str] = []
    try:
        page = await fetcher.fetch(address)
    except ToolFault as fault:
        raise BadInput(str(fault), fault.kind) from None
    if page.status != 200:
        raise BadInput(f"{address[:200]} answers with status {page.status}; check the address.", "not_found")
    sheets: dict[str, str] = {}
    if _is_sheet(page):
        sheets[_sheet_name(page.url)] = _text(page)
    else:
        html = _text(page)
        inline, addresses = _sheets_of(html, page.url)
        sheets["page.css"] = inline
        for number in range(MAX_SHEETS):
            if number >= len(addresses):
                break
            try:
                answer = await fetcher.fetch(addresses[number])
            except ToolFault as fault:
                notes.append(f"A style sheet was not read: {fault}")
                continue
            if answer.status == 200:
                sheets[_sheet_name(answer.url)] = _text(answer)
                addresses += [link for link in _imports(_text(answer), answer.url) if link not in addresses]
    reading = read_files(sheets, urlsplit(page.url).hostname or "Design system")
    tokens = [*reading.tokens, *_used_tokens(sheets, reading.tokens)]
    if not tokens:
        raise BadInput("The style sheets of the page name no colours, fonts or sizes; try another page.", "empty")
    sources = [page.url, *(name for name in sheets if name != "page.css")]
    return DesignReading(name=reading.name, tokens=tokens, sources=sources, notes=notes)


def _sheets_of(html: str, url: str) -> tuple[str, list[str]]:
    """Return the rules that a page holds itself, and the addresses of its style sheets."""
    inline: list[str] = []
    addresses: dict[str, None] = {}
    for tag in start_tags(html):
        if tag.name == "style" and tag.content is not None:
            inline.append(html[slice(*tag.content)])
        elif tag.name == "link" and "stylesheet" in (tag.attributes.get("rel") or "").lower().split():
            target = urljoin(url, (tag.attributes.get("href") or "").strip())
            if target.startswith(("https://", "http://")):
                addresses[target] = None
        style = tag.attributes.get("style")
        if style:
            inline.append(f"x {{ {style} }}")
    text = "\n".join(inline)
    return text, [*addresses, *(link for link in _imports(text, url) if link not in addresses)]


def _imports(text: str, url: str) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        target = urljoin(url, match[1])
        if target.startswith(("https://", "http://")):
            yield target


def _used_tokens(sheets: dict[str, str], variables_read: Iterable[DesignToken]) -> Iterator[DesignToken]:
    """Yield the values that are used most, of each kind that has hardly any variables."""
    tokens = list(variables_read)
    counts = Counter(token.kind for token in tokens)
    named = {(token.kind, token.value.lower()) for token in tokens}
    variables = read_style_variables(sheets)
    uses: dict[TokenKind, Counter[str]] = {kind: Counter() for kind in _MOST}
    for text in sheets.values():
        for blocks, name, value in declarations(text):
            if blocks and not any(block.startswith(("@font-face", "@keyframes")) for block in blocks):
                for kind, used in _values(name.lower(), value, variables):
                    if (kind, used.lower()) not in named:
                        uses[kind][used] += 1
    for kind, most in _MOST.items():
        if counts[kind] < _ENOUGH:
            for number, (value, count) in enumerate(uses[kind].most_common(most), 1):
                times = "once" if count == 1 else f"{count} times"
                yield make_token(kind, f"{_NAMES[kind]} {number}, used {times}", value)


def _values(name: str, value: str, variables: StyleVariables) -> Iterator[tuple[TokenKind, str]]:
    if len(value) > 400:
        return
    value = variables.resolve(value).replace("!important", "").strip()
    if "var(" in value or value in _GENERIC:
        return
    if name in ("color", "background", "background-color", "border", "border-color", "fill", "stroke"):
        for colour in _COLOUR.findall(value):
            if as_colour(colour):
                yield "color", colour.lower()
    elif name == "font-family":
        families = list(split_commas(value))
        if families and families[0] not in _GENERIC:
            yield "font", ", ".join(families)
    elif name == "font-size" and is_length(value) and value != "0":
        yield "size", value
    elif name == "border-radius" and is_length(value) and value != "0":
        yield "radius", value
    elif re.fullmatch(r"(?:padding|margin)(?:-\w+)*|(?:row-|column-)?gap", name):
        for part in value.split():
            if is_length(part) and re.match(r"[1-9.]", part) and not part.endswith("%"):
                yield "space", part


def _is_sheet(page: FetchedResponse) -> bool:
    return page.content_type.startswith("text/css") or urlsplit(page.url).path.endswith(".css")


def _sheet_name(url: str) -> str:
    return url if urlsplit(url).path.endswith(".css") and "?" not in url else f"{url}#.css"


def _text(page: FetchedResponse) -> str:
    return page.body.decode("utf-8", "replace")
