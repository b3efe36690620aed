"""What tests of the page share: where things lie, and a person who uses it."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest
from playwright.async_api import Browser, ConsoleMessage, Error, Locator, Page, Request, ViewportSize, expect

from repository import ROOT

HOST = ROOT / "web" / "dev" / "host.py"
BUILT = ROOT / "packages" / "server" / "src" / "heald_server" / "page" / "built" / "index.html"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
LONG = 120_000
"""Milliseconds that anything may take on a slow machine."""
PIECE = "96"
"""Characters in a delta of the quick models: with 12 of them a page is built with twice the processor time."""
SIZE: ViewportSize = {"width": 1280, "height": 800}
TRANSITIONS = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
    Promise.allSettled(
        document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished)))"""
"""Until colours have changed: what is between two themes has the contrast of neither. A change of the theme reaches the
page with its next frame."""

TOUR_SEEN = "try { localStorage.setItem('heald-tour', 'seen') } catch { /* a preview has no storage */ }"
"""The browser of a person who has seen the tour. Run in every frame."""


class Visit:
    """Somebody with the page open."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self._previews: set[str] = set()  # addresses of files that were asked for in this test
        self._earlier_previews: set[str] = set()
        self.forget()
        page.set_default_timeout(LONG)
        page.on("request", self._on_request)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._console)

    def forget(self) -> None:
        """Begin a test: nothing went wrong so far. Projects of earlier tests are deleted: what their previews still
        ask for is missing."""
        self._earlier_previews |= self._previews
        self._previews = set()
        self.problems: list[str] = []
        self.strict = True
        """Whether nothing may go wrong in this test."""
        self.expected: list[str] = ["directive 'webrtc'", "it broke"]
        """Parts of what the console may say in this test."""

    def _on_request(self, request: Request) -> None:
        if "/preview/" in request.url:
            self._previews.add(request.url)

    def _console(self, message: ConsoleMessage) -> None:
        address = message.location["url"]
        text = f"{message.text} ({address})"
        is_expected = address in self._earlier_previews or any(part in text for part in self.expected)
        if message.type == "error" and not is_expected:
            self.problems.append(text)

    async def open(self) -> None:
        await self.page.goto(self.address)
        await expect(self.page.get_by_test_id("connection")).to_have_text("Connected")

    async def ask(
        self, text: str, *, model: str = "scripted/quick", permissions: str = "auto", folder: str = ""
    ) -> None:
        """Start a session with a first request."""
        page = self.page
        await page.evaluate("location.hash = '#/'")
        await page.get_by_role("radio", name="Assistant").click()
        await page.get_by_label("Model").select_option(model)
        await page.get_by_label("Permissions").select_option(permissions)
        if folder:
            await page.get_by_label("Folder").select_option(folder)
            await page.get_by_label("Tools").select_option("all")
        await page.get_by_label("What to work on").fill(text)
        await page.get_by_role("button", name="Start", exact=True).click()
        await expect(page.get_by_role("log", name="Conversation")).to_be_visible()

    async def send_message(self, text: str) -> None:
        await self.page.get_by_label("Message", exact=True).fill(text)
        await self.page.keyboard.press("Enter")

    async def build(self, text: str, variants: int = 2, models: Sequence[str] = ("quick", "calm", "bright")) -> None:
        """Start a project."""
        page = self.page
        await page.evaluate("location.hash = '#/'")
        await page.get_by_label("What to build").fill(text)
        await page.get_by_role("button", name=re.compile("^Models")).click()
        await page.get_by_role("menuitemradio", name="Automatic").click()
        for model in models:
            await page.get_by_role("menuitemcheckbox", name=f"scripted/{model}").click()
        await page.keyboard.press("Escape")
        await page.get_by_label("Variants").select_option(str(variants))
        await page.get_by_role("button", name="Build", exact=True).click()
        await expect(page.get_by_role("group", name="Variants")).to_be_visible()

    async def open_built(
        self, text: str, variants: int = 2, models: Sequence[str] = ("quick", "calm", "bright")
    ) -> None:
        """Show a project that another client has built. That takes a third of what `build` and `built` do."""
        body = {
            "prompt": {"text": text},
            "stack": "html_css",
            "variants": variants,
            "models": [f"scripted/{model}" for model in models],
        }
        async with connect(self.address) as client:
            async with client.post("/projects", json=body) as answer:
                assert answer.status == 201, await answer.text()
                project: str = (await answer.json())["id"]
            await until_built(client, project)
        await self.page.evaluate("project => { location.hash = `#/project/${project}` }", project)
        await self.built(variants)
        await expect(self.page.locator(".stage iframe.shown")).to_have_count(1)

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    @property
    def working(self) -> Locator:
        return self.page.get_by_test_id("working")

    def tool(self, name: str) -> Locator:
        return self.page.get_by_role("group", name=f"Tool {name}")

    async def done(self, count: int = 1) -> None:
        """All of it is over, for the count-th time in this conversation."""
        await expect(self.page.locator(".ended")).to_have_count(count)
        await expect(self.working).to_have_count(0)
        await expect(self.page.locator(".prose.unparsed")).to_have_count(0)

    async def built(self, variants: int = 2) -> None:
        """Every variant is done."""
        cards = self.page.get_by_role("group", name="Variants").get_by_role("button", name=re.compile("completed"))
        await expect(cards).to_have_count(variants)

    async def axe(self, *rules: str) -> list[dict[str, Any]]:
        """What axe finds wrong with what is shown, by these rules or by all of them.

        The style sheets are the same in all views: the rule that reads them is tried once in a page."""
        options: dict[str, Any] = {"iframes": False, "resultTypes": ["violations"], "preload": False}
        if rules:
            options["runOnly"] = list(rules)
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(AXE.read_text())
            options["preload"] = True
        await self.page.evaluate(TRANSITIONS)
        violations = await self.page.evaluate(
            "options => axe.run(document, options).then(one => one.violations)", options
        )
        return [
            {
                "rule": violation["id"],
                "help": violation["help"],
                "nodes": [node["html"][:160] for node in violation["nodes"][:3]],
            }
            for violation in violations
        ]


@contextmanager
def serving(workspace: Path, data: Path) -> Generator[str]:
    """Start a server with a folder to work in. Yields where its page is, with its token."""
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    command = [sys.executable, str(HOST), "--data", str(data), "--workspace", str(workspace), "--piece", PIECE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"HEALD_TOKEN": "t" * 32}) as server:
        assert server.stdout is not None
        ready = json.loads(server.stdout.readline())
        yield f"{ready['url']}/#token={'t' * 32}"
        server.terminate()
        server.wait(20)


@asynccontextmanager
async def visiting(
    chrome: Browser, address: str, *, motion: Literal["no-preference", "reduce"] = "no-preference"
) -> AsyncGenerator[Visit]:
    """Open the page at an address, as a person who has seen no more of it than the tour."""
    context = await chrome.new_context(viewport=SIZE, reduced_motion=motion)
    await context.add_init_script(TOUR_SEEN)
    visit = Visit(await context.new_page(), address)
    try:
        await visit.open()
        yield visit
    finally:
        await asyncio.wait_for(context.close(), 60)


class OpenPage:
    """One page for many tests: loading it costs more than most of what a test does with it. Its person wants little
    motion, which is a tenth of the processor time."""

    def __init__(self, chrome: Browser, address: str) -> None:
        self._chrome = chrome
        self._address = address
        self._stack = AsyncExitStack()
        self._visit: Visit | None = None

    async def show_start(self) -> Visit:
        """Show the start of the page."""
        if self._visit is None:
            self._visit = await self._stack.enter_async_context(visiting(self._chrome, self._address, motion="reduce"))
        else:
            async with asyncio.timeout(LONG / 1000):
                await self._visit.page.evaluate("location.hash = '#/'")
                await expect(self._visit.page.get_by_label("What to build")).to_be_visible()
        self._visit.forget()
        return self._visit

    async def clear(self) -> bool:
        """Remove what a test left in the browser and on the server. False: that failed, and the page is of no use."""
        assert self._visit is not None
        try:
            async with asyncio.timeout(LONG / 1000):  # a script waits for ever where the page is busy for ever
                await self._clear(self._visit.page)
        except (AssertionError, Error, TimeoutError):
            return False
        return True

    async def _clear(self, page: Page) -> None:
        for other in page.context.pages:
            if other is not page:
                await other.close()
        await page.unroute_all()
        await page.set_viewport_size(SIZE)
        await page.emulate_media(color_scheme="light", reduced_motion="reduce")
        await page.evaluate("location.hash = '#/sessions'")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
        await page.evaluate(f"localStorage.clear(); sessionStorage.clear(); {TOUR_SEEN}")
        await empty_server(self._address)
        await page.get_by_label("Search projects and sessions").fill("")
        await page.evaluate("location.hash = '#/'")  # asks for the list once more
        await expect(page.get_by_role("list", name="Recent")).to_contain_text("Nothing here yet.")

    async def close(self) -> None:
        """Close it. The next test opens another."""
        self._visit = None
        await self._stack.aclose()
        await empty_server(self._address)


def connect(address: str) -> aiohttp.ClientSession:
    """A client of the server at the address of its page."""
    url, _, token = address.partition("/#token=")
    return aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {token}"})


async def until_built(client: aiohttp.ClientSession, project: str) -> None:
    """Wait until no variant of a project is at work."""
    async with asyncio.timeout(LONG / 1000), client.get(f"/projects/{project}/events") as stream:
        async for line in stream.content:
            if line.startswith(b"data: "):
                versions = json.loads(line[6:])["project"]["versions"]
                statuses = {variant["status"] for version in versions for variant in version["variants"]}
                if statuses.isdisjoint({"queued", "running"}):
                    return
    raise AssertionError("the events of the project ended first")


async def empty_server(address: str) -> None:
    """Delete all projects and sessions, also those at work: the start of the page shows and runs them."""
    async with connect(address) as client:
        for kind in ("projects", "sessions"):
            async with client.get(f"/{kind}") as answer:
                listed: list[dict[str, str]] = (await answer.json())[kind]
            for entry in listed:
                async with client.delete(f"/{kind}/{entry['id']}") as answer:
                    assert answer.status in (204, 404), await answer.text()
