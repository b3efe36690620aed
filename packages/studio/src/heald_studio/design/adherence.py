"""Scores how far a page keeps to a design system: the share of its values that are tokens, and those that are not."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

import msgspec

from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import ORIGIN, BrowserError, Viewport
from heald_studio.browser.render import RenderRequest, wait_stable
from heald_studio.browser.tab import Tab
from heald_studio.design.design_text import tokens_by_kind
from heald_studio.design.token import KINDS, DesignToken, TokenKind, split_commas
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.stacks.stack import Stack

_SCRIPT = (files("heald_studio.design") / "page_values.js").read_text("utf-8").partition("\n(tokens")[2]
_MULTIPLES = " and its multiples"
_MAX_ELEMENTS = 8_000
_MAX_STRAYS = 100
_MAX_TOKENS = 2_000
_COLOUR_STEPS = 2  # of 255: colour spaces are rounded
_PIXELS = 0.26  # quarter pixels come from rounding
_FULL_RADIUS = 999.0  # a pill, however it is written

Measure = list[int] | float | str | None


class _Use(msgspec.Struct):
    kind: TokenKind
    property: str
    value: Measure
    count: int
    path: str
    text: str


class _PageValues(msgspec.Struct):
    tokens: list[Measure]
    uses: list[_Use]
    is_cut: bool


class KindScore(msgspec.Struct, frozen=True):
    """How many uses of one kind of value are tokens."""

    kind: TokenKind
    kept: int
    total: int

    @property
    def share(self) -> float:
        return self.kept / self.total


class StrayValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the page that is not a token."""

    kind: TokenKind
    property: str
    value: str
    count: int
    """How many elements use it."""
    path: str
    """The selector of the first one."""
    text: str
    """The beginning of its text."""
    nearest: str
    """The name of the token that is most like it, with its value if it has several; empty if there is none."""


class DesignScore(msgspec.Struct, frozen=True, kw_only=True):
    share: float | None
    """From 0 to 1: the mean of the kinds. None if the design system names no value that the page could use."""
    kinds: list[KindScore]
    strays: list[StrayValue]
    """The most frequent first."""
    is_cut: bool
    """Whether the page has more elements than were read."""


async def score_design(
    stack: Stack, project: Mapping[str, bytes], tokens: Sequence[DesignToken], page: str = ""
) -> DesignScore:
    """Render a page, and compare its values with the tokens. Raises BrowserError."""
    scales = [(token, value) for token in tokens[:_MAX_TOKENS] for value in token.values]
    arguments = [[token.kind, value.removesuffix(_MULTIPLES)] for token, value in scales]
    request = RenderRequest(ORIGIN + (page or PAGE).lstrip("/"), Viewport(1280, 800))

    async def work(tab: Tab, request: RenderRequest) -> _PageValues:
        await tab.navigate(request.url, None)
        await wait_stable(tab, request)
        try:
            return msgspec.convert(
                await tab.evaluate("(tokens" + _SCRIPT, arguments, _MAX_ELEMENTS), _PageValues, strict=False
            )
        except msgspec.ValidationError:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None

    values = await shared_browser().examine(ProjectPreview(stack, project), request, work)
    measured = [_Measured(token, value, measure) for (token, value), measure in zip(scales, values.tokens, strict=True)]
    return compare_values(values.uses, measured, is_cut=values.is_cut)


class _Measured(msgspec.Struct, frozen=True):
    """A token as the page computes it."""

    token: DesignToken
    value: str
    measure: Measure

    @property
    def has_multiples(self) -> bool:
        return self.value.endswith(_MULTIPLES)

    def describe(self, used: Measure) -> str:
        """Return its name; of a scale also the value that is nearest to one that is used."""
        if self.has_multiples and isinstance(self.measure, float | int) and isinstance(used, float | int):
            step = self.measure / 2
            return f"{self.token.name} ({round(used / step) * step:g}px)" if step > 0 else self.token.name
        return f"{self.token.name} ({self.value})" if len(self.token.values) > 1 else self.token.name


def compare_values(uses: Sequence[_Use], tokens: Sequence[_Measured], *, is_cut: bool = False) -> DesignScore:
    """Compare the values of a page with tokens. A kind without tokens is not scored."""
    named = tokens_by_kind(measured.token for measured in tokens)
    kinds: list[KindScore] = []
    strays: list[StrayValue] = []
    for kind in KINDS:
        candidates = [measured for measured in tokens if measured.token.kind == kind and measured.measure is not None]
        used = [use for use in uses if use.kind == kind and use.value is not None]
        if kind not in named or not candidates or not used:
            continue
        uses_of_tokens = 0
        for use in used:
            if any(_is_same(use.value, measured) for measured in candidates):
                uses_of_tokens += use.count
            else:
                strays.append(_stray(use, candidates))
        kinds.append(KindScore(kind, uses_of_tokens, sum(use.count for use in used)))
    share = sum(score.share for score in kinds) / len(kinds) if kinds else None
    strays.sort(key=lambda stray: -stray.count)
    return DesignScore(share=share, kinds=kinds, strays=strays[:_MAX_STRAYS], is_cut=is_cut)


def _is_same(value: Measure, token: _Measured) -> bool:
    measure = token.measure
    if isinstance(value, list):
        # A colour with some opacity is still that colour.
        return isinstance(measure, list) and all(
            abs(here - there) <= _COLOUR_STEPS for here, there in zip(value[:3], measure[:3], strict=True)
        )
    if isinstance(value, str):
        if token.token.kind == "font":
            return isinstance(measure, str) and _family(value) == _family(measure)
        return value == measure
    if not isinstance(measure, float | int) or value is None:
        return False
    if token.has_multiples and measure > 0:
        steps = value / (measure / 2)
        return abs(steps - round(steps)) * (measure / 2) <= _PIXELS / 2
    if token.token.kind == "radius" and value >= _FULL_RADIUS and measure >= _FULL_RADIUS:
        return True
    return abs(value - measure) <= _PIXELS


def _family(families: str) -> str:
    """Return the first family of a list, in one way of writing."""
    return next(split_commas(families), "").strip("\"' ").lower()


def _stray(use: _Use, candidates: Sequence[_Measured]) -> StrayValue:
    nearest = min(candidates, key=lambda measured: _distance(use.value, measured.measure))
    name = nearest.describe(use.value) if _distance(use.value, nearest.measure) < float("inf") else ""
    return StrayValue(
        kind=use.kind,
        property=use.property,
        value=_written(use.value),
        count=use.count,
        path=use.path,
        text=use.text,
        nearest=name,
    )


def _distance(value: Measure, measure: Measure) -> float:
    if isinstance(value, list) and isinstance(measure, list):
        return float(sum((here - there) ** 2 for here, there in zip(value[:3], measure[:3], strict=True)))
    if isinstance(value, float | int) and isinstance(measure, float | int):
        return abs(value - measure)
    return float("inf")


def _written(value: Measure) -> str:
    if isinstance(value, list):
        opaque = "#" + "".join(f"{part:02x}" for part in value[:3])
        return opaque if value[3] == 255 else f"{opaque}{value[3]:02x}"
    if isinstance(value, str):
        return re.sub(r"\s+", " ", value)[:200]
    return f"{value:g}px"
