"""What holds everywhere: the list, settings, themes, keyboards, small screens, screen readers."""

import re
from typing import Literal

import pytest
from page_support import AXE, ROOT, Visit
from playwright.async_api import expect


async def test_sessions_are_found_renamed_and_deleted(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello there")
    await visit.done()
    entry = page.get_by_role("list", name="Recent").get_by_role("listitem").filter(has_text="hello there").first
    await entry.get_by_role("button").click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.get_by_label("Title").fill("Greetings of the day")
    await page.keyboard.press("Enter")
    await page.get_by_label("Search projects and sessions").fill("greetings of")
    await expect(page.get_by_role("list", name="Recent").get_by_role("listitem")).to_have_count(1)
    await page.get_by_role("button", name="More for Greetings of the day").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("Nothing found.")).to_be_visible()


async def test_settings_state_what_there_is_and_no_key(first_visit: Visit) -> None:
    page = first_visit.page
    await page.get_by_role("link", name="Settings").click()
    await expect(page.locator(".provider").filter(has_text="anthropic").first).to_contain_text("No key")
    await expect(page.get_by_text("run_command")).to_be_visible()
    await page.get_by_role("radio", name="Dark").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_the_tab_is_named_after_what_is_open(visit: Visit) -> None:
    page = visit.page
    await expect(page).to_have_title("Heald")
    await visit.build("A page for a bakery", variants=1)
    await expect(page).to_have_title("A page for a bakery · Heald")
    await page.evaluate("location.hash = '#/settings'")
    await expect(page).to_have_title("Settings · Heald")
    await visit.ask("hello there")
    await expect(page).to_have_title("hello there · Heald")


