"""Models write the pages and the words that are shown; none of it is believed."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
from page_support import Visit, serving, visiting
from playwright.async_api import Browser, expect

from heald_studio.browser.find_chromium import find_chromium


class Sink:
    """Counts whoever comes."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.address = ""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append((await reader.readline()).decode("latin-1").strip() or "a connection")
        writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def sink() -> AsyncGenerator[Sink]:
    sink = Sink()
    server = await asyncio.start_server(sink.accept, "127.0.0.1", 0)
    sink.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield sink


async def unharmed(visit: Visit) -> None:
    assert await visit.page.evaluate("window.__pwn") is None
    assert (
        await visit.page.evaluate(
            "document.querySelectorAll('main img[onerror], main script, main svg[onload]').length"
        )
        == 0
    )


async def test_markdown_is_text_and_loads_nothing(visit: Visit, sink: Sink) -> None:
    await visit.ask(f"hostile markdown {sink.address}")
    await visit.done()
    await expect(visit.log).to_contain_text("window.__pwn=1")
    await unharmed(visit)
    answer = visit.log.locator(".prose")
    assert await answer.locator("img, iframe, script, object, svg, form").count() == 0
    for link in await answer.locator("a[href]").all():
        assert re.match("https?://", await link.get_attribute("href") or "")
        assert await link.get_attribute("rel") == "noopener noreferrer"
    await visit.page.wait_for_timeout(300)
    assert sink.heard == []


async def test_names_results_thoughts_and_questions_are_text(visit: Visit) -> None:
    await visit.ask("hostile words", permissions="ask")
    await expect(visit.page.get_by_role("button", name="Allow once")).to_be_visible()
    await unharmed(visit)
    await visit.page.get_by_role("button", name="Allow once").click()
    await visit.page.get_by_role("button", name="no", exact=True).click()
    await visit.done()
    for head in await visit.page.locator(".tool-head, .fold").all():
        await head.click()
    for tab in ("Files", "Events"):
        await visit.page.get_by_role("tab", name=re.compile(tab)).click()
        await visit.page.wait_for_timeout(300)
    await unharmed(visit)


async def test_a_page_cannot_escape_its_frame(first_visit: Visit, sink: Sink) -> None:
    """As it is written, in the frame, and in a tab of its own."""
    first_visit.strict = False  # the console is full of what was refused
    page = first_visit.page
    request = f"hostile page {sink.address.removeprefix('http://')}"
    await first_visit.build(request, variants=1, models=["quick"])
    await first_visit.built(1)
    frame = page.locator(".stage iframe.shown")
    await expect(frame).to_have_attribute("sandbox", "allow-scripts")
    await expect(page.locator(".stage").frame_locator("iframe.shown").locator("h1")).to_have_text("Escape")
    address = await page.get_by_role("link", name="Open in its own tab").get_attribute("href")
    await page.wait_for_timeout(3000)
    assert sink.heard == []
    assert page.url.startswith(first_visit.address.split("#", maxsplit=1)[0])
    assert await page.title() == f"{request} · Heald"
    await unharmed(first_visit)
    tab = await page.context.new_page()
    await tab.goto(first_visit.address.split("/#", maxsplit=1)[0] + str(address))
    inner = tab.frame_locator("iframe")
    await expect(inner.locator("h1")).to_have_text("Escape")
    assert await inner.locator("h1").evaluate("() => window.origin") == "null"
    await tab.wait_for_timeout(3000)  # it tries to go elsewhere, at once and after two seconds
    assert await tab.title() == "Preview"
    assert tab.url.endswith(str(address))
    await expect(tab.get_by_text("this page was written by a model")).to_be_visible()
    await tab.close()
    assert sink.heard == []
    assert len(page.context.pages) == 1


@pytest_asyncio.fixture(loop_scope="session")
async def isolated_visit(tmp_path: Path, chrome: Browser) -> AsyncGenerator[Visit]:
    """A person whose browser has a process for each preview, as all have that people use.

    The shell does that only when it is asked to. The other tests do without it: such processes cost time. So this one
    has a server of its own: the start of the page that is open in the shared browser would run its projects as well."""
    browser = await chrome.browser_type.launch(
        executable_path=str(find_chromium()), args=["--no-sandbox", "--site-per-process"]
    )
    workspace = tmp_path / "work"
    workspace.mkdir()
    with serving(workspace, tmp_path / "data") as address:
        async with visiting(browser, address) as visit:
            yield visit
        await asyncio.wait_for(browser.close(), 20)


async def test_a_page_that_never_ends_does_not_stop_ours(isolated_visit: Visit) -> None:
    page = isolated_visit.page
    await isolated_visit.build("busy page", variants=1, models=["quick"])
    await isolated_visit.built(1)
    await page.get_by_role("tab", name="History").click(timeout=10_000)
    await expect(page.locator(".history-row")).to_have_count(1)
    await page.get_by_label("What to change").fill("still here")
    assert await page.get_by_label("What to change").input_value() == "still here"
    await page.get_by_role("tab", name="Preview").click()
    await page.get_by_role("button", name="Unload preview").click()
    await expect(page.locator(".stage iframe")).to_have_count(0)
