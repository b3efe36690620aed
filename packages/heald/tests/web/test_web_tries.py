"""A retry of a variant keeps the page before it, and every action of a project is undone and redone."""

import re

from page_support import Visit
from playwright.async_api import FrameLocator, Locator, expect


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


def heading(visit: Visit) -> Locator:
    return stage(visit).locator("h1")


def tries(visit: Visit) -> Locator:
    return visit.page.get_by_role("group", name="Try")


async def retry(visit: Visit, number: int = 1) -> None:
    await visit.page.get_by_role("button", name=f"Retry variant {number}").press("Enter")


def undo(visit: Visit) -> Locator:
    return visit.page.get_by_role("button", name=re.compile("^(Undo:|Nothing to undo)"))


def redo(visit: Visit) -> Locator:
    return visit.page.get_by_role("button", name=re.compile("^(Redo:|Nothing to redo)"))


async def test_a_retry_keeps_the_page_before_it(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("numbered page", variants=1, models=["quick"])
    first = await heading(visit).inner_text()
    await retry(visit)
    await expect(tries(visit)).to_have_attribute("aria-label", "Try 2 of 2")
    await visit.built(1)
    await expect(heading(visit)).not_to_have_text(first)
    assert await visit.axe() == []
    await page.get_by_role("button", name="Previous try").click()
    await expect(heading(visit)).to_have_text(first)
    await page.reload()
    await expect(tries(visit)).to_have_attribute("aria-label", "Try 1 of 2")
    await expect(heading(visit)).to_have_text(first)
    await page.get_by_role("button", name="Next try").click()
    await expect(heading(visit)).not_to_have_text(first)


async def test_a_retry_that_is_stopped_leaves_the_page_before_it(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("numbered page", variants=1, models=["patient"])
    first = await heading(visit).inner_text()
    await retry(visit)
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
    await page.get_by_role("button", name="Stop variant 1").press("Enter")
    await visit.built(1)
    await expect(tries(visit)).to_have_attribute("aria-label", "Try 1 of 2")
    await expect(heading(visit)).to_have_text(first)
    await expect(undo(visit)).to_have_accessible_name("Nothing to undo")


async def test_every_action_is_undone_and_redone_over_reloads(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("build a page", variants=2, models=["quick", "calm"])
    await expect(undo(visit)).to_be_disabled()
    await page.get_by_role("button", name="Remove variant 2").press("Enter")
    await expect(page.locator(".variant")).to_have_count(1)
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await visit.built(1)
    await expect(heading(visit)).to_have_text("Woven from many threads, again")
    await page.get_by_role("button", name="Rename").click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("Another name")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Another name")
    await page.get_by_role("tab", name="History").click()
    await page.get_by_role("button", name="Restore version 1").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 3")
    await page.get_by_role("tab", name="Preview").click()
    await expect(heading(visit)).to_have_text("Woven from many threads")

    await expect(undo(visit)).to_have_accessible_name("Undo: restore version 1 (U)")
    await page.reload()
    await undo(visit).click()
    await expect(heading(visit)).to_have_text("Woven from many threads, again")
    await expect(undo(visit)).to_have_accessible_name("Undo: rename to “Another name” (U)")
    await expect(redo(visit)).to_have_accessible_name("Redo: restore version 1 (Shift+U)")
    await undo(visit).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("build a page")
    await expect(undo(visit)).to_have_accessible_name("Undo: change “change the headline” (U)")
    await page.reload()
    await undo(visit).click()
    await expect(heading(visit)).to_have_text("Woven from many threads")
    await expect(page.locator(".project-head")).to_contain_text("Current")
    await expect(undo(visit)).to_have_accessible_name("Undo: removal of variant 2 of version 1 (U)")
    await undo(visit).click()
    await expect(page.locator(".variant")).to_have_count(2)
    await expect(undo(visit)).to_be_disabled()
    assert await visit.axe() == []
    await page.reload()
    for _ in range(4):
        await expect(redo(visit)).to_be_enabled()
        words = await redo(visit).get_attribute("aria-label") or ""
        await redo(visit).click()
        await expect(redo(visit)).not_to_have_accessible_name(words)
    await expect(redo(visit)).to_be_disabled()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Another name")
    await expect(page.get_by_label("Version", exact=True).locator("option:checked")).to_have_text("Version 3")


async def test_a_retry_is_undone_and_redone_by_its_keys(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("numbered page", variants=1, models=["quick"])
    first = await heading(visit).inner_text()
    await retry(visit)
    await expect(tries(visit)).to_have_attribute("aria-label", "Try 2 of 2")
    await visit.built(1)
    await expect(undo(visit)).to_have_accessible_name("Undo: retry of variant 1 of version 1 (U)")
    await page.locator("body").press("u")
    await expect(heading(visit)).to_have_text(first)
    await page.locator("body").press("Shift+U")
    await expect(heading(visit)).not_to_have_text(first)


async def test_what_another_tab_did_meanwhile_is_not_undone_unseen(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("409")
    await visit.open_built("build a page", variants=1, models=["quick"])
    await page.get_by_role("button", name="Rename").click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("First")
    await page.keyboard.press("Enter")
    await expect(undo(visit)).to_have_accessible_name("Undo: rename to “First” (U)")
    await page.route("**/undo", lambda route: route.continue_(post_data='{"action": "act_other"}'))
    await undo(visit).click()
    await expect(page.get_by_text("changed meanwhile")).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_have_text("First")
