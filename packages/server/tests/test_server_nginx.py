"""`heald serve` below a path of another site, behind a real nginx with its default Host, seen by a real browser."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from nginx_parts import NGINX, nginx_command
from playwright.async_api import Browser, ConsoleMessage, Page, expect

import heald_server
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from postgres_server import free_port
from repository import ROOT

TOKEN = "a-token-of-the-tests-of-nginx"
PAGE = "<!doctype html><html><head><title>Mine</title></head><body><h1>Built behind nginx</h1></body></html>"
SLOW = 120_000
PREFIX = "/tools/heald"
_SERVER = """
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size 32m;
        location / {{ return 200 "another site"; }}
        location {location} {{
            proxy_pass {target};
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection;
            proxy_buffering off;
            proxy_read_timeout 1h;
        }}
    }}
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed here; `make system` installs it")


NEEDS_PAGE = pytest.mark.skipif(
    not (ROOT / "packages/server/src/heald_server/page/built/index.html").is_file(),
    reason="the page is not built; run build_page.py",
)


def _answer(request: ReceivedRequest) -> Reply:
    messages: list[dict[str, Any]] = request.body["messages"]
    if messages[-1]["role"] == "tool":
        return wire_reply("chat", text="Done.")
    if "zebra" in str(messages[-1]["content"]):
        return wire_reply(
            "chat", calls=[ToolCall(id="c1", name="create_file", input={"path": "index.html", "content": PAGE})]
        )
    return wire_reply("chat", text="An answer from behind nginx.")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(120):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _behind_nginx(folder: Path, strips: bool) -> AsyncGenerator[str]:
    """The public address of a `heald serve`. `strips`: nginx removes the prefix, or passes the whole path on."""
    port = free_port()
    public = f"http://127.0.0.1:{port}{PREFIX}"
    async with ScriptedServer(_answer) as model:
        command = [
            *(sys.executable, "-m", "heald_cli.main", "serve", "--port", "0", "--no-open", "--json"),
            *("--data", str(folder / "data"), "--model", "m", "--base-url", f"{model.url}/v1", "--public-url", public),
        ]
        server = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, env=os.environ | {"HEALD_TOKEN": TOKEN}
        )
        nginx = None
        try:
            assert server.stdout is not None
            async with asyncio.timeout(60):
                inner = json.loads(await server.stdout.readline())["url"]
            target, location = (f"{inner}/", f"{PREFIX}/") if strips else (inner, PREFIX)
            settings = _SERVER.format(port=port, location=location, target=target)
            nginx = await asyncio.create_subprocess_exec(*nginx_command(folder, settings))
            await _wait_until_up(public)
            yield public
        finally:
            if nginx is not None:
                await _end(nginx)
            await _end(server)


async def _wait_until_up(public: str) -> None:
    async with asyncio.timeout(120), aiohttp.ClientSession() as client:
        while True:
            try:
                async with client.get(f"{public}/health") as answer:
                    assert answer.status == 200, await answer.text()
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)


async def _converse(page: Page, public: str) -> None:
    await page.goto(f"{public}/#token={TOKEN}")
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")
    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Assistant").click()
    await page.get_by_label("What to work on").fill("Is anybody there?")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("log", name="Conversation")).to_contain_text("An answer from behind nginx.")


async def _build(page: Page, origin: str) -> None:
    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Build a page").click()
    await page.get_by_label("What to build").fill("A zebra")
    await page.get_by_label("Variants").select_option("1")
    await page.get_by_role("button", name="Build", exact=True).click()
    frame = page.locator(".stage").frame_locator("iframe.shown")
    await expect(frame.locator("h1")).to_have_text("Built behind nginx")
    preview = page.locator(".stage iframe.shown")
    await expect(preview).to_have_attribute("src", re.compile(f"^{PREFIX}/preview/"))
    tab = await page.context.new_page()
    await tab.goto(origin + (await preview.get_attribute("src") or ""))
    await expect(tab.frame_locator("iframe").locator("h1")).to_have_text("Built behind nginx")


@NEEDS_PAGE
async def test_the_page_and_previews_work_below_a_path_of_another_site(tmp_path: Path, chrome: Browser) -> None:
    """nginx strips the path, so that the page learns it from the server. That it need not is tried below."""
    problems: list[str] = []
    requests: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "webrtc" not in message.text and "401" not in message.text:
            problems.append(message.text)

    async with _behind_nginx(tmp_path, strips=True) as public, await chrome.new_context() as browsing:
        origin = public.removesuffix(PREFIX)
        page = await browsing.new_page()
        page.set_default_timeout(SLOW)
        page.on("console", on_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda opened: requests.append(opened.url.replace("ws://", "http://")))
        await _converse(page, public)
        await _build(page, origin)
        cookies = await page.context.cookies()
    assert [cookie.get("path") for cookie in cookies] == [f"{PREFIX}/"]
    outside = [url for url in requests if not url.startswith((f"{public}/", "data:", "blob:"))]
    assert not outside
    assert not problems


@pytest.mark.parametrize("strips", [True, False])
async def test_programs_work_through_nginx(tmp_path: Path, strips: bool) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with _behind_nginx(tmp_path, strips) as public, aiohttp.ClientSession(headers=headers) as client:
        async with client.get(public, allow_redirects=False) as answer:
            assert answer.status in (301, 308)
            assert answer.headers["Location"].endswith(f"{PREFIX}/")
        async with client.get(f"{public}/openapi.json") as answer:
            assert (await answer.json())["servers"] == [{"url": PREFIX}]
        foreign = {"Origin": "http://elsewhere.example.org"}
        async with client.post(f"{public}/sessions", json={}, headers=foreign) as answer:
            assert answer.status == 403
        async with client.ws_connect(f"{public}/ws", headers={"Origin": public.removesuffix(PREFIX)}) as opened:
            await opened.send_json({"type": "ping", "id": 1})
            assert await opened.receive_json() == {"type": "pong", "id": 1}
        async with heald_server.connect(public, token=TOKEN) as agent:
            result = await agent.run("Hello")
        assert result.text == "An answer from behind nginx."
