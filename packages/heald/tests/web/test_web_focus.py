"""The page by keyboard: the focus goes into what is opened, and back to where it was."""

import re

from page_support import Visit
from playwright.async_api import expect


async def test_the_focus_returns_from_dialogs(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page for the keyboard", variants=1)
    for name in ("Share", "Rename"):
        button = page.get_by_role("button", name=name, exact=True)
        await button.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name=name)).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(button).to_be_focused()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog", name="Commands")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Rename", exact=True)).to_be_focused()


async def test_the_focus_returns_from_menus_and_from_what_they_open(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page with menus", variants=1)
    button = page.get_by_role("button", name="Download")
    await button.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="All files (zip)")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Push to git…").press("Enter")
    await expect(page.get_by_role("dialog", name=re.compile("Push"))).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="All files (zip)")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await button.click()
    await expect(page.get_by_role("menu")).to_be_visible()
    await page.locator(".stage iframe.shown").click(position={"x": 400, "y": 300})
    await expect(page.get_by_role("menu")).to_have_count(0)


async def test_the_menu_of_projects_gets_the_focus_and_gives_it_back(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page in the menu", variants=1)
    await page.get_by_role("button", name="Projects and sessions").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Close menu")).to_be_focused()
    await expect(page.locator("main")).to_have_attribute("inert", "")
    more = page.get_by_role("button", name="More for A page in the menu")
    await more.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Rename").press("Enter")
    await expect(page.get_by_role("dialog", name="Rename")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(more).to_be_focused()  # Escape closed the dialog alone
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Projects and sessions")).to_be_focused()
    await page.set_viewport_size({"width": 390, "height": 780})
    await page.get_by_role("button", name="Menu", exact=True).focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Close menu")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Menu", exact=True)).to_be_focused()


async def test_the_box_has_the_focus_after_an_example_and_after_a_removed_file(first_visit: Visit) -> None:
    page = first_visit.page
    box = page.get_by_label("What to build")
    await page.get_by_role("button", name="Sign-in page").click()
    await expect(box).to_be_focused()
    await page.get_by_role("button", name=re.compile("^Remove ")).click()
    await expect(page.get_by_role("list", name="Attached")).to_have_count(0)
    await expect(box).to_be_focused()
