"""A conversation, as a person has it."""

import asyncio
import re

from page_support import Visit
from playwright.async_api import WebSocketRoute, expect


async def test_an_answer_streams_and_is_shown_as_markdown(visit: Visit) -> None:
    await visit.ask("markdown please")
    await expect(visit.log.get_by_role("table")).to_be_visible()
    await visit.done()
    await expect(visit.log.get_by_role("button", name=re.compile("Thought for"))).to_have_attribute(
        "aria-expanded", "false"
    )
    await visit.log.get_by_role("button", name=re.compile("Thought for")).click()
    await expect(visit.log.get_by_text("Oslo is cold.")).to_be_visible()
    link = visit.log.get_by_role("link", name="the forecast")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    await expect(visit.page.locator(".ended")).to_contain_text("Done")


async def test_the_indicator_stays_until_all_is_over(visit: Visit) -> None:
    """Between a call and its result no message is open, and the work is not over."""
    await visit.ask("command please", folder="demo")
    await expect(visit.tool("run_command")).to_be_visible()
    ends = await visit.page.evaluate(
        """() => new Promise(done => {
            let early = 0;
            const timer = setInterval(() => {
                const ended = document.querySelector(".ended"), working = document.querySelector(".working");
                if (!ended && !working) early += 1;
                if (ended && !working) { clearInterval(timer); done(early); }
            }, 5);
        })"""
    )
    assert ends == 0
    await visit.tool("run_command").get_by_role("button").first.click()
    await expect(visit.tool("run_command")).to_contain_text("step 3")


async def test_a_card_is_there_with_the_first_byte_and_shows_arguments_growing(visit: Visit) -> None:
    await visit.ask("build a page", model="scripted/slow", permissions="auto")
    card = visit.tool("create_file")
    await expect(card.get_by_label("being written")).to_be_visible()
    growing = card.locator(".tool-growing")
    await expect(growing).to_contain_text("doctype")
    first = len(await growing.inner_text())
    grown = "seen => (document.querySelector('.tool-growing')?.innerText.length ?? 0) > seen"
    await visit.page.wait_for_function(grown, arg=first)
    await visit.page.keyboard.press("Tab")
    await visit.page.get_by_role("button", name=re.compile("^Stop")).click()
    await visit.done()
    await expect(visit.page.locator(".ended")).to_contain_text("Stopped")


async def test_a_finished_card_names_its_file(visit: Visit) -> None:
    await visit.ask("scripted page")
    await visit.done()
    summary = visit.tool("create_file").locator(".tool-summary")
    await expect(summary).to_have_text("index.html")
    await visit.page.reload()
    await expect(summary).to_have_text("index.html")


async def test_a_failed_command_is_shown_as_failed_and_keeps_its_words(visit: Visit) -> None:
    await visit.ask("failing command please", folder="demo")
    await visit.done()
    card = visit.tool("run_command")
    for _ in range(2):
        await expect(card.get_by_role("img", name="failed with exit code 2")).to_be_visible()
        await expect(card.get_by_role("img", name="done")).to_have_count(0)
        await expect(card.locator(".tool-summary")).to_contain_text("exit code 2 · echo no tests; exit 2")
        await visit.page.reload()
    assert await visit.axe() == []


async def test_a_finished_card_keeps_what_it_showed_while_it_ran(visit: Visit) -> None:
    await visit.ask("write notes please", folder="demo")
    await visit.done()
    read, missing = visit.tool("read_file").first, visit.tool("read_file").last
    for _ in range(2):
        await expect(read.locator(".tool-summary")).to_contain_text("Read notes/today.md")
        await expect(missing.locator(".tool-summary")).to_contain_text("Read missing.md")
        await expect(missing.get_by_role("img", name="error")).to_be_visible()
        await visit.page.reload()


async def test_an_approval_survives_a_reload(visit: Visit) -> None:
    await visit.ask("write notes please", permissions="ask")
    await expect(visit.page.get_by_role("group", name="Allow write_file?")).to_contain_text("notes/today.md")
    await visit.page.reload()
    await expect(visit.page.get_by_text("Waiting for you")).to_be_visible()
    await visit.page.get_by_role("button", name="Allow once").click()
    await visit.done()
    card = visit.tool("write_file")
    await expect(card.get_by_label("done")).to_be_visible()
    await card.get_by_role("button").first.click()
    await expect(card.get_by_role("region", name="Difference")).to_contain_text("looms")
    await expect(visit.tool("read_file").nth(1).get_by_label("error")).to_be_visible()
    await visit.page.get_by_role("tab", name=re.compile("Files")).click()
    await expect(visit.page.get_by_role("treeitem", name=re.compile("today.md"))).to_be_visible()
    await visit.page.get_by_role("radio", name="Content").click()
    await expect(visit.page.locator(".file-content")).to_contain_text("- threads")


async def test_what_is_denied_is_not_done(visit: Visit) -> None:
    await visit.ask("write notes please", permissions="ask")
    await visit.page.get_by_label("Reason, if you deny it").fill("Not today.")
    await visit.page.get_by_role("button", name="Deny").click()
    await visit.done()
    await expect(visit.tool("write_file").get_by_label("denied")).to_be_visible()
    await visit.tool("write_file").get_by_role("button").first.click()
    await expect(visit.tool("write_file")).to_contain_text("Not today.")


