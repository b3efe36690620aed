"""The page of a notification on a phone: what waits is decided with one thumb, and the work stopped."""

import os
from pathlib import Path

import pytest
from page_support import Visit
from playwright.async_api import expect

PHONE = {"width": 390, "height": 844}


async def open_decision(visit: Visit) -> str:
    """Start a session that waits for an approval, and open it as a notification does."""
    await visit.ask("Please write notes", permissions="ask")
    await expect(visit.page.get_by_role("button", name="Allow once")).to_be_visible()
    session = (await visit.page.evaluate("location.hash")).split("/")[2]
    await visit.page.set_viewport_size(PHONE)  # pyright: ignore[reportArgumentType]
    await visit.page.evaluate(f"location.hash = '#/decide/{session}'")
    await expect(visit.page.get_by_text("It waits for you.")).to_be_visible()
    return session


async def test_a_call_is_allowed_within_reach_of_a_thumb(first_visit: Visit) -> None:
    await first_visit.open()
    await open_decision(first_visit)
    page = first_visit.page
    await expect(page.get_by_role("heading", name="Allow this call of write_file?")).to_be_visible()
    for name in ("Deny", "Allow once", "Stop the work"):
        box = await page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 48
        assert box["y"] > PHONE["height"] / 2
        assert box["y"] + box["height"] <= PHONE["height"]
        assert box["x"] + box["width"] <= PHONE["width"]
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert await first_visit.axe() == []
    if folder := os.environ.get("HEALD_SCREENSHOTS"):
        await page.screenshot(path=Path(folder) / "decide.png")
    await page.get_by_role("button", name="Allow once").click()
    await expect(page.get_by_role("status").filter(has_text="It is done.")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop the work")).to_have_count(0)


@pytest.mark.parametrize("choice", ["Deny", "Stop the work"])
async def test_a_call_is_denied_or_the_work_stopped(first_visit: Visit, choice: str) -> None:
    await first_visit.open()
    session = await open_decision(first_visit)
    page = first_visit.page
    await page.get_by_role("button", name=choice).click()
    await expect(page.get_by_text("It waits for you.")).to_have_count(0)
    await expect(page.get_by_role("button", name="Stop the work")).to_have_count(0)
    await page.get_by_role("link", name="Open the whole session").click()
    await expect(page.get_by_role("group", name="Tool write_file")).to_contain_text(
        "denied" if choice == "Deny" else "cancelled"
    )
    assert session in await page.evaluate("location.hash")