async def test_a_message_that_is_not_sent_yet_is_kept(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello")
    await visit.done()
    address = page.url
    await page.get_by_label("Message", exact=True).fill("half a thought")
    await page.evaluate("location.hash = '#/settings'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    await page.goto(address)
    await expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")


async def test_the_token_is_nowhere_in_the_browser(first_visit: Visit) -> None:
    page = first_visit.page
    assert "token" not in page.url
    stored = await page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    assert "t" * 32 not in stored
    await page.reload()
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")


async def test_without_a_token_there_is_nothing(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected += ["401", "WebSocket"]
    await page.context.clear_cookies()
    await page.reload()
    await page.get_by_label("Token").fill("wrong-token-0123456789")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("does not know this token")
    await page.get_by_label("Token").fill("t" * 32)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")


async def test_all_of_a_conversation_goes_by_keyboard(first_visit: Visit) -> None:
    page = first_visit.page
    await page.get_by_role("radio", name="Build a page").focus()
    await page.keyboard.press("ArrowRight")
    await page.get_by_label("What to work on").focus()
    await page.keyboard.type("question please")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Teal")).to_be_visible()
    await page.get_by_role("log").focus()
    for _ in range(12):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent") == "Teal":
            break
    await page.keyboard.press("Enter")
    await first_visit.done()
    await page.get_by_role("log").focus()
    await page.keyboard.press("/")
    await page.keyboard.type("endless")
    await page.keyboard.press("Enter")
    await expect(first_visit.working).to_be_visible()
    await page.keyboard.press("Escape")
    await first_visit.done(2)


async def test_changes_are_announced(visit: Visit) -> None:
    await visit.ask("question please")
    announcement = visit.page.locator('[role="status"].unseen')
    await expect(announcement).to_have_text("The agent waits for you.")
    await visit.page.get_by_role("button", name="Teal").click()
    await expect(announcement).to_have_text("The answer is complete.")


Theme = Literal["light", "dark"]
VIEWS = {
    "outside": ("start", "assistant", "sessions", "settings"),
    "chat": ("chat",),
    "approval": ("approval",),
    "session": ("files", "events", "waterfall"),
    "studio": ("preview", "code", "compare", "history"),
}
"""The views that one visit shows one after the other."""


async def begin(visit: Visit, group: str) -> None:
    """Do what the views of a group show."""
    page = visit.page
    if group == "chat":
        await visit.ask("markdown please")
        await visit.done()
    elif group == "approval":
        await visit.ask("write notes please", permissions="ask")
        await expect(page.get_by_role("button", name="Allow once")).to_be_visible()
    elif group == "session":
        await visit.ask("write notes please")
        await visit.done()
    elif group == "studio":
        await visit.open_built("a landing page")


async def show(visit: Visit, view: str) -> None:
    page = visit.page
    if view == "assistant":
        await page.get_by_role("radio", name="Assistant").click()
    elif view in ("files", "events", "waterfall"):
        tab = "Files" if view == "files" else "Events"
        await page.get_by_role("tab", name=re.compile(tab)).click()
        await expect(page.get_by_role("region" if tab == "Events" else "tree", name=tab)).to_be_visible()
        if view == "waterfall":
            await page.get_by_role("radio", name="Waterfall").click()
    elif view in ("sessions", "settings"):
        await page.evaluate(f"location.hash = '#/{view}'")
        await expect(page.get_by_role("heading", level=1)).to_have_text(view.title())
        await page.wait_for_timeout(300)
    elif view in VIEWS["studio"]:
        await page.get_by_role("tab", name=view.title()).click()
        await page.wait_for_timeout(700)


WIDE = """() => [...document.querySelectorAll("body *")].filter(element => {
    const box = element.getBoundingClientRect();
    if (box.right <= 361 || box.width === 0 || element.closest(".sidebar, .unseen, iframe")) return false;
    for (let up = element.parentElement; up; up = up.parentElement) {
        const cut = getComputedStyle(up).overflowX !== "visible" && up !== document.body;
        if (cut && up.getBoundingClientRect().right <= 361) return false;
    }
    return true;
}).map(element => element.className || element.tagName).slice(0, 5)"""
"""What sticks out of a small screen and cannot be scrolled to."""


@pytest.mark.parametrize("group", VIEWS)
async def test_every_view_is_accessible_and_fits_a_small_screen(visit: Visit, group: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe is not installed; run `npm ci` in web/")
    await visit.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    await begin(visit, group)
    themes: tuple[Theme, Theme] = ("light", "dark")
    for view in VIEWS[group]:
        await visit.page.set_viewport_size({"width": 1280, "height": 800})
        await show(visit, view)
        await judge(visit, view, themes)
        themes = (themes[1], themes[0])


COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that depend on the theme."""
SIZES = ("scrollable-region-focusable", "target-size")
"""The rules of axe that depend on the room there is, besides those about colours."""
STYLES = ROOT / "web" / "src"


def test_the_widths_at_which_the_page_changes() -> None:
    """`judge` tries all rules of axe once in each layout. Between its widths only the bar of a project changes."""
    breakpoints = {
        (path.name, int(width))
        for path in STYLES.rglob("*")
        if path.suffix in (".css", ".ts", ".tsx")
        for width in re.findall(r"(?:min|max)-width: (\d+)px\)", path.read_text())
    }
    assert {width for _, width in breakpoints if 360 <= width <= 390} == set()
    assert {name for name, width in breakpoints if 1280 <= width <= 1440} == {"project.css"}


async def judge(visit: Visit, view: str, themes: tuple[Theme, Theme]) -> None:
    """All rules in each layout, and both themes, of which the first is shown. A theme changes colours only."""
    page = visit.page
    project = view in VIEWS["studio"]
    assert await visit.axe() == [], (view, themes[0])
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.wait_for_timeout(200)
    assert await visit.axe(*COLOURS) == [], (view, themes[0], 360)
    await page.emulate_media(color_scheme=themes[1], reduced_motion="reduce")
    await expect(page.locator("html")).to_have_attribute("data-theme", themes[1])
    assert await visit.axe() == [], (view, themes[1], 360)
    assert await page.evaluate(WIDE) == [], view
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360, view
    await page.set_viewport_size({"width": 390, "height": 740})
    await page.wait_for_timeout(200)
    assert await visit.axe("scrollable-region-focusable") == [], (view, 390)
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.wait_for_timeout(200)
    assert await visit.axe(*(() if project else COLOURS + SIZES)) == [], (view, themes[1], 1440)
    if project:
        await page.set_viewport_size({"width": 1280, "height": 800})
        await page.wait_for_timeout(200)
        assert await visit.axe(*COLOURS) == [], (view, themes[1])
