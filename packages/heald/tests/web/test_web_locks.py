"""Locking parts of a page: by the selected element and by file, listed, refused when they change, and unlocked."""

from page_support import Visit
from playwright.async_api import FrameLocator, expect

SOURCE = """<!doctype html>
<html lang="en"><head><title>Harbour Cafe</title></head>
<body style="margin: 0"><p style="text-align: right; color: navy">Open today</p><h1>Coffee</h1></body></html>
"""


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def test_a_locked_element_cannot_be_changed_until_it_is_unlocked(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("409")
    await page.evaluate("location.hash = '#/'")
    file = {"name": "cafe.html", "mimeType": "text/html", "buffer": SOURCE.encode()}
    await page.locator("input[type=file]").first.set_input_files([file])  # pyright: ignore[reportArgumentType]
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_have_text("Coffee")
    await page.get_by_role("radio", name="Mobile").click()
    await page.get_by_role("button", name="Select and edit").click()
    await stage(visit).locator("h1").click()
    panel = page.get_by_role("form", name="Change the element")
    element = panel.get_by_role("group", name="Lock the element").get_by_role("button", name="Element")
    await element.click()
    await expect(element).to_have_attribute("aria-pressed", "true", timeout=60_000)
    assert await visit.axe() == []
    await panel.get_by_label("Text", exact=True).fill("Tea")
    await panel.get_by_role("button", name="Apply as new version").click()
    await expect(page.get_by_text("is locked, but its text is now “Tea”")).to_be_visible(timeout=60_000)
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(1)
    await page.get_by_role("tab", name="Code").click()
    await page.get_by_role("button", name="Lock", exact=True).click()
    await expect(page.get_by_role("button", name="Locked", exact=True)).to_be_visible()
    await page.get_by_role("button", name="2 locked").click()
    await expect(page.get_by_role("list", name="Locks")).to_contain_text("the file index.html")
    assert await visit.axe() == []
    await page.get_by_role("button", name="Unlock the element <h1> “Coffee”").click()
    await expect(page.get_by_role("button", name="1 locked")).to_be_visible()
