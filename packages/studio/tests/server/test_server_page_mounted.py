"""The page below a prefix of another program, in a real browser: login, a conversation and a preview."""

import re
from pathlib import Path

import pytest
from outer_program import outer_program
from playwright.async_api import Browser, ConsoleMessage, Page, expect

import heald
from heald.providers.scripted import Script, ScriptedRequest
from heald_server.agent_app import App
from repository import ROOT

S = heald.testing.ScriptedModel
TOKEN = "a-token-of-the-tests"
PAGE = "<!doctype html><html><head><title>Mine</title></head><body><h1>Built below a prefix</h1></body></html>"
SLOW = 120_000
_BELOW = re.compile(r"^/our/assistant/preview/")


pytestmark = [
    pytest.mark.skipif(
        not (ROOT / "packages/server/src/heald_server/page/built/index.html").is_file(),
        reason="the page is not built; run build_page.py",
    ),
]


def _answer(request: ScriptedRequest) -> Script:
    if request.messages[-1].role == "tool":
        return "Done."
    if any(tool.name == "create_file" for tool in request.tools):
        return S.call("create_file", path="index.html", content=PAGE)
    return "An answer from below."


async def _converse(page: Page, address: str) -> None:
    """Log in by typing the token, then ask."""
    await page.goto(address)
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")
    await expect(page.get_by_role("radio", name="Assistant")).to_be_checked()
    await expect(page.get_by_label("Model")).to_have_count(0)  # the program defines the agent
    await page.get_by_label("What to work on").fill("Is anybody there?")
    await page.get_by_role("button", name="Start", exact=True).click()
    log = page.get_by_role("log", name="Conversation")
    await expect(log).to_contain_text("An answer from below.")
    await page.get_by_label("Message", exact=True).fill("And now?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".ended")).to_have_count(2)


async def _build(page: Page, at: str) -> None:
    """Build a page and see its preview, in the stage and in a tab of its own."""
    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Build a page").click()
    await page.get_by_label("What to build").fill("A page")
    await page.get_by_label("Variants").select_option("1")
    await page.get_by_role("button", name="Build", exact=True).click()
    frame = page.locator(".stage").frame_locator("iframe.shown")
    await expect(frame.locator("h1")).to_have_text("Built below a prefix")
    preview = page.locator(".stage iframe.shown")
    await expect(preview).to_have_attribute("src", _BELOW)
    tab = await page.context.new_page()
    await tab.goto(at + (await preview.get_attribute("src") or ""))
    await expect(tab.frame_locator("iframe").locator("h1")).to_have_text("Built below a prefix")


async def test_login_conversation_and_preview_work_below_a_prefix(tmp_path: Path, chrome: Browser) -> None:
    problems: list[str] = []
    requests: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        expected = ("webrtc", "401", "Authentication failed")  # the page asks and connects before the login
        if message.type == "error" and not any(part in message.text for part in expected):
            problems.append(message.text)

    agent = heald.Agent(S([_answer] * 4))
    app = App(agent, store=f"sqlite:///{tmp_path / 'app.db'}", token=TOKEN)
    async with app, outer_program(app, "/our/assistant") as at, await chrome.new_context() as browsing:
        page = await browsing.new_page()
        page.set_default_timeout(SLOW)
        page.on("console", on_console)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url.replace("ws://", "http://")))
        await _converse(page, f"{at}/our/assistant")
        await _build(page, at)
        cookies = await page.context.cookies()
    assert [cookie.get("path") for cookie in cookies] == ["/our/assistant/"]
    outside = [url for url in requests if not url.startswith((f"{at}/our/assistant", "data:", "blob:"))]
    assert not outside
    assert not problems
