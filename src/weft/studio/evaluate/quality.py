"""Measures the quality of a page's code: layout, accessibility, validity and size; and compares its links, controls,
icons and photographs with those of the document that was rendered."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec

from weft.core.errors import ConfigurationError
from weft.studio.browser.browser import Browser
from weft.studio.browser.page import BrowserError, Rendering, Serve, Viewport
from weft.studio.stack import Stack

PARTS_PROBE = (resources("weft.studio.evaluate") / "parts.js").read_text("utf-8").partition("\n")[2].rstrip()
PartKind = Literal["link", "button", "field", "select", "checkbox", "radio", "range", "icon", "photo"]
_PRESSED = frozenset({"link", "button"})  # a link that looks like a button cannot be known from its picture
_CONTROLS = frozenset({"button", "field", "select", "checkbox", "radio", "range"})
_STATES = frozenset({"checkbox", "radio"})
_COMMON = 0.5  # of the smaller of two boxes, by which they are in the same place


class PagePart(msgspec.Struct, frozen=True):
    """A part of a page: its kind, its box in CSS pixels, and what is known of it."""

    kind: PartKind
    box: tuple[float, float, float, float]
    on: bool = False
    """A check box or radio button is chosen."""
    drawn: bool = False
    """An icon is vector graphics."""
    named: bool = False
    """A photograph has an alternative text."""


class PartFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Shares from 0 to 1 of the document's parts that a page has too; None if the document has none."""

    links: float | None = None
    controls: float | None = None
    """Controls of the same kind, and of the same state if they have one."""
    icons: float | None = None
    """Icons that are vector graphics, of those that are vector graphics in the document."""
    alts: float | None = None
    """Photographs that have an alternative text, of those that have one in the document."""
    invented: float | None = None
    """Links and buttons of the page that are neither in the document."""


class _Probed(msgspec.Struct):
    parts: tuple[PagePart, ...] = ()


def read_parts(probed: Any) -> tuple[PagePart, ...]:
    """Return the parts in the result of a probe."""
    return msgspec.convert(probed, _Probed).parts


def with_parts(probe: str) -> str:
    """Return a probe that also lists the parts of the page."""
    return f"() => ({{ ...({probe})(), ...({PARTS_PROBE})() }})"


def compare_parts(document: Sequence[PagePart], page: Sequence[PagePart]) -> PartFigures:
    """Compare a page with the document whose picture it was made from."""
    links = [part for part in document if part.kind == "link"]
    controls = [part for part in document if part.kind in _CONTROLS]
    pressed = [part for part in page if part.kind in _PRESSED]
    icons = [part for part in document if part.kind == "icon" and part.drawn]  # a small photograph of a face is none
    named = [part for part in document if part.kind == "photo" and part.named]
    known = _share(pressed, [*links, *controls])
    return PartFigures(
        links=_share(links, pressed),
        controls=_share(controls, page, _is_same_control),
        icons=_share(icons, _of_kind(page, "icon"), lambda _one, two: two.drawn),
        alts=_share(named, _of_kind(page, "photo"), lambda _one, two: two.named),
        invented=None if known is None else 1 - known,
    )


def _of_kind(parts: Sequence[PagePart], kind: PartKind) -> list[PagePart]:
    return [part for part in parts if part.kind == kind]


def _is_same_control(one: PagePart, two: PagePart) -> bool:
    if one.kind in _PRESSED:
        return two.kind in _PRESSED
    return one.kind == two.kind and (one.kind not in _STATES or one.on == two.on)


def _share(
    wanted: Sequence[PagePart],
    found: Sequence[PagePart],
    fits: Callable[[PagePart, PagePart], bool] = lambda _one, _two: True,
) -> float | None:
    if not wanted:
        return None
    return sum(any(_is_there(one, two) and fits(one, two) for two in found) for one in wanted) / len(wanted)


def _is_there(one: PagePart, two: PagePart) -> bool:
    """Whether two parts are in the same place: a good part of the smaller lies in the other."""
    x, y, w, h = one.box
    left, top, wide, high = two.box
    across = min(x + w, left + wide) - max(x, left)
    down = min(y + h, top + high) - max(y, top)
    return across > 0 and down > 0 and across * down >= _COMMON * min(w * h, wide * high)


# --- quality ---------------------------------------------------------------------------------------------------------


VARIABLE = "WEFT_EVAL_TOOLS"
_AXE_FILE = "node_modules/axe-core/axe.min.js"
_VALIDATOR_FILE = "node_modules/html-validate/bin/html-validate.mjs"
_VALIDATOR_SECONDS = 60.0
_MAX_MESSAGES = 200


class _Message(msgspec.Struct):
    rule: str = msgspec.field(name="ruleId")
    message: str
    severity: int
    line: int = 0


