"""Pictures of the page's main views for the docs: light and dark, large and small.

    python scripts/screenshots.py [folder]

It needs the built page (`npm ci && npm run build` in web/), Chromium and the local converter. The turns of all other
models are written in code.
"""

import asyncio
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from heald_local.model import LABEL

ROOT = Path(__file__).parent.parent
HOST = ROOT / "web" / "dev" / "host.py"
CHROMIUM = "/usr/bin/chromium"
LARGE: ViewportSize = {"width": 1440, "height": 900}
SMALL: ViewportSize = {"width": 390, "height": 780}
SLOW = 300_000
"""Milliseconds in which a picture has been read."""
TURN = 300
"""Milliseconds in which everything that moves has come to rest."""


class Views:
    """The views, each as a way to get there."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def start(self) -> None:
        await self._go("#/")
        await self.page.get_by_role("heading", name="What shall we build?").wait_for()

    async def conversation(self) -> None:
        await self._open_session("What should I wear in Oslo? markdown")

    async def approval(self) -> None:
        await self._open_session("Please write notes")

    async def files(self) -> None:
        await self._open_session("Number the lines")
        await self.page.get_by_role("tab", name=re.compile("Files")).click()
        await self.page.get_by_role("group", name="Changes in review.txt").wait_for()

    async def events(self) -> None:
        await self._open_session("Please write notes, without asking")
        await self.page.get_by_role("tab", name="Events").click()
        await self.page.get_by_role("radio", name="Waterfall").click()

    async def project(self) -> None:
        await self._open_project()

    async def code(self) -> None:
        await self._open_project()
        await self.page.get_by_role("tab", name="Code").click()
        await self.page.get_by_label("Content of index.html").wait_for()

    async def compare(self) -> None:
        await self._go("#/")
        without_picture = re.compile("weaving|fail|slowly|Harbour")
        await self.page.locator(".project-card").filter(has_not_text=without_picture).first.click()
        await self.page.get_by_role("tab", name="Compare").click()
        await self.page.locator(".scores").wait_for()
        for alt in ("Target", "Result"):
            await self.page.wait_for_function(
                f"() => document.querySelector('img[alt={alt}]')?.naturalWidth > 0", timeout=SLOW
            )

    async def element(self) -> None:
        await self._open_project()
        preview = self.page.locator(".stage").frame_locator("iframe.shown")
        await preview.locator("h1", has_not_text="again").wait_for()  # the first version is shown
        await self.page.get_by_role("button", name="Select and edit").click()
        layers = self.page.get_by_role("button", name="Layers", exact=True)
        await layers.click()
        await self.page.get_by_role("treeitem", name=re.compile("^h1")).click()
        await self.page.get_by_role("form", name="Change the element").wait_for()
        if self.page.viewport_size != LARGE:
            await layers.click()

    async def history(self) -> None:
        await self._open_project()
        await self.page.get_by_role("tab", name="History").click()
        await self.page.locator(".history-row .added").first.wait_for()

    async def failed(self) -> None:
        await self._go("#/")
        await self.page.locator(".project-card").filter(has_text="fail").click()
        await self.page.get_by_text("No page was made").wait_for()

    async def building(self) -> None:
        await self._go("#/")
        await self.page.get_by_label("What to build").fill("A long page, built slowly")
        await choose_models(self.page, ["scripted/steady", "scripted/slow"])
        await self.page.get_by_role("button", name="Build", exact=True).click()
        await self.page.locator(".stage iframe.shown").wait_for(timeout=SLOW)
        await self.page.locator(".stage").frame_locator("iframe.shown").get_by_text("Card 3").wait_for(timeout=SLOW)

    async def share(self) -> None:
        await self._open_project()
        await self.page.get_by_role("button", name="Share").click()
        await self.page.get_by_role("button", name="Make a link").click()
        await self.page.get_by_label("Link", exact=True).wait_for()

    async def pages(self) -> None:
        await self._go("#/")
        await self.page.locator(".project-card").filter(has_text="Harbour Cafe").click()
        await self.page.get_by_label("Page", exact=True).select_option("opening-hours.html")
        preview = self.page.locator(".stage").frame_locator("iframe.shown")
        await preview.get_by_role("heading", name="Opening hours").wait_for()
        if self.page.viewport_size == LARGE:
            await self.page.get_by_role("button", name="Pages").click()

    async def push(self) -> None:
        await self._open_project()
        await self.page.get_by_role("button", name="Download").click()
        await self.page.get_by_role("menuitem", name="Push to git").click()
        await self.page.get_by_role("dialog", name="Push to git").wait_for()

    async def palette(self) -> None:
        await self._open_project()
        await self.page.keyboard.press("Control+k")
        await self.page.locator(".palette-list li").nth(8).wait_for()

    async def settings(self) -> None:
        await self._go("#/settings")
        await self.page.get_by_role("heading", name="Settings").wait_for()

    async def _go(self, place: str) -> None:
        await self.page.evaluate(f"location.hash = '{place}'")

    async def _open_session(self, title: str) -> None:
        await self._go("#/sessions")
        await self.page.locator(".list-link").filter(has_text=title).first.click()
        await self.page.get_by_role("log").wait_for()

    async def _open_project(self) -> None:
        await self._go("#/")
        await self.page.locator(".project-card").filter(has_text="weaving").click()
        await self.page.locator(".stage iframe.shown").wait_for()
        await self.page.get_by_label("Version", exact=True).select_option(label="Version 1")
        await self.page.get_by_role("heading", name="weaving").wait_for()


NAMES = (
    "start",
    "conversation",
    "approval",
    "files",
    "events",
    "project",
    "code",
    "compare",
    "history",
    "element",
    "failed",
    "settings",
    "building",
    "share",
    "push",
    "pages",
    "palette",
)
COLOURS = 160
"""Colours of a picture: enough for the page, and a quarter of the bytes."""


async def prepare(page: Page) -> None:
    """Something to look at."""
    for text, permissions, until in (
        ("What should I wear in Oslo? markdown", "auto", ".ended"),
        ("Please write notes, without asking", "auto", ".ended"),
        ("Please write notes", "ask", ".ask"),
    ):
        await ask(page, text, permissions, until)
    await ask(page, "Number the lines", "auto", ".ended")
    await page.get_by_role("tab", name=re.compile("Files")).click()
    await page.get_by_role("button", name="Accept all").click()
    await page.get_by_label("Message", exact=True).fill("Now change the lines")
    await page.keyboard.press("Enter")
    await page.locator(".ended").nth(1).wait_for()
    await page.evaluate("location.hash = '#/'")
    await page.locator("input[type=file]").set_input_files(ROOT / "examples" / "shot.png")
    await build(page, [LABEL])
    await page.evaluate("location.hash = '#/'")
    await page.get_by_label("What to build").fill("Please fail")
    await build(page, ["scripted/quick", "scripted/calm"], "failed")
    await import_site(page)
    await page.evaluate("location.hash = '#/'")
    await page.get_by_label("What to build").fill("Build a landing page for a weaving studio")
    await build(page, [f"scripted/{name}" for name in ("quick", "calm", "bright", "plain")])
    await page.get_by_label("What to change").fill("Change the headline")
    await page.keyboard.press("Enter")
    await page.locator(".stage").frame_locator("iframe.shown").get_by_text("again").wait_for()
    await page.get_by_role("button", name="Earlier version ([)").click()


SITE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Harbour Cafe</title><style>
body { margin: 0; font: 18px/1.6 Georgia, serif; color: #23313a; background: #fbf7f0 }
header, main, footer { max-width: 900px; margin: 0 auto; padding: 24px }
nav a { margin-right: 20px; color: #0f5c6e } main { min-height: 420px } h1 { font-size: 52px; line-height: 1.1 }
footer { border-top: 1px solid #d9cfbe; font-size: 15px }
</style></head><body>
<header><nav><a href="index.html">Home</a> <a href="menu.html">Menu</a></nav></header>
<main><h1>Coffee where the boats come in</h1><p>Every morning from six, with bread from next door.</p></main>
<footer>Harbour Cafe, Quay 3</footer></body></html>"""