async def test_a_question_is_answered_in_place(visit: Visit) -> None:
    await visit.ask("question please")
    await expect(visit.page.get_by_text("Which colour shall it be?").first).to_be_visible()
    await visit.page.reload()
    await visit.page.get_by_role("button", name="Amber").click()
    await visit.done()
    await expect(visit.log).to_contain_text("Thank you")


async def test_more_can_be_reported_while_it_works(visit: Visit) -> None:
    await visit.ask("endless please", model="scripted/slow")
    await expect(visit.log).to_contain_text("word word")
    await visit.send_message("and then this")
    waiting = visit.page.get_by_label("Waiting requests")
    await expect(waiting).to_contain_text("and then this")
    await visit.send_message("and never this")
    await expect(waiting.get_by_role("listitem")).to_have_count(2)
    await waiting.get_by_role("button", name="Take back").nth(1).click()
    await expect(waiting.get_by_role("listitem")).to_have_count(1)
    await visit.page.get_by_role("button", name=re.compile("^Stop")).click()
    await expect(visit.log).to_contain_text("You said: and then this")
    await expect(visit.log).to_contain_text("Stopped here")


async def test_interrupting_replaces_what_runs(visit: Visit) -> None:
    await visit.ask("endless please", model="scripted/slow")
    await expect(visit.log).to_contain_text("word word")
    await visit.page.get_by_label("While it works").select_option("interrupt")
    await visit.send_message("rather this")
    await expect(visit.log).to_contain_text("You said: rather this")
    await visit.done(2)


async def test_a_failure_is_reported_and_can_be_retried(visit: Visit) -> None:
    await visit.ask("fail please")
    await expect(visit.page.get_by_role("alert")).to_contain_text("refuses this request")
    await visit.done()
    await visit.log.get_by_text("fail please").hover()
    await visit.page.get_by_role("button", name="Try again").click()
    await expect(visit.page.get_by_role("alert")).to_have_count(1)
    await visit.done()
    await expect(visit.log.get_by_text("fail please")).to_have_count(1)


async def test_editing_a_message_branches(visit: Visit) -> None:
    await visit.ask("hello one")
    await visit.done()
    await visit.send_message("hello two")
    await visit.done(2)
    first = visit.page.url
    await visit.log.get_by_text("hello two", exact=True).hover()
    await visit.page.get_by_role("button", name="Edit and branch").nth(1).click()
    await visit.page.get_by_label("Edit message").fill("hello three")
    await visit.page.get_by_role("button", name="Branch from here").click()
    await expect(visit.log).to_contain_text("You said: hello three")
    assert visit.page.url != first
    await expect(visit.log).to_contain_text("You said: hello one")
    await expect(visit.log.get_by_text("hello two", exact=True)).to_have_count(0)
    await visit.page.goto(first)
    await expect(visit.log).to_contain_text("You said: hello two")


async def test_a_reload_in_the_middle_loses_and_doubles_nothing(visit: Visit) -> None:
    await visit.ask("markdown please", model="scripted/slow")
    await expect(visit.log).to_contain_text("Here is what")
    await visit.page.reload()
    await expect(visit.log).to_contain_text("Here is what")
    await visit.done()
    await expect(visit.log.get_by_role("table")).to_have_count(1)
    assert (await visit.log.inner_text()).count("Dress in layers") == 1


LOST = (5, 2, 4, 4)
"""The number of the message that each connection loses, with all that follow. The second message holds what was said
meanwhile: it comes however long the page needed to connect again."""


async def test_a_dropped_connection_resumes_where_it_was(first_visit: Visit) -> None:
    """The socket is cut again and again in the middle of a stream; the text is what it is without that."""
    cuts: list[asyncio.Task[None]] = []

    def cut(route: WebSocketRoute) -> None:
        message_count = 0
        lost = LOST[len(cuts)] if len(cuts) < len(LOST) else None

        def pass_on(message: str | bytes) -> None:
            nonlocal message_count
            message_count += 1
            if lost is None or message_count < lost:
                route.send(message)
            elif message_count == lost:
                cuts.append(asyncio.create_task(route.close(code=1012)))

        route.connect_to_server().on_message(pass_on)

    await first_visit.page.route_web_socket(re.compile("/ws$"), cut)
    await first_visit.page.reload()
    await first_visit.ask("markdown please", model="scripted/slow")
    await first_visit.done()
    assert len(cuts) >= 2
    cut_text = await first_visit.log.inner_text()
    await first_visit.page.reload()
    await first_visit.done()
    assert await first_visit.log.inner_text() == cut_text
    assert cut_text.count("Dress in layers") == 1


async def test_events_can_be_inspected(visit: Visit) -> None:
    await visit.ask("write notes please")
    await visit.done()
    page = visit.page
    await page.get_by_role("tab", name="Events").click()
    await expect(page.get_by_role("region", name="Events")).to_contain_text("exchange_response")
    await page.get_by_label("Search events").fill("file_changed")
    await expect(page.locator(".event-row")).to_have_count(1)
    await page.locator(".event-row").click()
    await expect(page.locator(".event-detail")).to_contain_text('"revision": 1')
    await page.get_by_label("Search events").fill("")
    for layer in ("stream", "state", "message"):
        await page.get_by_role("button", name=layer, exact=True).click()
    await expect(page.locator(".event-row")).to_have_count(2)
    await page.get_by_role("radio", name="Waterfall").click()
    await expect(page.get_by_role("region", name="Timings")).to_contain_text("write_file")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Export").click()
    assert (await (await download.value).path()).read_text().count("\n") > 20
