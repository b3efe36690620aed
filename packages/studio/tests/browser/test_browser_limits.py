"""Hostile pages: each is an error sentence or a cut picture, and the next page renders."""

import asyncio
import os
import time
from collections.abc import Generator
from contextlib import suppress
from io import BytesIO

import pytest
from browser_support import alive, below, processes_ended, running
from PIL import Image

from heald_studio.browser import browser_pool as pool_module
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import BrowserError, PageResponse, Rendering, serve_files
from needed_programs import needs_chromium

pytestmark = needs_chromium

ENDLESS = {
    "script": "<p>x<script>while (true) {}</script>",
    "dialogs": "<p>x<script>while (true) alert('again')</script>",
    "nodes": "<body><script>while (true) document.body.append(document.createElement('p'))</script>",
    "microtasks": "<p>x<script>(function f() { Promise.resolve().then(f) })()</script>",
    "after the load": "<p>x<script>onload = () => setTimeout(() => { while (true) {} }, 0)</script>",
    "reloads": "<p>x<script>location.reload()</script>",
    "unload": "<p>x<script>onbeforeunload = () => { while (true) {} }; while (true) {}</script>",
}


HASTE = 2.0
"""Seconds that a page which never ends may keep a core busy here."""


@pytest.fixture(scope="module")
def hasty() -> Generator[Browser]:
    with running(Browser(seconds=HASTE)) as browser:
        yield browser


async def render_soon(browser: Browser, page: str) -> Rendering:
    """Render a page that ends. A busy machine may need longer for it than a hasty browser waits: then once more."""
    for _ in range(40):
        with suppress(BrowserError):
            return await browser.render(serve_files({"index.html": page}))
    return await browser.render(serve_files({"index.html": page}))


@pytest.mark.parametrize("page", ENDLESS.values(), ids=ENDLESS.keys())
async def test_a_page_that_never_ends(hasty: Browser, page: str) -> None:
    started = time.monotonic()
    with pytest.raises(BrowserError) as caught:
        await hasty.render(serve_files({"index.html": page}))
    assert caught.value.kind in ("timeout", "restless")
    assert str(caught.value).endswith(".")
    assert time.monotonic() - started < 30
    rendering = await render_soon(hasty, "<p>next")
    assert [text.text for text in rendering.texts] == ["next"]


async def test_the_process_of_a_hanging_page_is_ended(hasty: Browser) -> None:
    await render_soon(hasty, "<p>first")
    assert hasty.pid is not None
    before = set(below(hasty.pid))
    with pytest.raises(BrowserError):
        await hasty.render(serve_files({"index.html": ENDLESS["script"]}))
    await render_soon(hasty, "<p>next")
    fresh = [pid for pid in below(hasty.pid) if pid not in before]
    busy = [pid for pid in fresh if _seconds(pid) > HASTE / 2]
    assert await processes_ended(busy)


async def test_a_page_that_never_arrives(hasty: Browser) -> None:
    async def serve(url: str) -> None:
        await asyncio.sleep(60)

    with pytest.raises(BrowserError, match="not finished after 2 s"):
        await hasty.render(serve)


async def test_a_picture_that_never_arrives(hasty: Browser) -> None:
    async def serve(url: str) -> PageResponse | None:
        if url.endswith("html"):
            return PageResponse(200, "text/html", b"<p>x<img src=slow.png>")
        await asyncio.sleep(60)
        return None

    with pytest.raises(BrowserError, match="not finished after 2 s"):
        await hasty.render(serve)


async def test_a_page_that_uses_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MAX_MEMORY", 400_000_000)
    page = "<script>const kept = []; while (true) kept.push(new Uint8Array(4e6).fill(1))</script>"
    with running(Browser(seconds=20)) as browser:
        with pytest.raises(BrowserError) as caught:
            await browser.render(serve_files({"index.html": page}))
        assert caught.value.kind == "crashed"
        rendering = await browser.render(serve_files({"index.html": "<p>next"}))
        assert [text.text for text in rendering.texts] == ["next"]


async def test_a_tall_page_is_cut_and_reports_it(browser: Browser) -> None:
    page = """<!doctype html><style>body{margin:0}div{height:7500px}</style><div style="background:#f00"></div>
    <div style="background:#0f0"></div><div style="background:#00f"></div><p>after</p>"""
    rendering = await browser.render(serve_files({"index.html": page}))
    assert rendering.size[0] * rendering.size[1] <= 40_000_000
    assert len(rendering.notes) == 1
    assert "the picture shows the first" in rendering.notes[0]
    with Image.open(BytesIO(rendering.picture)) as picture:
        assert picture.size == rendering.size
        seen = [picture.convert("RGB").getpixel((600, y)) for y in (10, 7490, 7510, 14990, 15010, 19990)]
    assert seen == [(255, 0, 0)] * 2 + [(0, 255, 0)] * 2 + [(0, 0, 255)] * 2
    assert all(text.y < rendering.size[1] for text in rendering.texts)


async def test_a_great_deal_of_text_is_read_in_part(browser: Browser) -> None:
    style = "<style>body{columns:20;font-size:10px}p{margin:0}</style>"  # 6,000 lines on a picture that is not tall
    page = f"{style}<body>" + "".join(f"<p>line {number}" for number in range(6000))
    rendering = await browser.render(serve_files({"index.html": page}))
    assert 0 < len(rendering.texts) <= 4000
    assert any("only the first" in note for note in rendering.notes)


async def test_complaints_are_limited(browser: Browser) -> None:
    page = """<body><script>for (let i = 0; i < 200; i++) {
    console.error("x".repeat(9000) + i); new Image().src = i + ".png" }</script>"""
    rendering = await browser.render(serve_files({"index.html": page}))
    assert len(rendering.console) <= 50
    assert all(len(line) <= 500 for line in rendering.console)
    assert len(rendering.failed) <= 50


async def test_nothing_is_left_open(browser: Browser) -> None:
    """Windows, downloads, dialogs and workers of a page end with it."""
    page = """<body><script>for (let i = 0; i < 5; i++) { window.open("about:blank"); new Worker(URL.createObjectURL(
    new Blob(["setInterval(() => {}, 1)"]))) } prompt("a"); confirm("b"); onbeforeunload = () => "stay";
    const a = document.createElement("a"); a.download = "x.bin"; a.href = "data:,x"; a.click(); print();
    </script><p>text"""
    rendering = await browser.render(serve_files({"index.html": page}))
    assert [text.text for text in rendering.texts] == ["text"]
    assert browser.pid is not None
    count = len(below(browser.pid))
    await browser.render(serve_files({"index.html": page}))
    assert len(below(browser.pid)) <= count + 2
    assert alive(browser.pid)


def _seconds(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