async def import_site(page: Page) -> None:
    """A project of three pages."""
    await page.evaluate(
        """async (html) => {
            const post = (path, body) => fetch(path, {
                method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
            }).then((answer) => answer.json());
            const project = await post("projects", {prompt: {html}});
            let version = project.versions[0];
            for (const name of ["Menu", "Opening hours"]) {
                const base = {version: version.id, variant: 0};
                version = await post(`projects/${project.id}/versions`, {kind: "page", base, action: "add", name});
            }
        }""",
        SITE,
    )


async def ask(page: Page, text: str, permissions: str, until: str) -> None:
    await page.evaluate("location.hash = '#/'")
    await page.get_by_role("radio", name="Assistant").click()
    await page.get_by_label("Permissions").select_option(permissions)
    await page.get_by_label("What to work on").fill(text)
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.locator(until).wait_for()


async def choose_models(page: Page, models: list[str]) -> None:
    await page.get_by_role("button", name=re.compile("^Models")).click()
    await page.get_by_role("menuitemradio", name="Automatic").click()
    for name in models:
        await page.get_by_role("menuitemcheckbox", name=name).first.click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Variants").select_option(str(len(models)))


async def build(page: Page, models: list[str], outcome: str = "completed") -> None:
    await choose_models(page, models)
    await page.get_by_role("button", name="Build", exact=True).click()
    done = page.get_by_role("group", name="Variants").get_by_role("button", name=re.compile(outcome))
    await done.nth(len(models) - 1).wait_for(timeout=SLOW)


async def capture(browser: Browser, address: str, folder: Path, theme: str, size: ViewportSize) -> None:
    context = await browser.new_context(
        viewport=size, color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce"
    )
    page = await context.new_page()
    page.set_default_timeout(SLOW)
    await page.goto(address)
    await page.get_by_test_id("connection").wait_for(state="attached")
    views = Views(page)
    for name in NAMES:
        await getattr(views, name)()
        await page.wait_for_timeout(TURN * 3)
        path = folder / f"page-{name}-{theme}-{'large' if size is LARGE else 'small'}.png"
        await shoot(page, path)
    await context.close()


async def shoot(page: Page, path: Path) -> None:
    """Take a picture with few colours, which is small."""
    whole = Image.open(io.BytesIO(await page.screenshot()))
    whole.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path.name)


async def shoot_without_server(browser: Browser, address: str, server: "subprocess.Popen[bytes]", folder: Path) -> None:
    """The project after its server has gone away."""
    page = await browser.new_page(viewport=LARGE)
    page.set_default_timeout(SLOW)
    await page.goto(address)
    await page.get_by_test_id("connection").wait_for(state="attached")
    await Views(page).project()
    server.terminate()
    await page.get_by_test_id("away").wait_for()
    await shoot(page, folder / "page-offline-light-large.png")


async def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, str(HOST), "--data", data]
        server = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: ASYNC220
        try:
            assert server.stdout is not None
            ready = json.loads(await asyncio.to_thread(server.stdout.readline))
            address = f"{ready['url']}/#token={ready['token']}"
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                page = await browser.new_page(viewport=LARGE)
                await page.goto(address)
                await prepare(page)
                await page.close()
                for theme in ("light", "dark"):
                    for size in (LARGE, SMALL):
                        await capture(browser, address, folder, theme, size)
                await shoot_without_server(browser, address, server, folder)
                await browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
