"""How good a page's code is, measured: not by its looks but by how it is built."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from pathlib import PurePosixPath

import msgspec

from weft.studio.browser import MOBILE, Browser, BrowserError, Rendering, Serve, Viewport
from weft.studio.evaluate.checkers import Checkers
from weft.studio.evaluate.conversion import Files
from weft.studio.stacks.stack import Stack

_CODE = (".html", ".htm", ".css", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".json", ".md")
_EMBEDDED = re.compile(r"data:[a-z]+/[^\"'()<>\s]{64,}")
_PROBE = (resources("weft.studio.evaluate") / "probe.js").read_text("utf-8").partition("\n")[2].rstrip()
_AXE = """async () => {
%s
;const found = await axe.run(document, {resultTypes: ["violations"], iframes: false});
return found.violations.map(each => ({rule: each.id, impact: each.impact || "", nodes: each.nodes.length}));
}"""
_GRAVE = ("serious", "critical")
_MAX_FAULTS = 40


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    elements: int
    positioned: float
    """Share of elements that are positioned absolutely (or fixed) instead of laid out."""
    overflow: int
    """CSS pixels by which the page is too wide for a phone of 375."""
    controls: int
    unlabelled: int
    """Controls that have no name; a placeholder is none."""
    headings_in_order: bool
    """There is a first-level heading, and none is more than one level below the one before it."""
    size: int
    """Bytes of all files, without pictures and fonts, embedded ones too, and without what every project starts with."""
    axe: int | None = None
    """Rules of accessibility that are broken seriously or critically; None if not measured."""
    invalid: int | None = None
    """Faults by the HTML standard; None if not measured."""
    faults: tuple[str, ...] = ()


class _Built(msgspec.Struct):
    elements: int
    positioned: int
    controls: int
    bare: list[str]
    headings: list[int]


class _Violation(msgspec.Struct):
    rule: str
    impact: str
    nodes: int


async def examine(
    browser: Browser, serve: Serve, stack: Stack, files: Files, viewport: Viewport, checkers: Checkers
) -> tuple[Rendering, Quality]:
    """The page as it looks in the viewport, and its quality. Raises BrowserError if it cannot be rendered."""
    seen = await browser.render(serve, viewport=viewport, mobile=viewport.width < 600, probe=_PROBE)
    built = msgspec.convert(seen.probed, _Built, strict=False)
    phone = await browser.render(serve, viewport=MOBILE, mobile=True, full_page=False)
    violations = await _violations(browser, serve, viewport, checkers)
    invalid = await _invalid(stack, files, checkers)
    grave = [each for each in violations or () if each.impact in _GRAVE]
    faults = [f"axe, {each.impact}: {each.rule} ({each.nodes})" for each in grave]
    faults += [f"html: {each}" for each in invalid or ()]
    faults += [f"no label: {each}" for each in built.bare]
    quality = Quality(
        elements=built.elements,
        positioned=built.positioned / max(1, built.elements),
        overflow=phone.overflow,
        controls=built.controls,
        unlabelled=len(built.bare),
        headings_in_order=in_order(built.headings),
        size=size_of(files, stack.scaffold, stack.entry),
        axe=None if violations is None else len(grave),
        invalid=None if invalid is None else len(invalid),
        faults=tuple(faults[:_MAX_FAULTS]),
    )
    return seen, quality


def in_order(levels: Sequence[int]) -> bool:
    """A page without headings has none out of order."""
    if not levels:
        return True
    steps = zip((1, *levels), levels, strict=False)
    return 1 in levels and all(level <= before + 1 for before, level in steps)


def size_of(files: Files, scaffold: Mapping[str, str], entry: str) -> int:
    """Bytes of code: files that the scaffold has unchanged, and whatever is no code, do not count."""
    total = 0
    for path, content in files.items():
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        is_code = path == entry or PurePosixPath(path).suffix.lower() in _CODE
        if is_code and scaffold.get(path) != text:
            total += len(_EMBEDDED.sub("data:,", text).encode("utf-8", "replace"))
    return total


async def _violations(
    browser: Browser, serve: Serve, viewport: Viewport, checkers: Checkers
) -> list[_Violation] | None:
    if not checkers.axe:
        return None
    try:
        seen = await browser.render(serve, viewport=viewport, full_page=False, probe=_AXE % checkers.axe)
        return msgspec.convert(seen.probed, list[_Violation])
    except (BrowserError, msgspec.ValidationError):
        return None


async def _invalid(stack: Stack, files: Files, checkers: Checkers) -> tuple[str, ...] | None:
    """Faults of the file that the page starts from, as it was written."""
    entry = files.get(stack.entry)
    if entry is None or not stack.entry.endswith((".html", ".htm")):
        return None
    return await checkers.faults(entry if isinstance(entry, str) else entry.decode("utf-8", "replace"))
