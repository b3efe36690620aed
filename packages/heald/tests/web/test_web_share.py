"""A project is shown to others: by a link that can be revoked, and on CodePen and StackBlitz."""

import json
from urllib.parse import parse_qs

from page_support import Visit
from playwright.async_api import Request, Route, expect


async def test_a_link_shows_the_page_until_it_is_revoked(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page to share", variants=1)
    await page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog", name="Share")
    await expect(dialog).to_contain_text("This address is that of your own machine")
    assert await visit.axe() == []
    await dialog.get_by_role("button", name="Make a link").click()
    address = await dialog.get_by_label("Link", exact=True).input_value()
    assert page.context.browser is not None
    stranger = await page.context.browser.new_context()
    shared_page = await stranger.new_page()
    answer = await shared_page.goto(address)
    assert answer is not None
    assert answer.status == 200
    await expect(shared_page.frame_locator("iframe").locator("h1").first).to_be_visible()
    await expect(shared_page.get_by_text("this page was written by a model")).to_be_visible()
    await dialog.get_by_role("button", name="Revoke this link").click()
    await expect(dialog.get_by_role("list", name="Links")).to_have_count(0)
    answer = await shared_page.reload()
    assert answer is not None
    assert answer.status == 404
    await stranger.close()
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).to_have_count(0)


async def test_a_variant_is_opened_on_codepen_and_stackblitz(first_visit: Visit) -> None:
    page = first_visit.page
    sent: dict[str, dict[str, list[str]]] = {}

    async def accept(route: Route, request: Request) -> None:
        sent[request.url] = parse_qs(request.post_data or "")
        await route.fulfill(body="<p>Opened</p>", content_type="text/html")

    await page.context.route("https://codepen.io/**", accept)
    await page.context.route("https://stackblitz.com/**", accept)
    await first_visit.open_built("A page to open elsewhere", variants=1)
    for name in ("Open in CodePen", "Open in StackBlitz"):
        await page.get_by_role("button", name="Download").click()
        async with page.context.expect_page() as opened:
            await page.get_by_role("menuitem", name=name).click()
        await expect((await opened.value).get_by_text("Opened")).to_be_visible()
    pen = json.loads(sent["https://codepen.io/pen/define"]["data"][0])
    assert "<h1" in pen["html"]
    assert pen["title"]
    blitz = sent["https://stackblitz.com/run"]
    assert blitz["project[template]"] == ["html"]
    assert "<h1" in blitz["project[files][index.html]"][0]
