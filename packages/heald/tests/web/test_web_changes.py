"""A folder's changes by file and hunk, accepted and reverted; and agents that worked for one, after a reload."""

import re

import pytest
from page_support import Visit
from playwright.async_api import expect


async def session_with(visit: Visit, tools: list[str], text: str) -> None:
    """A session with tools that the page does not offer."""
    session = await visit.page.evaluate(
        """async ({tools, text}) => {
            const ask = (path, body) => fetch(path, {method: "POST", body: JSON.stringify(body),
                headers: {"Content-Type": "application/json"}}).then(answer => answer.json());
            const {id} = await ask("/sessions", {model: "scripted/quick", tools, permissions: "auto"});
            await ask(`/sessions/${id}/messages`, {text});
            return id;
        }""",
        {"tools": tools, "text": text},
    )
    await visit.page.evaluate("id => { location.hash = `#/session/${id}` }", session)


@pytest.mark.usefixtures("fresh_workspace")
async def test_changes_are_accepted_and_reverted_hunk_by_hunk(visit: Visit) -> None:
    page = visit.page
    await visit.ask("number the lines", folder="demo")
    await visit.done()
    await page.get_by_role("tab", name=re.compile("Files")).click()
    await expect(page.get_by_text("1 file to look at")).to_be_visible()
    await expect(page.get_by_role("treeitem", name=re.compile("review.txt"))).to_contain_text("new")
    await page.get_by_role("button", name="Accept all").click()
    await expect(page.get_by_text("Nothing is left to look at here.")).to_be_visible()

    await visit.send_message("change the lines")
    await visit.done(2)
    review = page.get_by_role("group", name="Changes in review.txt")
    await expect(review.get_by_role("region", name="Difference")).to_have_count(3)
    await expect(review).to_contain_text("changed 15")
    assert await visit.axe() == []
    await review.get_by_role("button", name="Revert change 2 of 3").click()
    await expect(review.get_by_role("region", name="Difference")).to_have_count(2)
    await expect(review).not_to_contain_text("changed 15")
    await review.get_by_role("button", name="Accept change 1 of 2").click()
    await expect(review.get_by_role("region", name="Difference")).to_have_count(1)
    await expect(review).to_contain_text("changed 27")

    await page.reload()
    await expect(review.get_by_role("region", name="Difference")).to_have_count(1)
    await expect(page.get_by_role("treeitem", name=re.compile("review.txt"))).to_contain_text("changed")
    await page.get_by_role("radio", name="Content").click()
    content = page.locator(".file-content")
    await expect(content).to_contain_text("line 15\n")
    await expect(content).to_contain_text("changed 3\n")
    await page.get_by_role("radio", name="Changes").click()
    await review.get_by_role("button", name="Revert file").click()
    await expect(page.get_by_text("Nothing is left to look at here.")).to_be_visible()
    await page.get_by_role("radio", name="History").click()
    await expect(page.get_by_text("by you")).to_have_count(2)
    await page.get_by_role("radio", name="Content").click()
    await expect(content).to_contain_text("line 27\n")

    await page.get_by_role("tab", name="Chat").click()
    await expect(visit.log).to_contain_text("Reverted 1 of 3 changes in review.txt.")
    await visit.log.get_by_role("button", name="What the model was sent").first.click()
    await expect(visit.log).to_contain_text("do not make the same change again")
    await visit.send_message("hello again")
    await expect(visit.log).to_contain_text("You said: hello again")


async def test_who_watches_sees_it_too_and_what_changed_meanwhile_is_refused(visit: Visit) -> None:
    """Two tabs at one session."""
    visit.expected.append("409")
    page = visit.page
    await visit.ask("number the lines")
    await visit.done()
    await page.get_by_role("tab", name=re.compile("Files")).click()
    other = await page.context.new_page()
    await other.goto(page.url)
    theirs = other.get_by_role("group", name="Changes in review.txt")
    await expect(theirs.get_by_role("button", name="Accept file")).to_be_visible()
    await page.get_by_role("button", name="Accept file").click()
    await expect(other.get_by_text("Nothing is left to look at here.")).to_be_visible()
    await visit.send_message("change the lines")
    await visit.done(2)
    await expect(theirs.get_by_role("region", name="Difference")).to_have_count(3)
    await other.route(
        re.compile("/changes"), lambda route: route.continue_() if route.request.method == "POST" else None
    )
    await page.get_by_role("button", name="Revert change 1 of 3").click()
    await expect(page.get_by_role("region", name="Difference")).to_have_count(2)
    await theirs.get_by_role("button", name="Accept change 1 of 3").click()
    await expect(other.get_by_role("status")).to_contain_text(["", "has changed since you looked at it"])


async def test_agents_that_worked_for_one_are_there_after_a_reload(visit: Visit) -> None:
    page = visit.page
    await session_with(visit, ["files", "helper"], "ask the helper")
    await visit.done()
    card = visit.tool("helper")
    inner = card.locator(".delegate")
    await expect(inner.get_by_role("group", name="Tool write_file")).to_be_visible()
    await expect(inner).to_contain_text("I will write that down.")
    live = await inner.inner_text()
    await page.reload()
    await visit.done()
    await expect(inner.get_by_role("group", name="Tool write_file")).to_be_visible()
    await expect(inner).to_contain_text("It is in notes/today.md.")
    assert [line for line in (await inner.inner_text()).split("\n") if "ms" not in line] == [
        line for line in live.split("\n") if "ms" not in line
    ]
    await inner.get_by_role("group", name="Tool write_file").get_by_role("button").first.click()
    await expect(inner.get_by_role("region", name="Difference")).to_contain_text("looms")


async def test_a_reload_while_an_agent_works_for_one_loses_nothing(visit: Visit) -> None:
    page = visit.page
    await session_with(visit, ["files", "helper"], "ask the helper slowly")
    inner = visit.tool("helper").locator(".delegate")
    await expect(inner).to_contain_text("word word")
    await page.reload()
    await expect(inner).to_contain_text("word word")
    await visit.done()
    answer_text = await inner.locator(".prose").first.inner_text()
    assert answer_text.split() == ["word"] * 400
