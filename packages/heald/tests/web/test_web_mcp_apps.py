"""Apps of MCP servers in the page: they show the result of their tool, and reach nothing but the page's messages."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from page_support import BUILT, LONG
from playwright.async_api import Browser, Error, expect

import heald
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from serving_parts import TOKEN, context_on, serving

S = heald.testing.ScriptedModel
APP = """<!doctype html><title>Weather</title><p id="shown">waits</p><ul></ul><button>Leave</button><script>
const list = document.querySelector("ul");
const note = (text) => list.append(Object.assign(document.createElement("li"), { textContent: text }));
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", async ({ data }) => {
  if (data.id === 1) {
    send({ method: "ui/notifications/initialized", params: {} });
    send({ method: "ui/notifications/size-changed", params: { height: 234 } });
    send({ id: 2, method: "tools/call", params: { name: "other", arguments: {} } });
  }
  if (data.id === 2) note(`call ${data.error.code}`);
  if (data.method === "ui/notifications/tool-input") note(`input ${data.params.arguments.city}`);
  if (data.method !== "ui/notifications/tool-result") return;
  document.querySelector("#shown").textContent = data.params.structuredContent.sky;
  for (const attempt of [
    () => parent.document.title, () => localStorage.length, () => document.cookie,
    () => { new RTCPeerConnection(); },
  ]) {
    try { attempt(); note("reached"); } catch (error) { note("refused"); }
  }
  try { await fetch("SINK/fetch"); note("reached"); } catch (error) { note("refused"); }
  const picture = new Image();
  picture.onload = () => note("reached");
  picture.onerror = () => note("refused");
  picture.src = "SINK/picture";
  top.postMessage({ heald: "app", html: "x" }, "*");
});
document.querySelector("button").onclick = () => { location.href = "SINK/navigation"; };
send({ id: 1, method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: {}, appCapabilities: {} } });
</script>"""
SERVER = """
import sys
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import MCPServer

apps = Apps()

@apps.tool(resource_uri="ui://sky/app.html")
def weather(city: str) -> dict[str, str]:
    "The weather of a city."
    return {"sky": f"Snow in {city}"}

@apps.tool(resource_uri="ui://sky/app.html", visibility=["app"])
def other() -> str:
    "For the app alone."
    return "secret"

csp = ResourceCsp(connect_domains=["https://api.example.com", "https://x; script-src *"])
apps.add_html_resource("ui://sky/app.html", open(sys.argv[1]).read(), csp=csp)
MCPServer("sky", extensions=[apps]).run()
"""


@asynccontextmanager
async def sink() -> AsyncGenerator[tuple[str, list[str]]]:
    """A server that must not be reached."""
    reached: list[str] = []

    async def count(request: web.Request) -> web.Response:
        reached.append(request.path)
        return web.Response(text="", headers={"Access-Control-Allow-Origin": "*"})

    app = web.Application()
    app.router.add_get("/{path:.*}", count)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", reached
    finally:
        await runner.cleanup()


async def test_an_app_shows_the_result_and_reaches_nothing(tmp_path: Path, chrome: Browser) -> None:
    folder = Path(os.environ.get("HEALD_PAGE") or BUILT.parent)
    if not (folder / "index.html").is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    async with sink() as (address, reached):
        (tmp_path / "app.html").write_text(APP.replace("SINK", address))
        (tmp_path / "server.py").write_text(SERVER)
        script = (str(tmp_path / "server.py"), str(tmp_path / "app.html"))
        config = heald.McpServer(name="sky", command=sys.executable, args=script)
        model = S([[S.call("sky__weather", city="Oslo")], "It snows."])
        async with heald.McpServers([config]) as servers:
            tools = {tool.name: tool for tool in servers.tools}
            assert "sky__weather" in tools
            assert "sky__other" not in tools
            context = context_on(
                SqliteStore(tmp_path / "sessions.db", durable=False),
                {"scripted": lambda: model},
                tools=tools,
                defaults=SessionSettings(model="scripted", permissions="auto", tools=list(tools)),
            )
            context.protocol_options["native"] = {"page": str(folder)}
            async with serving(context, TOKEN) as server:
                answer = await server.client.post("/sessions", json={})
                session = (await answer.json())["id"]
                sent = await server.client.post(f"/sessions/{session}/messages", json={"text": "The weather?"})
                assert sent.status < 300, await sent.text()
                page = await chrome.new_page()
                page.set_default_timeout(LONG)
                try:
                    policies: list[str] = []
                    page.on(
                        "response",
                        lambda answer: (
                            policies.append(answer.headers["content-security-policy"])  # pyrefly: ignore[missing-attribute]
                            if "/app-frame" in answer.url
                            else None
                        ),
                    )
                    await page.goto(f"{server.url}/#token={TOKEN}")
                    await expect(page.get_by_test_id("connection")).to_have_text("Connected")
                    await page.evaluate(f"location.hash = '#/session/{session}'")
                    frame = page.frame_locator("iframe.app-frame")
                    await expect(frame.locator("#shown")).to_have_text("Snow in Oslo")
                    await expect(frame.locator("li")).to_have_count(8)
                    notes = sorted(await frame.locator("li").all_inner_texts())
                    assert notes == ["call -32601", "input Oslo", *["refused"] * 6]
                    box = await page.locator("iframe.app-frame").bounding_box()
                    assert box is not None
                    assert 230 <= box["height"] <= 240
                    async with page.expect_event("console", lambda message: "frame-src 'self'" in message.text):
                        await frame.get_by_role("button", name="Leave").click()
                except Error as error:
                    raise AssertionError(await page.content()) from error
                finally:
                    await page.close()
    assert reached == []
    assert "connect-src https://api.example.com;" in policies[0]
    assert "script-src *" not in policies[0]
    assert policies[0].startswith("sandbox allow-scripts;")
