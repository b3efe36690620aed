"""Before a person allows a call that writes, the page shows what it changes."""

from page_support import Visit
from playwright.async_api import expect


async def test_an_approval_shows_the_difference(visit: Visit) -> None:
    page = visit.page
    await visit.ask("number the lines", permissions="ask")
    asked = page.get_by_role("group", name="Allow write_file?")
    await expect(asked.get_by_role("region", name="What it changes")).to_contain_text("line 3")
    assert await visit.axe() == []
    await asked.get_by_role("button", name="Allow once").click()
    await visit.done()
    await visit.send_message("change the lines")
    changes = page.get_by_role("group", name="Allow edit_file?").get_by_role("region", name="What it changes")
    await expect(changes.locator(".diff-line.del").first).to_contain_text("line 3")
    await expect(changes.locator(".diff-line.add").first).to_contain_text("changed 3")
    await page.get_by_role("button", name="Deny").click()
    await visit.done(2)
