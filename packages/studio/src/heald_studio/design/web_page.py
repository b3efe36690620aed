"""Reads the design system of a page on the web: its style sheets, and the values that they use most."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from heald.core.lazy import lazy_pattern
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.design.page_sheets import PageSheets
from heald_studio.design.reading import DesignReading, read_sheets
from heald_studio.design.style_variables import declarations, is_dark, is_printed, read_style_variables
from heald_studio.design.token import DesignToken, TokenKind, as_colour, is_length, make_token, split_commas

_MAX_SHEET = 2_000_000
_ENOUGH = 3  # variables of a kind from which on the values that are used most are not needed
_MOST: dict[TokenKind, int] = {"color": 16, "font": 4, "size": 10, "space": 12, "radius": 6}
_COLOURED = lazy_pattern(r"color|background(?:-color)?|(?:border|outline)(?:-[a-z]+)*(?<!-radius)|fill|stroke")
_COLOUR = lazy_pattern(
    r"#[0-9a-fA-F]{3,8}\b|(?:rgba?|hsla?|oklch|oklab|lab|lch)\([^()]*\)|(?<![\w-])[a-zA-Z]+(?![\w(-])"
)
_ADDRESS = lazy_pattern(r"url\([^()]*\)", re.IGNORECASE)
_SHORTHAND = lazy_pattern(
    r"(?:^|\s)(?P<size>[\d.]+(?:px|rem|em|pt|%))(?:\s*/\s*[^\s,]+)?\s+(?P<families>\D.*)$", re.DOTALL
)
_NOT_STYLES = ("@font-face", "@keyframes", "@property")
_GENERIC = ("inherit", "initial", "unset", "revert")
_NAMES: dict[TokenKind, str] = {"color": "colour", "font": "font", "size": "size", "space": "space", "radius": "radius"}


async def read_web_page(url: str, fetcher: WebFetcher | None = None) -> DesignReading:
    """Read the design system of the page at an address. Raises BadInput if it cannot be fetched, or is not allowed."""
    fetcher = fetcher or WebFetcher(max_bytes=_MAX_SHEET)
    address = url if "://" in url else f"https://{url}"
    try:
        page = await fetcher.fetch(address)
    except ToolFault as fault:
        raise BadInput(str(fault), fault.kind) from None
    if page.status != 200:
        raise BadInput(f"{address[:200]} answers with status {page.status}; check the address.", "not_found")
    loaded = PageSheets(fetcher)
    text = page.body.decode("utf-8", "replace")
    if page.content_type.startswith("text/css") or urlsplit(page.url).path.endswith(".css"):
        await loaded.add_sheet(text, page.url, page.url)
    else:
        await loaded.add_page(text, page.url)
    sheets = {f"{number}.css": sheet.text for number, sheet in enumerate(loaded.sheets)}
    variables = read_sheets(sheets)
    tokens = [*variables, *_used_tokens(sheets, variables)]
    if not tokens:
        reason = loaded.notes[0] if loaded.notes else "Its styles may be made by scripts."
        raise BadInput(f"The page names no colours, fonts or sizes. {reason} Try another page.", "empty")
    sources = dict.fromkeys([page.url, *(sheet.address for sheet in loaded.sheets if sheet.address)])
    name = urlsplit(page.url).hostname or "Design system"
    return DesignReading(name=name, tokens=tokens, sources=list(sources), notes=loaded.notes)


def _used_tokens(sheets: dict[str, str], variables_read: Iterable[DesignToken]) -> Iterator[DesignToken]:
    """Yield the values that are used most, of each kind that has hardly any variables. Dark colours are apart."""
    tokens = list(variables_read)
    counts = Counter(token.kind for token in tokens)
    named = {(token.kind, token.value.lower()) for token in tokens}
    variables = read_style_variables(sheets, is_cascade=True)
    uses: dict[tuple[TokenKind, str], Counter[str]] = {}
    for text in sheets.values():
        for blocks, name, value in declarations(text):
            if not blocks or is_printed(blocks) or any(block.startswith(_NOT_STYLES) for block in blocks):
                continue
            mode = "dark" if is_dark(blocks) else ""
            for kind, used in _values(name.lower(), variables.resolve(value, mode)):
                if (kind, used.lower()) not in named:
                    uses.setdefault((kind, mode if kind == "color" else ""), Counter())[used] += 1
    for kind, most in _MOST.items():
        for mode in ("", "dark"):
            usual = uses.get((kind, mode), Counter[str]())
            if counts[kind] < _ENOUGH:
                for number, (value, count) in enumerate(usual.most_common(most), 1):
                    times = "once" if count == 1 else f"{count} times"
                    yield make_token(kind, f"{_NAMES[kind]} {number}, used {times}", value, mode)


def _values(name: str, value: str) -> Iterator[tuple[TokenKind, str]]:
    """Yield the values of a declaration whose variables are replaced."""
    value = value.replace("!important", "").strip()
    if len(value) > 400 or "var(" in value or value in _GENERIC:
        return
    if _COLOURED.fullmatch(name):
        for colour in _COLOUR.findall(_ADDRESS.sub("", value)):
            if as_colour(colour):
                yield "color", colour.lower()
    elif name == "font":
        if parts := _SHORTHAND.search(value):
            yield from _values("font-size", parts["size"])
            yield from _values("font-family", parts["families"])
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
