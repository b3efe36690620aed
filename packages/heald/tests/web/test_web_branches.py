"""Regenerating an answer keeps the one before it, with all that followed: a branch of the conversation."""

from page_support import Visit
from playwright.async_api import Locator, expect

REWIND = """id => fetch(`sessions/${id}/rewind`, {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({seq: 0}),
}).then(answer => answer.status)"""


def steps(visit: Visit) -> Locator:
    return visit.log.get_by_role("group", name="Branch")


async def try_again(visit: Visit, text: str) -> None:
    await visit.log.get_by_text(text, exact=True).hover()
    message = visit.page.locator(".user-message", has_text=text)
    await message.get_by_role("button", name="Try again").click()


async def test_trying_an_earlier_message_again_keeps_what_followed_it(visit: Visit) -> None:
    page = visit.page
    await visit.ask("numbered answer please")
    await visit.done()
    before = await visit.log.locator(".said").first.inner_text()
    await visit.send_message("hello two")
    await visit.done(2)
    await expect(steps(visit)).to_have_count(0)
    await try_again(visit, "numbered answer please")
    await visit.done(1)
    await expect(steps(visit)).to_have_attribute("aria-label", "Branch 2 of 2")
    await expect(visit.log.locator(".said").first).not_to_have_text(before)
    await expect(visit.log.get_by_text("hello two", exact=True)).to_have_count(0)
    assert await visit.axe() == []
    for _ in range(2):
        await page.get_by_role("button", name="Previous branch").click()
        await expect(steps(visit)).to_have_attribute("aria-label", "Branch 1 of 2")
        await expect(visit.log.locator(".said").first).to_have_text(before)
        await expect(visit.log).to_contain_text("You said: hello two")
        await page.reload()
        await expect(visit.log).to_contain_text("You said: hello two")
        await page.get_by_role("button", name="Next branch").click()
        await expect(visit.log.get_by_text("hello two", exact=True)).to_have_count(0)


async def test_a_branch_goes_on_where_it_was_left(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello one")
    await visit.done()
    await visit.send_message("numbered answer please")
    await visit.done(2)
    for number in (2, 3):
        await try_again(visit, "numbered answer please")
        await expect(steps(visit)).to_have_attribute("aria-label", f"Branch {number} of {number}")
        await visit.done(2)
    await page.get_by_role("button", name="Previous branch").click()
    await expect(steps(visit)).to_have_attribute("aria-label", "Branch 2 of 3")
    await visit.send_message("hello again")
    await visit.done(3)
    await page.get_by_role("button", name="Next branch").click()
    await expect(steps(visit)).to_have_attribute("aria-label", "Branch 3 of 3")
    await expect(visit.log.get_by_text("hello again", exact=True)).to_have_count(0)
    await page.get_by_role("button", name="Previous branch").click()
    await expect(visit.log).to_contain_text("You said: hello again")


async def test_an_answer_that_is_not_accepted_leaves_the_conversation_as_it_was(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("400")
    await visit.ask("hello one")
    await visit.done()
    body = '{"error": {"code": "invalid", "message": "Not now."}}'
    await page.route("**/messages", lambda route: route.fulfill(status=400, content_type="application/json", body=body))
    await try_again(visit, "hello one")
    await expect(page.get_by_text("Not now.")).to_be_visible()
    await expect(visit.log).to_contain_text("You said: hello one")


async def test_a_conversation_that_was_rewound_can_be_brought_back(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello one")
    await visit.done()
    session = page.url.rpartition("/")[2]
    await page.evaluate(REWIND, session)
    await expect(visit.log.locator(".said")).to_have_count(0)
    await page.get_by_role("button", name="Bring it back").click()
    await expect(visit.log).to_contain_text("You said: hello one")
    await expect(page.get_by_role("button", name="Bring it back")).to_have_count(0)


async def test_a_branch_has_its_own_title(visit: Visit) -> None:
    page = visit.page
    await visit.ask("hello one")
    await visit.done()
    await visit.send_message("hello two")
    await visit.done(2)
    await visit.log.get_by_text("hello two", exact=True).hover()
    await page.get_by_role("button", name="Edit and branch").nth(1).click()
    await page.get_by_label("Edit message").fill("hello three")
    await page.get_by_role("button", name="Branch from here").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("hello three")
    await expect(page.get_by_role("list", name="Recent")).to_contain_text("hello three")
    await expect(page.get_by_role("list", name="Recent")).to_contain_text("hello one")
