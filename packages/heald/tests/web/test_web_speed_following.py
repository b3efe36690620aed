"""The end of a conversation is followed while it grows, and left alone by whoever reads further up."""

import asyncio

from page_support import LONG, Visit
from playwright.async_api import expect

BELOW = "log => log.scrollHeight - log.scrollTop - log.clientHeight"
"""Pixels of the conversation that lie below what is seen."""
NEAR = 60
DOWN_AND_MORE = """log => {
    log.scrollTop = log.scrollHeight
    const more = document.createElement("div")
    more.style.height = "200px"
    log.firstElementChild.append(more)
}"""
"""Go down to the end, and add more before the page can notice."""


async def _until(visit: Visit, condition: str) -> None:
    """Until it holds for the conversation; the page's policy lets no text be run that would wait in it."""
    async with asyncio.timeout(LONG / 1000):
        while not await visit.log.evaluate(condition):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_the_end_is_followed_and_a_long_conversation_opens_there(visit: Visit) -> None:
    """Until somebody reads further up; and after a reload it can be read from the beginning."""
    await visit.ask("endless words please", model="scripted/plain")
    log = visit.log
    await _until(visit, "log => log.scrollTop > 300")
    for _ in range(5):
        await visit.page.wait_for_timeout(150)
        await _until(visit, f"{BELOW} < {NEAR}")
    await log.evaluate("log => log.scrollTop = 100")
    seen = await log.get_attribute("data-seq")
    await expect(log).not_to_have_attribute("data-seq", seen or "")
    await visit.page.wait_for_timeout(300)
    assert await log.evaluate("log => log.scrollTop") < 200
    await log.evaluate(DOWN_AND_MORE)
    await visit.done()
    await _until(visit, f"{BELOW} < {NEAR}")
    assert (await log.inner_text()).count("word") >= 4000

    for number in range(2, 4):
        await visit.send_message(f"markdown please, {number}")
        await visit.done(number)
    await visit.page.reload()
    await expect(log).to_have_attribute("aria-busy", "false")
    await _until(visit, f"{BELOW} < {NEAR}")
    await expect(log.get_by_text("markdown please, 3")).to_be_visible()
    await log.evaluate("log => log.scrollTop = 0")
    await expect(log.get_by_text("endless words please")).to_be_visible()
    await visit.page.wait_for_timeout(300)
    assert await log.evaluate("log => log.scrollTop") < NEAR
