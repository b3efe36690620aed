"""screenshot-to-code's own page, unchanged, in a real Chromium, against a real `heald serve`; the model is scripted.

The page is built for the address that its documentation names for the backend, which the server of the test has.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from PIL import Image
from playwright.async_api import ConsoleMessage, FrameLocator, Page, async_playwright, expect

from heald.core.messages import ToolCall
from heald.testing.server import Hang, ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import BrowserError
from heald_studio.input.ffmpeg import find_ffmpeg
from registry_clients import built_page
from repository import ROOT

pytestmark = pytest.mark.clients

_TARBALL = ROOT.parent / "shared" / "peers" / "screenshot-to-code-frontend.tar.xz"
_PORT = 7001
_BACKEND = f"http://127.0.0.1:{_PORT}"
_PATIENCE = 60_000
_MODEL = "m"
_EXPECTED = ("net::ERR_NAME_NOT_RESOLVED", "status of 400")
"""Parts of what the console may report: fonts of the page on the web, and a comparison that the test makes fail."""


def _asked(body: dict[str, Any]) -> tuple[str, int]:
    """The text of the last request of the user, and the number of its pictures."""
    content = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
    if isinstance(content, str):
        return content, 0
    texts = [part["text"] for part in content if part["type"] == "text"]
    return "\n".join(texts), sum(part["type"] == "image_url" for part in content)


def _answer(request: ReceivedRequest) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="It is built.")
    text, pictures = _asked(request.body)
    title = max(
        "Picture", "Teal", "Green", "Slow", "Bakery", "Nothing", key=lambda word: text.lower().rfind(word.lower())
    )
    if title == "Nothing":
        return wire_reply("chat", text="Nothing was to do.")
    content = (
        f"<html><head><title>{title}</title></head><body><h1>{title} {pictures}</h1><button>Buy</button></body></html>"
    )
    call = ToolCall(id="c1", name="create_file", input={"path": "index.html", "content": content})
    if title == "Slow":
        return Reply([*list(wire_stream("chat", text=["I think ", "for long."]))[:2], Hang()])
    return wire_reply("chat", thinking="A plain page.", text="I write it.", calls=[call])


class Visitor:
    """A person with the page open, and the server behind it."""

    def __init__(self, page: Page, address: str, model: ScriptedServer, folder: Path) -> None:
        self.page = page
        self._folder = folder
        self.address = address
        self.model = model
        self.problems: list[str] = []
        page.set_default_timeout(_PATIENCE)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._console)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in _EXPECTED):
            self.problems.append(message.text)

    @property
    def preview(self) -> FrameLocator:
        return self.page.frame_locator("#preview-desktop")

    async def look(self, name: str) -> None:
        """Keep a screenshot in the folder of the test."""
        await self.page.screenshot(path=self._folder / f"{name}.png")

    async def expect_built(self, title: str) -> None:
        await expect(self.preview.locator("h1")).to_have_text(title, timeout=_PATIENCE)
        await expect(self.page.get_by_test_id("update-input")).to_be_visible(timeout=_PATIENCE)
        await expect(self.page.get_by_role("button", name="Cancel All Generations")).to_have_count(0)

    async def ask(self, method: str, path: str) -> Any:
        async with aiohttp.request(method, _BACKEND + path) as answer:
            assert answer.ok, await answer.text()
            return await answer.json()

    async def statuses(self) -> list[str]:
        """The outcomes of the variants of the project that was created last."""
        (newest, *_) = (await self.ask("GET", "/projects"))["projects"]
        return [variant["status"] for version in newest["versions"] for variant in version["variants"]]


@asynccontextmanager
async def _serve_page(built: Path) -> AsyncGenerator[str]:
    """Serve the built page. Every other path is the page, which routes by itself."""

    async def answer(request: web.Request) -> web.StreamResponse:
        file = built / request.path.lstrip("/")
        return web.FileResponse(file if file.is_file() else built / "index.html")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None  # pyright: ignore[reportPrivateUsage]
    host, port = site._server.sockets[0].getsockname()[:2]  # pyright: ignore
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _serve_heald(folder: Path, model: ScriptedServer, origin: str) -> AsyncGenerator[None]:
    command = [
        *(sys.executable, "-m", "heald_cli.main", "serve", "--port", str(_PORT), "--no-open", "--json", "--no-token"),
        *("--allow-origin", origin, "--data", str(folder / "data"), "--model", _MODEL, "--base-url", f"{model.url}/v1"),
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=dict(os.environ))
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            assert json.loads(await process.stdout.readline())["url"] == _BACKEND
        yield
    finally:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 120)
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def _visit(folder: Path) -> AsyncGenerator[Visitor]:
    try:
        chromium = find_chromium()
    except BrowserError:
        pytest.skip("Chromium is not installed here")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", _PORT)) == 0:
            pytest.skip(f"port {_PORT}, for which the page is built, is in use")
    built = await asyncio.to_thread(
        built_page, _TARBALL, VITE_HTTP_BACKEND_URL=_BACKEND, VITE_WS_BACKEND_URL=f"ws://127.0.0.1:{_PORT}"
    )
    async with (
        ScriptedServer(_answer) as model,
        _serve_page(built) as address,
        _serve_heald(folder, model, address),
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        context = await browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        visitor = Visitor(await context.new_page(), address, model, folder)
        try:
            yield visitor
        except BaseException:
            await visitor.look("failed")
            raise
        finally:
            await asyncio.wait_for(browser.close(), 120)


def _picture(folder: Path) -> Path:
    Image.new("RGB", (320, 200), "white").save(folder / "shot.png")
    return folder / "shot.png"


def _recording(folder: Path) -> Path:
    """Two seconds, first white and then navy."""
    program = find_ffmpeg()
    assert program is not None
    frames = [Image.new("RGB", (320, 200), colour) for colour in ("white", "navy") for _ in range(10)]
    frames[0].save(folder / "x.gif", save_all=True, append_images=frames[1:], duration=100)
    target = folder / "recording.mp4"
    command = [program, "-v", "error", "-i", str(folder / "x.gif"), "-c:v", "mpeg4", "-pix_fmt", "yuv420p", str(target)]
    subprocess.run(command, stdin=subprocess.DEVNULL, timeout=120, check=True)
    return target


async def test_create_update_select_cancel_export_and_video(tmp_path: Path) -> None:
    async with _visit(tmp_path) as visitor:
        await visitor.page.goto(visitor.address)
        await _create(visitor, tmp_path)
        await _update(visitor)
        await _select_and_edit(visitor)
        await _export(visitor, tmp_path)
        await _cancel(visitor)
        await _record(visitor, tmp_path)
        assert not visitor.problems, visitor.problems


async def _create(visitor: Visitor, folder: Path) -> None:
    page = visitor.page
    await page.get_by_test_id("upload-input").set_input_files(_picture(folder))
    await page.get_by_text("Add instructions").click()
    await page.get_by_label("Instructions for generated code").fill("A bakery")
    await page.keyboard.press("Enter")
    await visitor.expect_built("Bakery 1")
    cards = page.get_by_title(_MODEL, exact=True)
    await expect(cards).to_have_count(4)
    await expect(page.get_by_text("I write it.").first).to_be_visible()
    assert await visitor.statuses() == ["completed"] * 4


async def _update(visitor: Visitor) -> None:
    await visitor.look("created")
    page = visitor.page
    before = len(visitor.model.requests)
    await page.get_by_test_id("update-input").fill("Make it teal")
    await page.keyboard.press("Enter")
    await visitor.expect_built("Teal 0")
    await expect(page.get_by_text("Version 2")).to_be_visible()
    first = visitor.model.requests[before].body
    written = json.dumps(first["messages"])
    assert written.count("Make it teal") == 1, "the request stands in the prompt once"
    assert "A bakery" in written, "the earlier request is part of the history"
    assert "<h1>Bakery 1</h1>" in written, "the page that is shown is the one to change"


async def _select_and_edit(visitor: Visitor) -> None:
    await visitor.look("updated")
    page = visitor.page
    before = len(visitor.model.requests)
    await page.get_by_test_id("select-edit-toggle-prompt").click()
    await visitor.preview.get_by_role("button", name="Buy").click()
    await expect(page.get_by_text("Selected: <button>").first).to_be_visible()
    await page.get_by_test_id("update-input").fill("Make this green")
    await page.keyboard.press("Enter")
    await visitor.expect_built("Green 0")
    text, _ = _asked(visitor.model.requests[before].body)
    assert "Make this green" in text
    assert "<button>Buy</button>" in text
    await page.keyboard.press("Escape")
    await page.get_by_test_id("update-input").fill("Change nothing")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing was to do.")).to_be_visible()
    await visitor.expect_built("Green 0")


async def _export(visitor: Visitor, folder: Path) -> None:
    await visitor.look("selected")
    async with visitor.page.expect_download() as download:
        await visitor.page.get_by_test_id("download-code").click()
    file = await download.value
    assert file.suggested_filename == "page.zip"
    await file.save_as(folder / "page.zip")
    with zipfile.ZipFile(folder / "page.zip") as packed:
        assert b"<h1>Green 0</h1>" in packed.read("Green/index.html")


async def _cancel(visitor: Visitor) -> None:
    """The page closes its socket; the server stops its agents, and the page shows the version from before."""
    page = visitor.page
    await page.get_by_test_id("update-input").fill("Be slow")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("I think").first).to_be_visible()
    await page.get_by_role("button", name="Cancel All Generations").click()
    await expect(page.get_by_text("Code generation cancelled")).to_be_visible()
    await visitor.expect_built("Green 0")
    async with asyncio.timeout(120):
        while set(await visitor.statuses()) != {"cancelled"}:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def _record(visitor: Visitor, folder: Path) -> None:
    await visitor.look("cancelled")
    page = visitor.page
    before = len(visitor.model.requests)
    await page.get_by_title("Start a new project").click()
    await page.get_by_test_id("upload-input").set_input_files(_recording(folder))
    await expect(page.locator("video")).to_be_visible()
    await page.keyboard.press("Enter")
    await visitor.expect_built("Picture 2")
    _, pictures = _asked(visitor.model.requests[before].body)
    assert pictures == 2, "the two moments that differ"


async def test_evaluations(tmp_path: Path) -> None:
    async with _visit(tmp_path) as visitor:
        page = visitor.page
        await page.goto(f"{visitor.address}/evals")
        await page.get_by_role("link", name=re.compile("^Run Evals")).click()
        await page.get_by_text(_MODEL, exact=True).click()
        await expect(page.get_by_text("3 of 3 selected")).to_be_visible()
        await page.get_by_role("combobox").select_option("html_css")
        await page.get_by_role("button", name="Run Evals").click()
        await expect(page.get_by_text("Evaluation run complete")).to_be_visible(timeout=2 * _PATIENCE)
        await expect(page.get_by_text("3 / 3 tasks")).to_be_visible()
        await page.get_by_role("button", name="Run Evals").click()
        await expect(page.get_by_text("0 / ? tasks")).to_be_visible(timeout=_PATIENCE)
        await _compare_results(visitor)
        await _compare_requests(visitor)
        await _read_reports(visitor)
        assert not visitor.problems, visitor.problems


async def _compare_results(visitor: Visitor) -> None:
    await visitor.look("run")
    page = visitor.page
    await page.get_by_role("link", name=re.compile("Best of N")).first.click()
    await page.get_by_role("combobox").select_option(index=1)
    await page.get_by_role("button", name=re.compile("Load|Compare|Start")).first.click()
    await expect(page.frame_locator("iframe").first.locator("h1")).to_have_text("Picture 1", timeout=_PATIENCE)


async def _compare_requests(visitor: Visitor) -> None:
    await visitor.look("results")
    page = visitor.page
    await page.get_by_role("link", name=re.compile("Input Compare")).first.click()
    left, right = page.locator("textarea").first, page.locator("textarea").last
    await left.fill('{"input": [{"role": "user", "content": "One"}]}')
    await right.fill("no JSON")
    await page.get_by_role("button", name=re.compile("Compare")).click()
    await expect(page.get_by_text("The right side is no JSON")).to_be_visible()
    await right.fill('[{"role": "user", "content": "Two"}]')
    await page.get_by_role("button", name=re.compile("Compare")).click()
    await expect(page.get_by_text("input[0].content").first).to_be_visible()


async def _read_reports(visitor: Visitor) -> None:
    page = visitor.page
    await page.get_by_role("link", name=re.compile("Prompt Reports")).first.click()
    await expect(page.get_by_text("3 requests · 6 turns")).to_be_visible()
    await page.get_by_role("button", name="turn 2").first.click()
    await expect(page.get_by_text("Request structure")).to_be_visible()
    await page.get_by_text("Show raw JSON").click()
    await expect(page.get_by_text("create_file").first).to_be_visible()
