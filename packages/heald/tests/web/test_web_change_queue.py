"""A change that is sent while a page is built waits on the server."""

import asyncio
import re

from page_support import Visit
from playwright.async_api import expect


async def test_a_change_is_made_although_the_page_is_closed_meanwhile(first_visit: Visit) -> None:
    page = first_visit.page
    await first_visit.build("build a page", variants=1, models=["patient"])
    box = page.get_by_label("What to change")
    for text in ("change the headline", "change the colours"):
        await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
        await box.fill(text)
        await box.press("Enter")
    rows = page.get_by_role("list", name="Waiting changes").get_by_role("listitem")
    await expect(rows).to_have_text([re.compile("Next.*headline"), re.compile("Next.*colours")])
    address = page.url
    assert (
        await page.evaluate("fetch('projects').then(answer => answer.json()).then(all => all.projects[0].queue.length)")
        == 2
    )
    await rows.nth(1).get_by_role("button", name="Remove this change").click()
    await expect(rows).to_have_count(1)
    await page.goto("about:blank")
    other = await page.context.new_page()
    await other.goto(address.partition("#")[0])
    count = "fetch('projects').then(answer => answer.json()).then(all => all.projects[0].versions.length)"
    async with asyncio.timeout(60):
        while await other.evaluate(count) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    await other.close()
    await page.goto(address)
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(rows).to_have_count(0)
    await first_visit.built(1)
