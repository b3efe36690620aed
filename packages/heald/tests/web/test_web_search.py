"""Words are found in all that was said: on the server over all conversations, and in one long conversation."""

import re

from page_support import Visit
from playwright.async_api import expect


async def test_words_of_conversations_and_projects_are_found(visit: Visit) -> None:
    page = visit.page
    await visit.ask("markdown about quokkas please")
    await visit.done()
    await visit.open_built("build a page about wombats", variants=1, models=["quick"])
    await page.evaluate("location.hash = '#/sessions'")
    box = page.get_by_label("Search projects and sessions")
    await box.fill("three cards")
    hit = page.get_by_role("list", name="Recent").locator(".text-hit").first
    await expect(hit).to_contain_text("a headline and three cards")
    await hit.get_by_role("link").click()
    await expect(page.get_by_role("group", name="Variants")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("quokkas")
    await expect(page.get_by_role("option", name=re.compile("about quokkas")).first).to_be_visible()
    await page.keyboard.press("Escape")


async def test_ctrl_f_finds_words_that_are_scrolled_away(visit: Visit) -> None:
    page = visit.page
    await visit.ask("markdown about quokkas please")
    await visit.done()
    for number in range(2, 12):
        await visit.send_message(f"markdown please, {number}")
        await expect(visit.log.get_by_text(f"markdown please, {number}")).to_be_visible()
        await expect(visit.log.locator(".virtual-item").last.locator(".ended")).to_be_visible()
    await expect(visit.log.get_by_text("quokkas")).to_have_count(0)
    await page.keyboard.press("Control+f")
    await page.keyboard.type("quokkas")
    await expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 1")
    await expect(visit.log.get_by_text("quokkas")).to_be_in_viewport()
    await page.get_by_label("Find in the conversation").fill("markdown please, 9")
    await expect(visit.log.get_by_text("markdown please, 9")).to_be_in_viewport()
    assert await visit.axe() == []
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("search")).to_have_count(0)
