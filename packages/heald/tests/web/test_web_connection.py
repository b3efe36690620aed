"""The page and its server: what is asked for at the start, what happens while it cannot be reached, and two tabs."""

import re
from collections import Counter

from page_support import LONG, Visit
from playwright.async_api import Request, Route, expect


async def test_everything_is_asked_for_once_when_the_page_is_opened(first_visit: Visit) -> None:
    page = first_visit.page
    asked: Counter[str] = Counter()

    def count(request: Request) -> None:
        if request.resource_type == "fetch":
            asked[re.sub(r"^https?://[^/]+|\?.*$", "", request.url)] += 1

    page.on("request", count)
    await page.reload()
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")
    await expect(page.get_by_text("Nothing here yet.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Examples")).to_be_visible()
    assert asked == Counter(["/models", "/studio", "/projects", "/sessions", "/api/design-systems"])


async def test_a_deleted_project_is_no_longer_a_recent_one(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page to delete", variants=1)
    await page.evaluate("location.hash = '#/'")
    await expect(page.locator(".project-card")).to_contain_text("A page to delete")
    await page.get_by_role("button", name="More for A page to delete").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.locator(".project-card")).to_have_count(0)


async def test_a_project_that_is_built_is_marked_in_the_menu(visit: Visit) -> None:
    page = visit.page
    await visit.build("build a page for the menu", variants=1, models=["patient"])
    await page.evaluate("location.hash = '#/settings'")
    entry = page.locator(".entry").filter(has_text="build a page for the menu")
    await expect(entry.get_by_role("img", name="at work")).to_be_visible()
    await expect(entry.get_by_role("img", name="at work")).to_have_count(0, timeout=LONG)


async def test_what_could_not_be_fetched_is_fetched_again(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected.append("ERR_FAILED")
    await page.route("**/studio", lambda route: route.abort())
    await page.reload()
    stacks = page.get_by_label("Stack").locator("option")
    await page.get_by_label("What to build").fill("A page")
    await expect(page.get_by_role("button", name="Build", exact=True)).to_be_disabled()
    await page.unroute_all()
    await expect(page.get_by_role("button", name="Build", exact=True)).to_be_enabled()
    assert await stacks.count() > 1


async def test_what_was_listed_stays_while_the_server_does_not_answer(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected.append("ERR_FAILED")
    await first_visit.open_built("A page that stays", variants=1)
    await page.evaluate("location.hash = '#/sessions'")
    entry = page.locator(".entry").filter(has_text="A page that stays")
    await expect(entry).to_be_visible()
    await page.route(re.compile(r"/(projects|sessions)\?"), lambda route: route.abort())
    async with page.expect_event("requestfailed"):
        await page.evaluate("location.hash = '#/settings'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    await expect(entry).to_be_visible()


async def test_a_message_whose_response_was_lost_arrives_once_also_after_a_reload(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("ERR_FAILED")
    await visit.ask("markdown please")
    await visit.done()
    lost, is_away = 0, True

    async def lose(route: Route) -> None:
        nonlocal lost
        if not is_away:
            await route.continue_()
            return
        await route.fetch()  # the server has it
        lost += 1
        await route.abort()

    await page.route("**/messages", lose)
    await visit.send_message("the second message")
    waiting = page.get_by_role("list", name="Waiting requests")
    await expect(waiting).to_contain_text("The server cannot be reached.")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("the second message")
    await page.reload()
    await expect(waiting).to_contain_text("The server cannot be reached.")
    is_away = False
    await expect(waiting).to_have_count(0)
    await expect(page.get_by_label("Message", exact=True)).to_have_value("")
    await visit.done(2)
    await expect(visit.log.get_by_text("the second message", exact=True)).to_have_count(1)
    assert lost


async def test_the_address_with_the_token_signs_in_a_page_that_is_open(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected += ["401", "WebSocket"]
    await page.context.clear_cookies()
    await page.reload()
    await expect(page.get_by_label("Token")).to_be_visible()
    await page.goto(first_visit.address)  # the same address with a fragment: nothing is loaded anew
    await expect(page.get_by_test_id("connection")).to_have_text("Connected")
    assert "token" not in page.url


async def test_a_waiting_change_is_sent_once_with_the_project_open_in_two_tabs(first_visit: Visit) -> None:
    page = first_visit.page
    await first_visit.build("build a page", variants=1, models=["patient"])
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    waiting = page.get_by_role("list", name="Waiting changes")
    await expect(waiting).to_contain_text("change the headline")
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(other.get_by_label("What to change")).to_be_visible()
    await page.reload()
    await expect(waiting).to_contain_text("change the headline")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2", timeout=LONG)
    await first_visit.built(1)
    await expect(other.get_by_text("Version 2 is newer")).to_be_visible()
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(2)
