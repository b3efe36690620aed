"""Open WebUI from PyPI, without a network, in a real Chromium: its users' whole way through /v1/chat/completions."""

import asyncio
import base64
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Locator, Page, async_playwright, expect

import heald
from heald.core.events import ExchangeResponse
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.settings import SessionSettings
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import BrowserError
from registry_clients import python_folder
from scripted_agents import PIXEL, S, answers, launch, weather
from serving_parts import TOKEN, Served, served

pytestmark = pytest.mark.clients

_PATIENCE = 60_000
_INSTALL_SECONDS = 2400
"""The package brings several gigabytes along."""
_START_SECONDS = 240


def _chromium() -> str:
    try:
        return str(find_chromium())
    except BrowserError:
        pytest.skip("Chromium is not installed here")


def _model() -> heald.testing.ScriptedModel:
    def script(request: ScriptedRequest) -> Script:
        asked = [message.words for message in request.messages if message.role == "user"][-1]
        last = request.messages[-1]
        if "What time" in asked and last.role == "user":
            return ["I look at your clock.", S.call("get_current_timestamp")]
        if "What time" in asked and last.role == "tool":
            (result,) = [block for block in last.content if isinstance(block, ToolResult)]
            return "Read: " + ("a number" if '"current_timestamp"' in result.text else result.text)
        return answers(request)

    return S([script] * 200, piece=6, pause=0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def _open_webui(program: Path, server: Served, folder: Path) -> AsyncGenerator[str]:
    """Run Open WebUI with the server as its only provider. It must not ask anything of the internet."""
    settings = {
        "DATA_DIR": str(folder / "data"),
        "HOME": str(folder),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "WEBUI_AUTH": "False",
        "WEBUI_SECRET_KEY": "a secret of the tests",
        "OFFLINE_MODE": "True",
        "HF_HUB_OFFLINE": "1",
        "ENABLE_OLLAMA_API": "False",
        "ENABLE_VERSION_UPDATE_CHECK": "False",
        "RAG_EMBEDDING_ENGINE": "openai",
        "BYPASS_EMBEDDING_AND_RETRIEVAL": "True",
        "OPENAI_API_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": TOKEN,
    }
    address = f"http://127.0.0.1:{(port := _free_port())}"
    with (folder / "open-webui.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            str(program), "serve", "--host", "127.0.0.1", "--port", str(port), env=settings, stdout=log, stderr=log
        )
        try:
            await _wait_for(address, process, folder / "open-webui.log")
            yield address
        finally:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), 120)
            except TimeoutError:
                process.kill()
                await process.wait()


async def _wait_for(address: str, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(_START_SECONDS), aiohttp.ClientSession() as client:
        while True:
            assert process.returncode is None, _end_of(log)
            try:
                async with client.get(f"{address}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.5)


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-3000:]


class Chat:
    """A person at the page."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    @property
    def log(self) -> Locator:
        return self.page.locator("#messages-container")

    async def open(self) -> None:
        await self.page.goto(self.address)
        await self.page.locator("#chat-input").wait_for(timeout=_PATIENCE)
        await self.page.add_locator_handler(  # the news of the release
            self.page.get_by_role("dialog").get_by_role("button").last, lambda button: button.click()
        )

    async def ask(self, text: str) -> None:
        await self.page.locator("#chat-input").click(timeout=_PATIENCE)
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")

    async def expect(self, text: str) -> None:
        await expect(self.log).to_contain_text(text, timeout=_PATIENCE)


async def _ends(server: Served, title: str) -> list[str]:
    sessions = [info for info in (await server.context.sessions.list(limit=100)).sessions if info.title == title]
    return [
        event.data.status
        for info in sessions
        for event in await server.log(info.id)
        if isinstance(event.data, ExchangeResponse)
    ]


@pytest.mark.client(
    *("Open WebUI in Chromium", "pip:open-webui==0.*", "`/v1/chat/completions`"),
    "streamed answer, second turn, its tools, picture, error, reload, stop",
)
async def test_open_webui(tmp_path: Path) -> None:
    chromium = _chromium()
    bin_folder = await asyncio.to_thread(python_folder, "open-webui==0.*", seconds=_INSTALL_SECONDS)
    program = bin_folder / "open-webui"
    defaults = SessionSettings(permissions="ask", tools=["weather", "launch"], rules=["allow weather"])
    tools = {"weather": weather, "launch": launch}
    async with (
        served(tmp_path, _model, tools=tools, defaults=defaults) as server,
        _open_webui(program, server, tmp_path) as address,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        chat = Chat(await browser.new_page(viewport={"width": 1280, "height": 800}), address)
        await chat.open()
        await _talk(chat, server)
        await _break_off(chat, server)
        await asyncio.wait_for(browser.close(), 120)


async def _talk(chat: Chat, server: Served) -> None:
    """Turns, tools of both sides, a call that nobody can approve, an error and a picture, in one session."""
    await chat.ask("Hello")
    await chat.expect("Answer 1 to “Hello”.")
    await chat.ask("The weather?")
    await chat.expect("Done: ok Oslo: 3 °C, snow")
    await chat.ask("What time is it?")
    await chat.expect("Read: a number")
    await chat.ask("Thanks")
    await chat.expect("Answer 4 to “Thanks”.")
    assert await _ends(server, "Hello") == ["completed"] * 4
    await chat.ask("Please launch")
    await chat.expect("nobody to ask")
    await chat.ask("Please fail")
    await chat.expect("The model is out of order.")
    picture = {"name": "a.png", "mimeType": "image/png", "buffer": base64.b64decode(PIXEL)}
    await chat.page.locator("input[type=file]").first.set_input_files(files=[picture])  # pyright: ignore[reportArgumentType]
    await expect(chat.page.get_by_alt_text("a.png").or_(chat.page.locator("img[src*=files]")).first).to_be_visible()
    await chat.ask("What is seen?")
    await chat.expect("image/png:")


async def _break_off(chat: Chat, server: Served) -> None:
    """The user reloads the page while an answer comes, and stops another one."""
    await chat.open()
    await chat.ask("A long one")
    await chat.expect("Word after word.")
    await chat.page.wait_for_url("**/c/*", timeout=_PATIENCE)
    await chat.page.reload()
    await chat.expect(("Word after word. " * 200).strip())
    await chat.open()
    await chat.ask("Another long one")
    await chat.expect("Word after word.")
    await chat.page.get_by_role("button", name="Stop", exact=True).click()
    async with asyncio.timeout(120):
        while await _ends(server, "Another long one") != ["cancelled"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert await _ends(server, "A long one") == ["completed"]
