"""The first visit: a tour that takes nothing over, finished projects to open and change, and help by a key."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest_asyncio
from page_support import SIZE, Visit, empty_server
from playwright.async_api import Browser, Locator, ViewportSize, expect

LARGE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 780}


@asynccontextmanager
async def newcomer(chrome: Browser, address: str) -> AsyncGenerator[Visit]:
    context = await chrome.new_context(viewport=SIZE)
    visit = Visit(await context.new_page(), address)
    try:
        await visit.open()
        yield visit
    finally:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def person(address: str, chrome: Browser) -> AsyncGenerator[Visit]:
    """A person who has never been here, on a server where nothing was made yet."""
    await empty_server(address)
    async with newcomer(chrome, address) as visit:
        yield visit
    await empty_server(address)
    assert not visit.problems, visit.problems


def tour_of(visit: Visit) -> Locator:
    return visit.page.get_by_role("region", name="Tour")


async def test_the_tour_has_three_steps_and_is_shown_once(person: Visit, tmp_path: Path) -> None:
    page, tour = person.page, tour_of(person)
    await expect(tour).to_contain_text("Step 1 of 3")
    await expect(page.locator("#begin")).to_have_attribute("data-tour", "")
    await expect(page.get_by_label("What to build")).to_be_focused()  # who knows what to do just writes
    for number, theme in enumerate(("light", "dark")):
        await page.emulate_media(color_scheme=theme)
        for size in (LARGE, PHONE):
            await page.set_viewport_size(size)
            assert await person.axe() == []
            await page.screenshot(path=tmp_path / f"tour-{number}-{size['width']}.png")
    await page.set_viewport_size(SIZE)
    await tour.get_by_role("button", name="Next").click()
    await expect(page.locator("#gallery")).to_have_attribute("data-tour", "")
    await expect(page.locator("#begin")).not_to_have_attribute("data-tour", "")
    await tour.get_by_role("button", name="Next").click()
    await expect(tour).to_contain_text("Step 3 of 3")
    await expect(page.locator(".sidebar .search")).to_have_attribute("data-tour", "")
    await tour.get_by_role("button", name="Back").click()
    await expect(tour).to_contain_text("Step 2 of 3")
    await tour.get_by_role("button", name="Next").click()
    await tour.get_by_role("button", name="Done").click()
    await expect(tour).to_have_count(0)
    await expect(page.locator("[data-tour]")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("heading", name="Finished projects")).to_be_visible()
    await expect(page.get_by_role("list", name="Recent")).to_contain_text("Nothing here yet.")
    await expect(tour).to_have_count(0)


async def test_on_a_phone_the_last_step_marks_the_button_of_the_menu(person: Visit) -> None:
    page, tour = person.page, tour_of(person)
    await page.set_viewport_size(PHONE)
    await tour.get_by_role("button", name="Next").click()
    await tour.get_by_role("button", name="Next").click()
    await expect(tour).to_contain_text("Step 3 of 3")
    await expect(page.get_by_role("button", name="Menu", exact=True)).to_have_attribute("data-tour", "")
    await expect(page.locator("[data-tour]")).to_have_count(1)


async def test_escape_skips_the_tour_and_help_brings_it_back(person: Visit) -> None:
    page, tour = person.page, tour_of(person)
    await expect(tour).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(tour).to_have_count(0)
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    await page.keyboard.press("?")
    await page.get_by_role("dialog", name="Keyboard shortcuts").get_by_role("button", name="Show the tour").click()
    await expect(tour).to_contain_text("Step 1 of 3")


async def test_who_has_made_something_or_is_a_program_is_not_shown_around(
    address: str, chrome: Browser, visit: Visit
) -> None:
    await expect(visit.page.get_by_role("heading", name="Finished projects")).to_be_visible()
    await expect(visit.page.get_by_role("list", name="Recent")).to_contain_text("Nothing here yet.")
    await expect(tour_of(visit)).to_have_count(0)
    await visit.ask("hello")
    await visit.done()
    async with newcomer(chrome, address) as other:
        await expect(other.page.get_by_role("heading", name="Finished projects")).to_be_visible()
        await expect(other.page.get_by_role("list", name="Recent").get_by_role("link")).to_have_count(1)
        await expect(tour_of(other)).to_have_count(0)


async def test_a_finished_project_is_opened_and_changed_without_a_model(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    gallery = page.get_by_role("region", name="Finished projects")
    await expect(gallery.get_by_role("button")).to_have_count(6)
    for thumbnail in await gallery.locator("img").all():
        await thumbnail.scroll_into_view_if_needed()
        await expect(thumbnail).to_have_js_property("complete", True)
        assert await thumbnail.evaluate("image => image.naturalWidth") == 480
    for theme in ("light", "dark"):
        await page.emulate_media(color_scheme=theme)
        for size in (LARGE, PHONE):
            await page.set_viewport_size(size)
            assert await visit.axe() == []
            await page.screenshot(path=tmp_path / f"gallery-{theme}-{size['width']}.png")
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size(SIZE)
    await gallery.get_by_role("button", name="Bakery site").click()
    preview = page.locator(".stage").frame_locator("iframe.shown")
    await expect(preview.get_by_role("heading", level=1)).to_have_text("Slow bread, baked before you wake")
    await expect(preview.get_by_role("link", name="Menu", exact=True)).to_be_visible()
    await page.get_by_role("radio", name="Mobile").click()  # a page that is made smaller cannot be clicked exactly
    await page.get_by_role("button", name="Select and edit").click()
    await preview.get_by_role("heading", level=1).click()
    form = page.get_by_role("form", name="Change the element")
    await form.get_by_label("Text", exact=True).fill("Bread that takes its time")
    await form.get_by_role("button", name="Apply as new version").click()
    await expect(preview.get_by_role("heading", level=1)).to_have_text("Bread that takes its time")
    await page.evaluate("location.hash = '#/'")
    await expect(page.locator(".project-card")).to_have_text(re.compile("^Bakery site"))


async def test_the_question_mark_lists_the_keys_unless_somebody_writes(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    box = page.get_by_label("What to build")
    await box.focus()
    await page.keyboard.press("?")
    await expect(box).to_have_value("?")
    await expect(dialog).to_have_count(0)
    await box.fill("")
    await box.blur()
    await page.keyboard.press("?")
    await expect(dialog).to_contain_text("In a project")
    await expect(dialog).to_contain_text("Undo; with Shift redo")
    assert await visit.axe() == []
    await page.set_viewport_size(PHONE)
    assert await visit.axe() == []
    await page.screenshot(path=tmp_path / "keys-390.png")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("button", name="Help").click()
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Menu")).to_be_focused()  # the menu has closed
    await page.keyboard.press("?")
    await expect(dialog).to_be_visible()
    await page.evaluate("location.hash = '#/settings'")  # as the button of the browser does
    await expect(dialog).to_have_count(0)