class _File(msgspec.Struct):
    messages: list[_Message]


class Checkers(msgspec.Struct, frozen=True):
    """Optional programs that judge the code of a page: axe-core for accessibility, html-validate for HTML.

    Both are npm packages in the `node_modules` of a folder, which WEFT_EVAL_TOOLS or a parameter names. Without them
    their columns are not measured.
    """

    axe: str = ""
    """The source of the script."""
    node: str = ""
    validator: Path | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """One sentence for each missing program."""
        hint = f"install it with npm and name the folder in {VARIABLE}"
        lacking: list[str] = []
        if not self.axe:
            lacking.append(f"Accessibility was not measured: axe-core was not found; {hint}.")
        if not self.can_validate:
            lacking.append(f"Validity was not measured: node or html-validate was not found; {hint}.")
        return tuple(lacking)

    @property
    def can_validate(self) -> bool:
        return bool(self.node and self.validator)

    async def validate_html(self, html: str) -> tuple[str, ...] | None:
        """Return the faults of a page by the HTML standard; None if they could not be measured."""
        if self.validator is None or not self.node:
            return None
        command = (self.node, str(self.validator), "--stdin", "--preset=standard", "--formatter=json")
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.validator.parent,
            env={"PATH": os.environ.get("PATH", "")},
        )
        try:
            async with asyncio.timeout(_VALIDATOR_SECONDS):
                output, _ = await process.communicate(_without_directives(html).encode("utf-8", "replace"))
            files = msgspec.json.decode(output, type=list[_File])
        except (TimeoutError, msgspec.DecodeError, OSError):
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        found = [each for file in files for each in file.messages if each.severity == 2]
        return tuple(f"{each.rule} in line {each.line}: {each.message}" for each in found[:_MAX_MESSAGES])


def find_checkers(folder: Path | None = None) -> Checkers:
    """Find the checkers in the folder, else in the one that WEFT_EVAL_TOOLS names. The folder must exist."""
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else None)
    if folder is None:
        return Checkers()
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder.name!r} with the checkers; check {VARIABLE}.")
    axe, validator = folder / _AXE_FILE, folder / _VALIDATOR_FILE
    return Checkers(
        axe=axe.read_text("utf-8") if axe.is_file() else "",
        node=shutil.which("node") or "",
        validator=validator.resolve() if validator.is_file() else None,
    )


def _without_directives(html: str) -> str:
    """Disable comments with which a page would switch off rules."""
    return html.replace("[html-validate-", "[html-validate ")


Files = Mapping[str, str | bytes]
"""The files of a project by their paths."""

_CODE = (".html", ".htm", ".css", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".json", ".md")
_EMBEDDED = re.compile(r"data:[a-z]+/[^\"'()<>\s]{64,}")
_PROBE = with_parts((resources("weft.studio.evaluate") / "probe.js").read_text("utf-8").partition("\n")[2].rstrip())
_AXE_SCRIPT = """async () => {
%s
;const found = await axe.run(document, {resultTypes: ["violations"], iframes: false});
return found.violations.map(each => ({rule: each.id, impact: each.impact || "", nodes: each.nodes.length}));
}"""
WIDTHS = (360, 390, 768, 1024, 1280, 1440, 1920, 2560)  # CSS pixels
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
    """Controls without a label; a placeholder is no label."""
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
    headings: list[int]


class _AxeViolation(msgspec.Struct):
    rule: str
    impact: str
    nodes: int


async def measure_quality(
    browser: Browser, serve: Serve, stack: Stack, files: Files, viewport: Viewport, checkers: Checkers
) -> tuple[Rendering, Quality]:
    """Render the page and measure its quality. Raises BrowserError if it cannot be rendered."""
    rendering = await browser.render(serve, viewport=viewport, mobile=viewport.width < 600, probe=_PROBE)
    built = msgspec.convert(rendering.probed, _PageStructure, strict=False)
    overflow = await _widest_overflow(browser, serve)
    violations = await _run_axe(browser, serve, viewport, checkers)
    invalid = await _validate_entry(stack, files, checkers)
    grave = [each for each in violations or () if each.impact in _SERIOUS]
    faults = [f"axe, {each.impact}: {each.rule} ({each.nodes})" for each in grave]
    faults += [f"html: {each}" for each in invalid or ()]
    faults += [f"no label: {each}" for each in built.bare]
    quality = Quality(
        elements=built.elements,
        positioned=built.positioned / max(1, built.elements),
        overflow=overflow,
        controls=built.controls,
        unlabelled=len(built.bare),
        headings_in_order=headings_are_in_order(built.headings),
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
    found: list[int] = []
    for width in WIDTHS:
        seen = await browser.render(serve, viewport=Viewport(width, 812), mobile=width < 600, full_page=False)
        found.append(seen.overflow)
    return max(found)


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
