"""Looks at the locked parts of a page in one tab, in many states of its surroundings, and takes pictures of them."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable, Sequence
from importlib.resources import files
from typing import Literal

import msgspec

from heald_studio.browser.browser import shared_browser
from heald_studio.browser.devtools import CommandFailed
from heald_studio.browser.page import ORIGIN, BrowserError, Serve, Viewport
from heald_studio.browser.render import RenderRequest, wait_stable
from heald_studio.browser.tab import Tab
from heald_studio.locks.page_state import USUAL_STATE, PageState
from heald_studio.projects.lock import Lock

Visit = Literal["desktop", "mobile", "provoked"]
"""How a page is loaded: as usual, as on a phone, or with everything called that waits for a time or an event."""
_SECONDS = 180.0
_TALLEST = 8_000
_MOVED = 400  # pixels from which on a part that moved down is looked at with what is above it
_ABOVE = 4_000  # how many pixels above it
_MAX_PHASES = 24
_MOBILE = PageState(width=375, height=812)


def _script(name: str, head: str) -> str:
    """Read a function without the comment above it."""
    text = (files("heald_studio.locks") / f"{name}.js").read_text("utf-8")
    return text[text.index(f"\n{head}") + 1 :].strip()


_OBSERVE = _script("observe", "(locks,")
_ALIGN = _script("align", "(lock,")
_RELEASE = _script("release", "()")
_ANIMATIONS = _script("animations", "(phase)")
_SETTLE = _script("settle", "async (quiet)")
_STEADY = _script("steady", "((provoked)")


class LockedPart(msgspec.Struct, kw_only=True):
    """A part of a page that is locked, or may be the one that is."""

    path: str
    html: str
    text: str
    inner: str
    left: float
    top: float
    width: float
    height: float
    is_visible: bool
    hits: str
    """Whether a click at five points reaches it: 1, 0, or - outside of the window."""
    flags: str
    looks: list[str]
    """What is drawn around it; for a style, how words in it are drawn."""
    styles: list[str]
    """Its styles and those of what it is in, where no picture is taken."""
    picture: bytes | None = None
    """What is drawn where it is, as PNG; None if no picture was taken."""
    place: tuple[float, float] = (0.0, 0.0)
    """Where it was, left and top, when the picture was taken."""
    picture_in_place: bytes | None = None
    """What is drawn if it is moved to where it was before the change, if that picture differs."""
    above: bytes | None = None
    """What is drawn above it, if it was asked for."""


Line = tuple[str, float, float, float, float]
"""A text on the page: its words, top, bottom, left and right."""


class Observation(msgspec.Struct, kw_only=True):
    """The locked parts of a page in one state: for each lock the elements that may be the locked one."""

    visit: Visit
    moment: str
    """When it was made, as the end of a sentence; empty for the usual state."""
    locks: list[list[LockedPart]]
    conditions: list[str]
    refreshes: list[str]
    pictures: list[str]
    lines: list[Line]
    height: float
    width: float
    failed: list[str] = []
    has_pictures: bool = True


class _Animations(msgspec.Struct):
    signatures: list[str]
    phases: int


Expect = Callable[[str], Observation | None]
"""Returns what the page showed at a moment before the change; None where that is to be found out."""
Moments = AsyncIterator[Observation]


class PageObserver:
    """Observes the parts of a page that locks name. `expect` gives what they looked like before the change."""

    def __init__(self, serve: Serve, page: str, locks: Sequence[Lock], expect: Expect | None = None) -> None:
        self._serve = serve
        self._page = page
        self._locks = locks
        self._expect = expect
        self._signatures: list[str] = []

    async def visit(
        self,
        visit: Visit,
        states: Sequence[PageState],
        *,
        animations: Sequence[str] | None = None,
        stop: Callable[[Observation], bool] = lambda _: False,
    ) -> tuple[list[Observation], list[str]]:
        """Load the page and observe it in each state, until `stop` says that it is enough.

        Returns the observations and the animations of the page. Those that are not among `animations` are looked at
        in each of their phases.
        """
        first = _MOBILE if visit == "mobile" else USUAL_STATE
        request = RenderRequest(
            ORIGIN + self._page.lstrip("/"),
            Viewport(first.width, first.height),
            mobile=visit == "mobile",
            seconds=_SECONDS,
        )
        observations: list[Observation] = []

        async def work(tab: Tab, request: RenderRequest) -> list[str]:
            observations.clear()
            async for observation in self._observe_all(tab, request, visit, states, animations):
                observations.append(observation)
                if stop(observation):
                    break
            return self._signatures

        signatures = await shared_browser().examine(self._serve, request, work)
        return observations, signatures

    async def _observe_all(
        self,
        tab: Tab,
        request: RenderRequest,
        visit: Visit,
        states: Sequence[PageState],
        animations: Sequence[str] | None,
    ) -> Moments:
        is_provoked = visit == "provoked"
        first = _MOBILE if visit == "mobile" else USUAL_STATE
        source = f"{_STEADY}({'true' if is_provoked else 'false'})"
        await tab.call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        await _emulate(tab, first, is_mobile=visit == "mobile")
        await tab.navigate(request.url, None)
        if is_provoked:  # the second visit of a page that remembers the first one
            await _when_quiet(tab, request)
            await tab.navigate(request.url, None)
        await _wait_for_page(tab, 100)
        moving = msgspec.convert(await tab.evaluate(_ANIMATIONS, None), _Animations)
        self._signatures = moving.signatures
        if animations is not None and set(moving.signatures) - set(animations):
            for phase in range(min(moving.phases, _MAX_PHASES)):
                await tab.evaluate(_ANIMATIONS, phase)
                yield await self._observe(tab, visit, first, "while an animation runs")
        await _when_quiet(tab, request)
        if is_provoked:
            for name, moment in (("passive", "after a while"), ("active", "after a click or a key")):
                await tab.evaluate(f'() => document.dispatchEvent(new Event("heald-{name}"))')
                await _wait_for_page(tab, 150)
                await _when_quiet(tab, request)
                yield await self._observe(tab, visit, USUAL_STATE, moment, with_pictures=name == "passive")
            return
        if visit == "mobile":
            yield await self._observe(tab, visit, first, "")
            return
        before = first
        for state in states:
            if state != before:
                await _emulate(tab, state, is_mobile=False)
                await _wait_for_page(tab, 60)
            before = state
            if state.is_hovered:
                for moment in range(min(len(self._locks), 4)):
                    yield await self._observe_hovered(tab, visit, state, moment)
                continue
            yield await self._observe(tab, visit, state, state.description)

    async def _observe_hovered(self, tab: Tab, visit: Visit, state: PageState, number: int) -> Observation:
        """Observe the page with the pointer in the middle of a locked part."""
        where = await self._observe(tab, visit, state, "", with_pictures=False)
        parts = where.locks[number]
        middle = parts[0].top + parts[0].height / 2 if parts else 0.0
        is_below = middle > state.height - 20
        if is_below:  # the window is made taller: a page that scrolls moves away from the pointer
            await _emulate(tab, msgspec.structs.replace(state, height=round(middle) + 200), is_mobile=False)
        if parts:
            x = parts[0].left + parts[0].width / 2
            await tab.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": middle})
            await _force_hover(tab, parts[0].path)  # a part that moves away from the pointer stays under it
            await _wait_for_page(tab, 60)
        observation = await self._observe(tab, visit, state, f"under the pointer ({number + 1})")
        await tab.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})
        await tab.call("CSS.disable")
        if is_below:
            await _emulate(tab, state, is_mobile=False)
        return observation

    async def _observe(
        self, tab: Tab, visit: Visit, state: PageState, moment: str, *, with_pictures: bool = True
    ) -> Observation:
        expected = self._expect(f"{visit} {moment}") if self._expect is not None else None
        if expected is None and self._expect is not None:  # a phase of an animation is compared with the page at rest
            expected = self._expect(f"{visit} ")
        asked = [
            {
                "kind": lock.kind,
                "path": lock.path,
                "text": lock.text,
                "html": expected.locks[number][0].html if expected is not None and expected.locks[number] else "",
            }
            for number, lock in enumerate(self._locks)
        ]
        told = await tab.evaluate(_OBSERVE, asked, not with_pictures)
        observation = msgspec.convert({**told, "visit": visit, "moment": moment}, Observation, strict=False)
        observation.failed = list(tab.failed)
        observation.has_pictures = with_pictures
        if with_pictures:
            for number, lock in enumerate(self._locks):
                former = expected.locks[number] if expected is not None else None
                await self._capture_parts(tab, state, lock, number, observation.locks[number], former)
        return observation

    async def _capture_parts(
        self,
        tab: Tab,
        state: PageState,
        lock: Lock,
        number: int,
        parts: list[LockedPart],
        former: list[LockedPart] | None,
    ) -> None:
        for index, part in enumerate(parts):
            if former is not None and (not former or not _may_match(lock, part, former[0])):
                continue
            if former is None and lock.kind == "style" and index:
                break
            inner = former[0].inner if former and lock.kind == "style" else None
            measured = "text" if lock.kind == "text" else "element"
            box = await tab.evaluate(_ALIGN, number, index, measured, inner, None)
            part.width, part.height = box["width"], box["height"]
            part.place = box["left"], box["top"]
            part.picture = await _capture(tab, state, box["left"], box["top"], box["width"], box["height"])
            if former is None or part.top - former[0].top > _MOVED:
                top = max(0.0, box["top"] - _ABOVE)
                part.above = await _capture(tab, state, box["left"], top, box["width"], box["top"] - top)
            await tab.evaluate(_RELEASE)
            if former and part.picture != former[0].picture and part.place != former[0].place:
                box = await tab.evaluate(_ALIGN, number, index, measured, inner, former[0].place)
                rectangle = box["left"], box["top"], box["width"], box["height"]
                part.picture_in_place = await _capture(tab, state, *rectangle)
                await tab.evaluate(_RELEASE)


def _may_match(lock: Lock, part: LockedPart, former: LockedPart) -> bool:
    match lock.kind:
        case "element":
            return part.html == former.html
        case "text":
            return part.text == former.text
        case _:
            return True


async def _capture(tab: Tab, state: PageState, left: float, top: float, width: float, height: float) -> bytes:
    """Take a picture of a rectangle of the page; empty if there is nothing of it."""
    clip = {
        "x": round(left),
        "y": round(top),
        "width": round(width),
        "height": min(round(height), _TALLEST),
        "scale": 1,
    }
    if clip["width"] < 1 or clip["height"] < 1:
        return b""
    is_beyond = clip["y"] + clip["height"] > state.height or clip["x"] + clip["width"] > state.width
    options = {"format": "png", "captureBeyondViewport": is_beyond, "optimizeForSpeed": True, "clip": clip}
    try:
        return base64.b64decode((await tab.call("Page.captureScreenshot", options))["data"])
    except CommandFailed:
        raise BrowserError("The page could not be captured; try again.", "picture") from None


async def _emulate(tab: Tab, state: PageState, *, is_mobile: bool) -> None:
    metrics = {
        "width": state.width,
        "height": state.height,
        "deviceScaleFactor": state.scale,
        "mobile": is_mobile,
    }
    features = {"prefers-reduced-motion": "no-preference", "prefers-color-scheme": "light"} | dict(state.features)
    media = {
        "media": state.media,
        "features": [{"name": name, "value": value} for name, value in features.items()],
    }
    await tab.call("Emulation.setDeviceMetricsOverride", metrics)
    await tab.call("Emulation.setEmulatedMedia", media)


async def _force_hover(tab: Tab, path: str) -> None:
    """Show an element, and what it is in, as if the pointer were on it."""
    await tab.call("DOM.enable")
    await tab.call("CSS.enable")
    root = (await tab.call("DOM.getDocument", {"depth": 0}))["root"]["nodeId"]
    steps = path.split(" > ")
    for count in range(1, len(steps) + 1):
        selector = " > ".join(steps[:count])
        node = (await tab.call("DOM.querySelector", {"nodeId": root, "selector": selector}))["nodeId"]
        if node:
            await tab.call("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": ["hover"]})


async def _wait_for_page(tab: Tab, milliseconds: float) -> None:
    try:
        await tab.evaluate(_SETTLE, milliseconds)
    except CommandFailed:
        await asyncio.sleep(0.1)  # the page navigates


async def _when_quiet(tab: Tab, request: RenderRequest) -> None:
    """Wait until the page is stable. One that navigates meanwhile is followed for a while."""
    until = time.monotonic() + 5.0
    while True:
        try:
            await wait_stable(tab, request)
            return
        except CommandFailed:
            if time.monotonic() > until:
                raise BrowserError("The page reloads itself in a loop; remove what reloads it.", "restless") from None
            await asyncio.sleep(0.1)
