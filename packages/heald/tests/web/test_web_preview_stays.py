"""The preview stays where the reader is: while a page is written, and when another page takes its place."""

import asyncio
from typing import Any

from page_support import LONG, Visit
from playwright.async_api import Frame, expect

TOP = 640
STATE = """() => ({
    top: Math.round(scrollY),
    scrolls: [...new Set(window.scrolls ?? [])],
    name: document.querySelector("#name").value,
    open: document.querySelector("details").open,
    focus: document.activeElement.id,
    parts: document.querySelectorAll("section").length,
    marked: window.marked === true,
})"""
LATE_ANSWERS = """() => setInterval(() => parent.postMessage({heald: "view", question: 1, view: {
    page: "index.html", left: 0, top: scrollY, bottom: scrollY + innerHeight, boxes: [], fields: [], details: [],
}}, "*"), 5)"""
"""The page answers again and again to what it was asked for another page before."""
HERE = {"top": TOP, "name": "Ada", "open": True}


async def _shown(visit: Visit) -> Frame:
    """The frame that is seen in the stage."""
    handle = await visit.page.locator(".stage iframe.shown").element_handle()
    frame = await handle.content_frame()
    assert frame is not None
    return frame


async def _read(visit: Visit, ready: str) -> dict[str, Any]:
    """The state of the page that is seen, once it is the one that is meant."""
    async with asyncio.timeout(LONG / 1000):
        while True:
            try:
                frame = await _shown(visit)
                state: dict[str, Any] = await frame.evaluate(STATE)
                if await frame.evaluate(ready):
                    return state
            except Exception:
                pass
            await asyncio.sleep(0.05)


async def _settle(visit: Visit) -> None:
    """Scroll the page that is seen, write into it and open its details."""
    inside = visit.page.locator(".stage").frame_locator("iframe.shown")
    await inside.locator("summary").click()
    await inside.locator("#name").fill("Ada")
    frame = await _shown(visit)
    await frame.evaluate(f"() => {{ window.marked = true; window.scrolls = []; scrollTo(0, {TOP}); }}")


def _is_here(state: dict[str, Any]) -> bool:
    """Whether the reader is where they were, and the page reports no scrolling to another place."""
    return {name: state[name] for name in HERE} == HERE and all(abs(top - TOP) <= 1 for top in state["scrolls"])


async def test_a_page_that_is_written_grows_in_place_and_its_end_keeps_the_reader_there(visit: Visit) -> None:
    await visit.build("a tall page", variants=1, models=["plain"])
    await _read(visit, "() => document.querySelectorAll('section').length > 30")
    await _settle(visit)
    before = await _read(visit, "() => true")
    grown = await _read(visit, f"() => document.querySelectorAll('section').length > {before['parts'] + 20}")
    assert grown["marked"], "the page was loaded anew"
    assert _is_here(grown), str(grown)
    assert grown["focus"] == "name"
    await visit.built(1)
    await expect(visit.page.locator(".stage iframe.shown")).not_to_have_attribute("src", "/_draft$")
    final = await _read(
        visit, "() => !location.pathname.endsWith('/_draft') && !window.marked && document.activeElement.id === 'name'"
    )
    assert final["parts"] == 160
    assert _is_here(final), str(final)


async def test_another_variant_and_another_version_are_shown_where_the_reader_was(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a tall page", variants=2, models=["quick", "calm"])
    first = "() => document.querySelector('h1').textContent === 'Woven from many threads' && !window.marked"
    await _read(visit, f"() => ({first})() && !location.pathname.endsWith('/_draft') && !location.search")
    await _settle(visit)
    await page.get_by_role("button", name="Variant 2, completed").click()
    second = await _read(visit, "() => document.querySelector('h1').textContent === 'Made by hand, at speed'")
    assert _is_here(second), str(second)
    await page.get_by_role("button", name="Variant 1, completed").click()
    assert _is_here(await _read(visit, first))
    await page.get_by_label("What to change").fill("change the headline")
    await page.get_by_role("combobox", name="Variants").select_option("1")
    await page.get_by_role("button", name="Send (Enter)").click()
    changed = await _read(visit, "() => document.querySelector('h1').textContent.endsWith(', again')")
    assert _is_here(changed), str(changed)
    await visit.built(1)
    await page.get_by_role("button", name="Earlier version").click()
    assert _is_here(await _read(visit, first))


async def test_an_answer_for_an_earlier_page_does_not_show_the_next_one_too_soon(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a tall page", variants=2, models=["quick", "calm"])
    await _read(visit, "() => !location.pathname.endsWith('/_draft') && !location.search")
    await _settle(visit)
    await (await _shown(visit)).evaluate(LATE_ANSWERS)
    await page.get_by_role("button", name="Variant 2, completed").click()
    second = await _read(visit, "() => document.querySelector('h1').textContent === 'Made by hand, at speed'")
    assert _is_here(second), str(second)
