"""One look at a page: load it, let it settle, read its text, take its picture, within the limits."""

import asyncio
import base64
import time
from importlib.resources import files

import msgspec

from weft.studio.browser.connection import Refused
from weft.studio.browser.rendering import MAX_PIXELS, BrowserError, Rendering, TextBlock, Viewport
from weft.studio.browser.tab import Tab

MAX_HEIGHT = 20_000
"""Of a picture, in device pixels."""
_STRIP = 8_000
_MAX_TEXTS = 4_000
_AGAIN = 5
_LOAD_SECONDS = 10.0

_SETTLE = (files("weft.studio.browser") / "settle.js").read_text("utf-8").partition("\nasync")[2]
_TEXTS = (files("weft.studio.browser") / "texts.js").read_text("utf-8").partition("\n(limit")[2]


class _Read(msgspec.Struct):
    title: str
    width: int
    height: int
    texts: list[tuple[str, float, float, float, float, tuple[int, int, int] | None]]
    cut: bool


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at and how."""

    url: str
    viewport: Viewport
    mobile: bool = False
    full_page: bool = True
    settle: float = 0.1
    """Seconds without a change after which a page counts as finished."""
    patience: float = 3.0
    """Seconds to wait for that at most; a page that never rests is taken as it is then."""
    insist: bool = True
    """Whether a page must have loaded all it asked for. A stranger's often waits for something that never comes."""
    probe: str = ""
    """A function of JavaScript to run at the end, in a world that the page cannot reach."""


async def look(tab: Tab, wanted: Look) -> Rendering:
    started = time.monotonic()
    await tab.go(wanted.url, None if wanted.insist else _LOAD_SECONDS)
    read = await _settled(tab, wanted)
    notes: list[str] = []
    viewport = wanted.viewport
    scale = viewport.scale
    width = viewport.width
    height = max(read.height, viewport.height) if wanted.full_page else viewport.height
    most = min(MAX_HEIGHT, int(MAX_PIXELS / (width * scale))) / scale
    if height > most:
        notes.append(f"The page is {height} px tall; the picture shows the first {int(most)} px.")
        height = int(most)
    if read.cut:
        notes.append(f"The page has a great deal of text; only the first {len(read.texts)} lines of it were read.")
    picture = await _picture(tab, width, height)
    probed = await tab.run(wanted.probe) if wanted.probe else None
    texts = [
        TextBlock(text, x * scale, y * scale, w * scale, h * scale, colour)
        for text, x, y, w, h, colour in read.texts
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


async def _settled(tab: Tab, wanted: Look) -> _Read:
    """Let the page settle and read it. A page that goes elsewhere meanwhile is followed a few times."""
    for _ in range(_AGAIN):
        try:
            await tab.run("async" + _SETTLE, wanted.settle * 1000, wanted.patience * 1000)
            return msgspec.convert(await tab.run("(limit" + _TEXTS, _MAX_TEXTS, 1500), _Read, strict=False)
        except Refused:
            await asyncio.sleep(0.1)
        except msgspec.ValidationError:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None
    raise BrowserError("The page keeps loading itself anew; take out what reloads it.", "restless")


async def _picture(tab: Tab, width: int, height: int) -> bytes:
    strips: list[bytes] = []
    for top in range(0, height, _STRIP):
        clip = {"x": 0, "y": top, "width": width, "height": min(_STRIP, height - top), "scale": 1}
        wanted = {"format": "png", "captureBeyondViewport": True, "optimizeForSpeed": True, "clip": clip}
        try:
            answer = await tab.call("Page.captureScreenshot", wanted)
        except Refused:
            raise BrowserError("No picture could be taken of the page; try again.", "picture") from None
        strips.append(base64.b64decode(answer["data"]))
    return strips[0] if len(strips) == 1 else await asyncio.to_thread(_joined, strips)


def _joined(strips: list[bytes]) -> bytes:
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
