"""Renders the page of a tab: waits until it is stable, reads its texts, and captures it."""

import asyncio
import base64
import time
from importlib.resources import files

import msgspec

from heald_studio.browser.devtools import CommandFailed
from heald_studio.browser.page import MAX_PIXELS, BrowserError, Rendering, TextBlock, Viewport
from heald_studio.browser.tab import LOAD_SECONDS, Tab

MAX_HEIGHT = 20_000  # of a picture, in device pixels
_STRIP = 8_000
_MAX_TEXTS = 4_000
_READ_MS = 6_000  # milliseconds that reading the texts may take: a busy machine needs seconds for a long page
_MAX_RELOADS = 5
_WAIT_STABLE = (files("heald_studio.browser") / "wait_stable.js").read_text("utf-8").partition("\nasync")[2]
_TEXTS = (files("heald_studio.browser") / "texts.js").read_text("utf-8").partition("\n(limit")[2]


class _Read(msgspec.Struct):
    title: str
    width: int
    height: int
    texts: list[tuple[str, float, float, float, float, tuple[int, int, int] | None, float, float]]
    cut: bool


class RenderRequest(msgspec.Struct, frozen=True):
    """A page to render."""

    url: str
    viewport: Viewport
    mobile: bool = False
    full_page: bool = True
    quiet_seconds: float = 0.1  # seconds without a change after which a page counts as finished
    max_wait: float = 3.0  # seconds to wait for that; then the page is rendered as it is
    require_load: bool = True  # whether all resources must have loaded
    probe: str = ""  # a JavaScript function to run at the end, in an isolated world
    prepare: str = ""  # one to run before the picture is taken; its result is the probe's, if there is none
    seconds: float = 0.0  # how long it may take, if that is longer than usual


async def render_page(tab: Tab, request: RenderRequest) -> Rendering:
    started = time.monotonic()
    await tab.navigate(request.url, None if request.require_load else LOAD_SECONDS)
    read = await _read_when_stable(tab, request)
    notes: list[str] = []
    viewport = request.viewport
    scale = viewport.scale
    width = viewport.width
    height = max(read.height, viewport.height) if request.full_page else viewport.height
    most = min(MAX_HEIGHT, int(MAX_PIXELS / (width * scale))) / scale
    if height > most:
        notes.append(f"The page is {height} px tall; the picture shows the first {int(most)} px.")
        height = int(most)
    if read.cut:
        notes.append(f"The page has a great deal of text; only the first {len(read.texts)} lines of it were read.")
    probed = await tab.evaluate(request.prepare) if request.prepare else None
    picture = await _screenshot(tab, width, height, viewport.height)
    if request.probe:
        probed = await tab.evaluate(request.probe)
    texts = [
        TextBlock(text, x * scale, y * scale, w * scale, h * scale, colour, bold, italic)
        for text, x, y, w, h, colour, bold, italic in read.texts
        if x < width and y < height and x + w > 0 and y + h > 0
    ]
    return Rendering(
        picture=picture,
        size=(round(width * scale), round(height * scale)),
        console=tuple(tab.console),
        failed=tuple(tab.failed),
        overflow=max(0, read.width - width),
        texts=tuple(texts),
        title=read.title,
        notes=tuple(notes),
        duration_ms=round((time.monotonic() - started) * 1000),
        probed=probed,
    )


async def _read_when_stable(tab: Tab, request: RenderRequest) -> _Read:
    """Wait until the page is stable, and read it. A page that navigates meanwhile is followed a few times."""
    for _ in range(_MAX_RELOADS):
        try:
            await wait_stable(tab, request)
            return msgspec.convert(await tab.evaluate("(limit" + _TEXTS, _MAX_TEXTS, _READ_MS), _Read, strict=False)
        except CommandFailed:
            await asyncio.sleep(0.1)
        except msgspec.ValidationError:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None
    raise BrowserError("The page reloads itself in a loop; remove what reloads it.", "restless")


async def wait_stable(tab: Tab, request: RenderRequest) -> None:
    """Wait until the page is stable and requests nothing more, such as modules that its script loads one by one."""
    until = time.monotonic() + request.max_wait
    left = request.max_wait
    while True:
        before = tab.requests, tab.unanswered
        await tab.evaluate("async" + _WAIT_STABLE, request.quiet_seconds * 1000, left * 1000)
        left = until - time.monotonic()
        # A module that was answered during this wait may not have run yet, so the next wait decides.
        if left <= 0 or before == (tab.requests, 0):
            return


async def _screenshot(tab: Tab, width: int, height: int, visible_height: int) -> bytes:
    """Take a picture of the page; `shown` is the height of the viewport.

    Chromium shifts a page that is written from right to left if it is captured beyond a viewport that shows all of it.
    """
    strips: list[bytes] = []
    for top in range(0, height, _STRIP):
        clip = {"x": 0, "y": top, "width": width, "height": min(_STRIP, height - top), "scale": 1}
        options = {
            "format": "png",
            "captureBeyondViewport": height > visible_height,
            "optimizeForSpeed": True,
            "clip": clip,
        }
        try:
            answer = await tab.call("Page.captureScreenshot", options)
        except CommandFailed:
            raise BrowserError("The page could not be captured; try again.", "picture") from None
        strips.append(base64.b64decode(answer["data"]))
    return strips[0] if len(strips) == 1 else await asyncio.to_thread(_join_strips, strips)


def _join_strips(strips: list[bytes]) -> bytes:
    from io import BytesIO

    from PIL import Image

    parts = [Image.open(BytesIO(strip)).convert("RGB") for strip in strips]
    whole = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)))
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height
    out = BytesIO()
    whole.save(out, "PNG", compress_level=1)
    return out.getvalue()
