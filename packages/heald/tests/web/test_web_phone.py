"""A phone: what an agent does is watched there, its calls are approved and denied, and work is stopped."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
from page_support import TOUR_SEEN, Visit, empty_server
from playwright.async_api import Browser, Locator, ViewportSize, expect

PHONE: ViewportSize = {"width": 390, "height": 780}
FINGER = 24
"""CSS pixels that a control needs in both directions to be hit with a finger (WCAG 2.2, 2.5.8)."""
OVERFLOW = "() => document.documentElement.scrollWidth - innerWidth"


@pytest_asyncio.fixture(loop_scope="session")
async def phone(address: str, chrome: Browser) -> AsyncGenerator[Visit]:
    context = await chrome.new_context(viewport=PHONE, is_mobile=True, has_touch=True, device_scale_factor=2)
    await context.add_init_script(TOUR_SEEN)
    visit = Visit(await context.new_page(), address)
    await visit.page.goto(address)
    await expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    try:
        yield visit
    finally:
        await context.close()
        await empty_server(address)
    assert not visit.problems, visit.problems


async def tap(control: Locator) -> None:
    """Tap a control that lies in the window and is large enough."""
    await control.scroll_into_view_if_needed()
    box = await control.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert min(box["width"], box["height"]) >= FINGER
    await control.tap()


async def test_a_call_is_read_and_approved_on_a_phone(phone: Visit, tmp_path: Path) -> None:
    page = phone.page
    await phone.ask("Please write notes", permissions="ask")
    allow = page.get_by_role("button", name=re.compile("^Allow"))
    await expect(allow.first).to_be_visible()
    assert await page.evaluate(OVERFLOW) <= 0
    assert await phone.axe() == []
    await page.screenshot(path=tmp_path / "approval.png")
    await tap(allow.first)
    await phone.done()
    await expect(phone.tool("write_file")).to_be_visible()
    for tab in ("Files", "Events"):
        await tap(page.get_by_role("tab", name=re.compile(tab)))
        assert await page.evaluate(OVERFLOW) <= 0
        assert await phone.axe() == []
        await page.screenshot(path=tmp_path / f"{tab}.png")


async def test_a_conversation_is_watched_and_stopped_on_a_phone(phone: Visit, tmp_path: Path) -> None:
    page = phone.page
    await phone.ask("An endless answer", model="scripted/slow")
    await expect(phone.working).to_be_visible()
    await page.screenshot(path=tmp_path / "working.png")
    assert await page.evaluate(OVERFLOW) <= 0
    await tap(page.get_by_role("button", name="Stop").first)
    await expect(phone.working).to_have_count(0)


async def test_a_project_is_watched_and_stopped_on_a_phone(phone: Visit, tmp_path: Path) -> None:
    page = phone.page
    await page.get_by_label("What to build").fill("A long page")
    await tap(page.get_by_role("button", name=re.compile("^Models")))
    await page.get_by_role("menuitemradio", name="Automatic").click()
    await page.get_by_role("menuitemcheckbox", name="scripted/slow").click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Variants").select_option("2")
    await tap(page.get_by_role("button", name="Build", exact=True))
    await expect(page.locator(".stage iframe.shown")).to_be_visible()
    assert await page.evaluate(OVERFLOW) <= 0
    assert await phone.axe() == []
    await page.screenshot(path=tmp_path / "building.png")
    await tap(page.get_by_role("button", name="Stop variant 1"))
    await expect(page.get_by_role("button", name="Stop variant 1")).to_have_count(0)
    await tap(page.get_by_role("tab", name="Chat"))
    variants = page.get_by_role("group", name="Variants")
    await expect(variants.get_by_role("button", name=re.compile("Variant 1, stopped"))).to_be_visible()
    await page.screenshot(path=tmp_path / "chat.png")
    assert await page.evaluate(OVERFLOW) <= 0
    await tap(variants.get_by_role("button", name="Stop variant 2"))
    await expect(variants.get_by_role("button", name=re.compile("Variant 2, stopped"))).to_be_visible()
