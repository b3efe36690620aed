"""What a stranger sees in a browser: the first visit to the page of `heald serve`, and the pages of the tutorial.

Each step leaves a picture. A step that fails, an error in the console and a request to another host are faults.
"""

import re
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LONGEST = 300_000
"""Milliseconds of a step in the browser, at most."""
TERMINAL = """<!doctype html><meta charset="utf-8"><body style="margin:0;background:#14181d;color:#e6e9ec">
<pre style="margin:20px;font:14px/1.45 monospace;white-space:pre-wrap">{text}</pre>"""
SHOWN_LINES = 60
LOCAL = ("127.0.0.1", "localhost", "")
"""Hosts of this machine, and of addresses without a host, such as data: and blob:."""


class StrangerBrowser:
    """A browser that has never been here, and a folder for its pictures."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.faults: list[str] = []
        self._folder = folder
        self._count = 0
        self._context = browser.new_context(viewport={"width": 1280, "height": 800})
        self._context.set_default_timeout(LONGEST)
        self._page = self._context.new_page()
        self._page.on("console", self._on_console)
        self._page.on("pageerror", lambda error: self.faults.append(f"{self._page.url}: {error}"))
        self._context.on("request", self._on_request)

    def print_step(self, command: str, printed: str) -> None:
        """Take a picture of what a command printed."""
        lines = printed.strip().splitlines()
        left_out = [f"… {len(lines) - SHOWN_LINES} lines"] if len(lines) > SHOWN_LINES else []
        page = self._context.new_page()
        page.set_content(TERMINAL.format(text=escape("\n".join([f"$ {command}", *lines[:SHOWN_LINES], *left_out]))))
        self._shoot(page, command)
        page.close()

    def visit_start(self, address: str) -> None:
        """Follow the tour, open a finished project, and build a page from a picture of the start page."""
        for name, step in (
            ("tour", lambda: self._follow_tour(address)),
            ("keys", self._list_keys),
            ("gallery", self._open_finished),
            ("build", self._build_example),
        ):
            self._try(f"heald serve, {name}", step)
        self._page.goto("about:blank")  # its server ends next

    def show_file(self, path: Path) -> None:
        """Open a page that was built, from its folder."""
        self._try(path.name, lambda: self._open_file(path))

    def ask_bakery(self, address: str) -> None:
        """Use the page at the end of the tutorial."""
        self._try("bakery.html", lambda: self._ask_bakery(address))

    def close(self) -> None:
        self._context.close()

    def _follow_tour(self, address: str) -> None:
        self._page.goto(address)
        tour = self._page.get_by_role("region", name="Tour")
        for number in (1, 2, 3):
            expect(tour).to_contain_text(f"Step {number} of 3", timeout=LONGEST)
            self._shoot(self._page, f"tour-{number}")
            tour.get_by_role("button", name=re.compile("^(Next|Done)$")).click()
        expect(tour).to_have_count(0)

    def _list_keys(self) -> None:
        self._page.get_by_role("button", name="Help").click()
        dialog = self._page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(dialog).to_be_visible()
        self._shoot(self._page, "keys")
        dialog.get_by_role("button", name="Close").click()

    def _open_finished(self) -> None:
        self._page.get_by_role("region", name="Finished projects").get_by_role("button").first.click()
        preview = self._page.locator(".stage").frame_locator("iframe.shown")
        expect(preview.get_by_role("heading", level=1)).to_be_visible(timeout=LONGEST)
        self._shoot(self._page, "gallery")

    def _build_example(self) -> None:
        self._page.get_by_role("link", name="New").click()
        self._page.get_by_role("button", name="Sign-in page").click()
        self._page.get_by_role("button", name="Build", exact=True).click()
        variants = self._page.get_by_role("group", name="Variants")
        expect(variants.get_by_role("button", name=re.compile("completed")).first).to_be_visible(timeout=LONGEST)
        expect(self._page.locator(".stage iframe.shown")).to_be_visible(timeout=LONGEST)
        self._shoot(self._page, "build")

    def _open_file(self, path: Path) -> None:
        self._page.goto(path.as_uri())
        expect(self._page.locator("body")).not_to_be_empty()
        self._shoot(self._page, path.name)

    def _ask_bakery(self, address: str) -> None:
        self._page.goto(address)
        self._page.get_by_role("button", name="Ask").click()
        expect(self._page.locator("#said")).to_contain_text("On Sunday: closed.", timeout=LONGEST)
        self._shoot(self._page, "bakery")

    def _try(self, name: str, step: Callable[[], None]) -> None:
        try:
            step()
        except (Error, AssertionError) as error:
            self.faults.append(f"{name}: {str(error)[:2000]}")
            self._shoot(self._page, f"{name} failed")

    def _shoot(self, page: Page, name: str) -> None:
        self._count += 1
        word = re.sub(r"[^\w.]+", "-", name).strip("-")[:50]
        page.screenshot(path=self._folder / f"{self._count:02}-{word}.png")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"{self._page.url}: {message.text}")

    def _on_request(self, request: Request) -> None:
        if (urlsplit(request.url).hostname or "") not in LOCAL:
            self.faults.append(f"{self._page.url}: a request to another host, {request.url[:200]}")


@contextmanager
def open_browser(folder: Path) -> Generator[StrangerBrowser]:
    """A browser that writes its pictures into a folder, which is emptied first."""
    if CHROMIUM is None:
        raise SystemExit("Chromium is needed for the pictures; install it, or leave them out with --no-pictures.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        stranger = StrangerBrowser(chromium, folder)
        try:
            yield stranger
        finally:
            stranger.close()
            chromium.close()
