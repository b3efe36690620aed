"""Measures the quality of a page's code: layout, accessibility, validity and size."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from pathlib import PurePosixPath

import msgspec

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import BrowserError, Rendering, Serve, Viewport
from heald_studio.evaluate.checkers import Checkers
from heald_studio.evaluate.document_figures import with_document
from heald_studio.evaluate.page_parts import with_parts
from heald_studio.stacks.stack import Stack

Files = Mapping[str, str | bytes]
"""The files of a project by their paths."""

_CODE = (".html", ".htm", ".css", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".svelte", ".astro", ".json", ".md")
_EMBEDDED = re.compile(r"data:[a-z]+/[^\"'()<>\s]{64,}")
_STRUCTURE = (resources("heald_studio.evaluate") / "probe.js").read_text("utf-8").partition("\n")[2].rstrip()
_PROBE = with_document(with_parts(_STRUCTURE))
_AXE_SCRIPT = """async () => {
%s
;const found = await axe.run(document, {resultTypes: ["violations"], iframes: false});
return found.violations.map(each => ({rule: each.id, impact: each.impact || "", nodes: each.nodes.length}));
}"""
WIDTHS = (360, 390, 768, 1024, 1280, 1440, 1920, 2560)  # CSS pixels
PHONE = 600  # the width in CSS pixels below which a page is rendered as on a phone
_SERIOUS = ("serious", "critical")
_MAX_FAULTS = 40


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    elements: int
    positioned: float
    """Share of elements that are positioned absolutely (or fixed) instead of laid out."""
    overflow: int
    """CSS pixels by which the page is wider than the screen, at the worst of the widths from 360 to 2560."""
    controls: int
    unlabelled: int
    """Controls without a label; a placeholder is not a label."""
    headings_in_order: bool
    """There is a first-level heading, and none is more than one level below the one before it."""
    size: int
    """Bytes of code, without pictures, fonts, embedded data and the unchanged scaffold."""
    overlaid: float = 0.0
    """Share of elements that cover a part of an earlier sibling."""
    once: float = 0.0
    """Share of classes that one element alone has."""
    axe: int | None = None
    """Serious and critical violations of accessibility rules; None if not measured."""
    invalid: int | None = None
    """Faults by the HTML standard; None if not measured."""
    faults: tuple[str, ...] = ()


class _PageStructure(msgspec.Struct):
    elements: int
    positioned: int
    overlaid: int
    classes: int
    once: int
    controls: int
    bare: list[str]
    levels: list[int]


class _AxeViolation(msgspec.Struct):
    rule: str
    impact: str
    nodes: int


async def measure_quality(
    browser: Browser, serve: Serve, stack: Stack, files: Files, viewport: Viewport, checkers: Checkers
) -> tuple[Rendering, Quality]:
    """Render the page and measure its quality. Raises BrowserError if it cannot be rendered."""
    rendering = await browser.render(serve, viewport=viewport, mobile=viewport.width < PHONE, probe=_PROBE)
    built = msgspec.convert(rendering.probed, _PageStructure, strict=False)
    overflow = await _widest_overflow(browser, serve)
    violations = await _run_axe(browser, serve, viewport, checkers)
    invalid = await _validate_entry(stack, files, checkers)
    grave = [violation for violation in violations or () if violation.impact in _SERIOUS]
    faults = [f"axe, {violation.impact}: {violation.rule} ({violation.nodes})" for violation in grave]
    faults += [f"html: {message}" for message in invalid or ()]
    faults += [f"no label: {control}" for control in built.bare]
    quality = Quality(
        elements=built.elements,
        positioned=built.positioned / max(1, built.elements),
        overflow=overflow,
        controls=built.controls,
        unlabelled=len(built.bare),
        headings_in_order=headings_are_in_order(built.levels),
        size=code_size(files, stack.scaffold, stack.entry),
        overlaid=built.overlaid / max(1, built.elements),
        once=built.once / max(1, built.classes),
        axe=None if violations is None else len(grave),
        invalid=None if invalid is None else len(invalid),
        faults=tuple(faults[:_MAX_FAULTS]),
    )
    return rendering, quality


async def _widest_overflow(browser: Browser, serve: Serve) -> int:
    """Return the overflow at the width where it is largest."""
    overflows: list[int] = []
    for width in WIDTHS:
        seen = await browser.render(serve, viewport=Viewport(width, 812), mobile=width < PHONE, full_page=False)
        overflows.append(seen.overflow)
    return max(overflows)


def headings_are_in_order(levels: Sequence[int]) -> bool:
    """Whether a first-level heading exists and no level is skipped. A page without headings passes."""
    if not levels:
        return True
    steps = zip((1, *levels), levels, strict=False)
    return 1 in levels and all(level <= before + 1 for before, level in steps)


def code_size(files: Files, scaffold: Mapping[str, str], entry: str) -> int:
    """Count the bytes of code, without unchanged files of the scaffold."""
    total = 0
    for path, content in files.items():
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        is_code = path == entry or PurePosixPath(path).suffix.lower() in _CODE
        if is_code and scaffold.get(path) != text:
            total += len(_EMBEDDED.sub("data:,", text).encode("utf-8", "replace"))
    return total


async def _run_axe(
    browser: Browser, serve: Serve, viewport: Viewport, checkers: Checkers
) -> list[_AxeViolation] | None:
    if not checkers.axe:
        return None
    try:
        rendering = await browser.render(serve, viewport=viewport, full_page=False, probe=_AXE_SCRIPT % checkers.axe)
        return msgspec.convert(rendering.probed, list[_AxeViolation])
    except (BrowserError, msgspec.ValidationError):
        return None


async def _validate_entry(stack: Stack, files: Files, checkers: Checkers) -> tuple[str, ...] | None:
    """Validate the entry file of the page as it was written."""
    entry = files.get(stack.entry)
    if entry is None or not stack.entry.endswith((".html", ".htm")):
        return None
    return await checkers.validate_html(entry if isinstance(entry, str) else entry.decode("utf-8", "replace"))
