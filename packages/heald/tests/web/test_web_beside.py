"""Variants side by side: they scroll together, and a part of one is copied to another."""

from page_support import Visit
from playwright.async_api import FrameLocator, expect


def column(visit: Visit, number: int) -> FrameLocator:
    return visit.page.get_by_role("region", name=f"Variant {number}", exact=True).frame_locator("iframe")


async def test_a_part_of_one_variant_is_copied_to_another(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("build it", variants=2, models=["quick", "calm"])
    await page.get_by_role("button", name="Side by side").click()
    first, second = column(visit, 1), column(visit, 2)
    await expect(first.locator("h1")).to_be_visible()
    heading = await second.locator("h1").inner_text()
    assert await first.locator("h1").inner_text() != heading
    assert await visit.axe() == []

    await first.locator("body").evaluate("() => { document.body.style.minHeight = '3000px'; }")
    await second.locator("body").evaluate("() => { document.body.style.minHeight = '3000px'; }")
    await first.locator("body").evaluate("() => scrollTo(0, 700)")
    await expect(second.locator("html")).to_have_js_property("scrollTop", 700)
    await second.locator("body").evaluate("() => scrollTo(0, 0)")
    await expect(first.locator("html")).to_have_js_property("scrollTop", 0)

    await page.get_by_role("radio", name="100 %").click()
    rooms = page.locator(".beside-room")
    await rooms.first.evaluate("room => room.scrollTo(150, 0)")
    await expect(rooms.last).to_have_js_property("scrollLeft", 150)
    await rooms.last.evaluate("room => room.scrollTo(0, 0)")
    await expect(rooms.first).to_have_js_property("scrollLeft", 0)
    await page.get_by_role("button", name="Copy a part").click()
    bar = page.get_by_role("group", name="Copy a part")
    await second.locator("h1").dispatch_event("click")
    await expect(bar).to_contain_text("<h1> of 2 selected")
    await bar.get_by_role("button", name="Select parent").click()
    await expect(bar).to_contain_text("<section> of 2 selected")
    await first.locator("h1").dispatch_event("click")
    await expect(bar).to_contain_text("<section> of 2 → <h1> of 1")
    await bar.get_by_role("button", name="Select parent").click()
    await expect(bar).to_contain_text("<section> of 2 → <section> of 1")
    assert await visit.axe() == []
    await bar.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(2)
    made = page.locator(".stage").frame_locator("iframe.shown")
    await expect(made.locator("h1")).to_have_text(heading)
    await expect(made.locator(".cards .card")).to_have_count(3)
    await expect(made.locator("[data-part]")).to_have_count(1)
