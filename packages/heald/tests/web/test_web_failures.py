"""What the page does when a part of it fails, and while the server is slow: nothing that a person wrote is lost."""

import asyncio
import re

from page_support import Visit
from playwright.async_api import Route, expect

SETTINGS = re.compile(r"/assets/settings-[^/]+\.js")


async def test_a_part_that_an_upgrade_removed_reloads_the_page_once(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected += ["404", "dynamically imported module"]
    requests: list[str] = []

    async def refuse_first(route: Route) -> None:
        requests.append(route.request.url)
        await (route.fulfill(status=404) if len(requests) == 1 else route.continue_())

    await page.route(SETTINGS, refuse_first)
    async with page.expect_event("load"):
        await page.evaluate("location.hash = '#/settings'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert len(requests) == 2


async def test_a_part_that_stays_away_says_so_and_the_rest_goes_on(first_visit: Visit) -> None:
    page = first_visit.page
    first_visit.expected += ["404", "dynamically imported module", "could not be loaded"]
    await page.route(SETTINGS, lambda route: route.fulfill(status=404))
    async with page.expect_event("load"):
        await page.evaluate("location.hash = '#/settings'")
    failure = page.get_by_role("alert")
    await expect(failure).to_contain_text("could not be loaded, although the page is up to date")
    await expect(failure.get_by_role("button", name="Reload the page")).to_be_visible()
    await failure.get_by_text("Details", exact=True).click()
    await expect(failure.locator("pre")).to_contain_text("view: settings")
    assert await first_visit.axe() == []
    await page.evaluate("location.hash = '#/'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("What shall we build?")


async def test_words_that_are_written_while_a_message_is_sent_stay(visit: Visit) -> None:
    page = visit.page
    await visit.ask("say hello")
    await visit.done()
    release = asyncio.Event()

    async def delay(route: Route) -> None:
        await release.wait()
        await route.continue_()

    await page.route(re.compile(r"/sessions/[^/]+/messages$"), delay)
    box = page.get_by_label("Message", exact=True)
    await box.fill("First.")
    async with page.expect_request(re.compile(r"/sessions/[^/]+/messages$")):
        await box.press("Enter")
    await box.press_sequentially(" And then this.")
    release.set()
    await expect(box).to_have_value("And then this.")
    await visit.done(2)
    await expect(visit.log.get_by_text("First.", exact=True)).to_have_count(1)
    await page.unroute_all()


async def test_a_change_that_fails_stays_with_the_one_behind_it(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("503")
    await visit.open_built("a landing page", variants=1, models=["quick"])
    versions = re.compile(r"/projects/[^/]+/versions$")
    body = '{"error": {"code": "overloaded", "message": "The server is full."}}'
    await page.route(versions, lambda route: route.fulfill(status=503, content_type="application/json", body=body))
    box = page.get_by_label("What to change")
    for text in ("change the headline", "change the colours"):
        await box.fill(text)
        await box.press("Enter")
    rows = page.get_by_role("list", name="Waiting changes").get_by_role("listitem")
    await expect(rows).to_have_text([re.compile("Not sent.*headline.*The server is full"), re.compile("Next.*colours")])
    await page.reload()
    await expect(rows).to_have_text([re.compile("Not sent.*headline"), re.compile("Next.*colours")])
    assert await visit.axe() == []
    await page.unroute_all()
    await page.get_by_role("button", name="Send this change again").click()
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(3)
    await expect(rows).to_have_count(0)
