"""A page as it is written: shown by the same rules as the finished one."""

import asyncio
from collections.abc import AsyncGenerator

import pytest_asyncio
from page_support import Visit
from playwright.async_api import expect


@pytest_asyncio.fixture(loop_scope="session")
async def sink() -> AsyncGenerator[tuple[str, list[str]]]:
    """An address that nothing in a draft may reach, and who came there."""
    requests: list[str] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append((await reader.readline()).decode("latin-1"))
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", requests


async def test_a_draft_runs_its_scripts_in_an_origin_of_its_own(visit: Visit) -> None:
    page = visit.page
    await visit.build("scripted page", variants=1, models=["patient"])
    frame = page.locator(".stage iframe.shown")
    await expect(frame).to_have_attribute("sandbox", "allow-scripts")
    source = await frame.get_attribute("src") or ""
    assert source.endswith("/_draft")
    inside = page.locator(".stage").frame_locator("iframe.shown")
    await expect(inside.locator("#written")).to_have_text("by its own script")
    seen = await inside.locator("#written").evaluate("() => [window.origin, window.alert.toString()]")
    assert seen == ["null", "() => undefined"]
    assert not await page.locator("iframe[srcdoc]").count()
    await visit.built(1)
    await expect(inside.locator("#end")).to_have_text("The end.")


async def test_a_draft_cannot_escape_its_frame(first_visit: Visit, sink: tuple[str, list[str]]) -> None:
    first_visit.strict = False  # the console is full of what was refused
    page = first_visit.page
    address, requests = sink
    refused: list[tuple[str, str]] = []
    page.on("console", lambda message: refused.append((message.location["url"], message.text)))
    await first_visit.build(f"hostile page {address}", variants=1, models=["steady"])
    await expect(page.locator(".stage").frame_locator("iframe.shown").locator("h1")).to_have_text("Escape")
    await first_visit.built(1)
    tried = [text for url, text in refused if url.endswith("/_draft")]
    assert any("/events" in text for text in tried), "its script never ran in a draft"
    await page.wait_for_timeout(500)
    assert requests == []
    assert await page.title() == f"hostile page {address} · Heald"
    assert await page.evaluate("window.__pwn") is None
