"""The small previews of variants: they wait for their page, and ask for it anew if an answer fails."""

from page_support import Visit
from playwright.async_api import Route, expect


async def test_a_thumbnail_whose_answer_failed_is_loaded_anew(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("503")
    await visit.open_built("A page with a heading", variants=1, models=["quick"])
    thumbnail = page.locator(".variant-thumb")
    await expect(thumbnail.locator("iframe.shown")).to_be_attached()
    words = await thumbnail.frame_locator("iframe.shown").locator("body").inner_text()
    failures = 0

    async def fail(route: Route) -> None:
        nonlocal failures
        failures += 1
        await route.fulfill(status=503, json={"error": {"code": "unavailable", "message": "Not now."}})

    await page.get_by_role("tab", name="Code").click()  # so that the thumbnail alone asks for the page
    await page.route("**/preview/*/", fail, times=2)
    await page.reload()
    await expect(thumbnail.locator(".variant-blank")).to_be_visible()
    await expect(thumbnail.locator("iframe.shown")).to_be_attached()
    await expect(thumbnail.locator(".variant-blank")).to_have_count(0)
    assert failures == 2
    assert await thumbnail.frame_locator("iframe.shown").locator("body").inner_text() == words
