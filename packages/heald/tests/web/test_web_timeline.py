"""The time line of an assistant on a folder: the plan, commands with their output, and checkpoints to go back to."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import TOUR_SEEN, Visit, empty_server
from playwright.async_api import Browser, ViewportSize, expect

WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 780}
OVERFLOW = "() => document.documentElement.scrollWidth - innerWidth"


@pytest_asyncio.fixture(loop_scope="session", params=["wide-light", "phone-dark"])
async def window(address: str, chrome: Browser, request: pytest.FixtureRequest) -> AsyncGenerator[Visit]:
    """A desk with a light page, and a phone with a dark one."""
    is_phone = request.param == "phone-dark"
    context = await chrome.new_context(
        viewport=PHONE if is_phone else WIDE,
        color_scheme="dark" if is_phone else "light",
        is_mobile=is_phone,
        has_touch=is_phone,
    )
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


@pytest.mark.usefixtures("fresh_workspace")
async def test_work_on_a_folder_is_followed_and_taken_back(window: Visit, tmp_path: Path) -> None:
    page = window.page
    await window.ask("number the lines", folder="demo")
    await window.done()
    for count, text in enumerate(("change the lines", "run a command", "make a plan"), 2):
        await window.send_message(text)
        await window.done(count)
    await page.get_by_role("tab", name="Timeline").click()
    plan = page.get_by_role("region", name="Plan")
    await expect(plan).to_contain_text("1 of 2 done")
    points = page.get_by_role("list", name="Checkpoints").get_by_role("article")
    await expect(points).to_have_count(4)
    await expect(points.nth(1)).to_contain_text("review.txt")
    command = points.nth(2).locator("details")
    await command.locator("summary").click()
    await expect(command.get_by_role("region")).to_contain_text("step 3")
    assert await page.evaluate(OVERFLOW) <= 0
    assert await window.axe() == []
    await page.screenshot(path=tmp_path / "timeline.png")

    await page.get_by_role("button", name="Go back to before this: change the lines").click()
    await expect(points).to_have_count(1)
    await expect(page.get_by_text("there is a later state")).to_be_visible()
    await page.get_by_role("tab", name=re.compile("Files")).click()
    await page.get_by_role("treeitem", name=re.compile("review.txt")).click()
    await page.get_by_role("radio", name="Content").click()
    await expect(page.locator(".file-content")).not_to_contain_text("changed 15")

    await page.get_by_role("tab", name="Timeline").click()
    await page.get_by_role("button", name="Return to the later state").click()
    await expect(points).to_have_count(4)
    await page.get_by_role("tab", name=re.compile("Files")).click()
    await page.get_by_role("treeitem", name=re.compile("review.txt")).click()
    await page.get_by_role("radio", name="Content").click()
    await expect(page.locator(".file-content")).to_contain_text("changed 15")

    await page.get_by_role("tab", name="Timeline").click()
    await page.get_by_role("button", name="Go back to before this: number the lines").click()
    await expect(points).to_have_count(0)  # the file is deleted, too
    window.expected.append("/files/review.txt")  # its content may be asked for before the page hears of that
    await page.get_by_role("tab", name=re.compile("Files")).click()
    await page.get_by_role("treeitem", name=re.compile("review.txt")).click()
    await page.get_by_role("radio", name="Content").click()
    await expect(page.get_by_text("The file is deleted.")).to_be_visible()
