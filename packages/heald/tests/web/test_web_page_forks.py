"""Another future of a session in the page: forked at an event, and both side by side."""

from page_support import Visit
from playwright.async_api import expect


async def test_a_denied_call_is_compared_with_the_allowed_one(visit: Visit) -> None:
    page = visit.page
    await visit.ask("Please write notes", permissions="ask")
    await page.get_by_role("button", name="Allow").first.click()
    await visit.done()
    await page.get_by_role("tab", name="Events").click()
    await page.get_by_label("Search events").fill("approval_resolved")
    await page.locator(".event-row").first.click()
    await page.get_by_role("button", name="What if…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("radio", name="Approval").click()
    await dialog.get_by_label("Reason, for the model").fill("Not today.")
    await dialog.get_by_role("button", name="Fork and compare").click()
    futures = page.locator(".future")
    await expect(futures).to_have_count(2)
    await expect(page.locator(".future .ended")).to_have_count(2)
    allowed, denied = futures.nth(0), futures.nth(1)
    await expect(allowed.get_by_role("group", name="Tool write_file")).not_to_contain_text("denied")
    await expect(denied.get_by_role("group", name="Tool write_file")).to_contain_text("denied")
    await expect(denied.locator(".future-head")).to_contain_text("another approval")
    await expect(denied.get_by_text("Forked at event")).to_be_visible()
    await expect(allowed.get_by_text("Please write notes").nth(1)).to_have_count(0)  # what both have is not repeated
    assert await visit.axe() == []
    await denied.get_by_role("link", name="Please write notes").click()
    await page.get_by_role("button", name="Compare").click()
    await expect(futures).to_have_count(2)


async def test_another_prompt_runs_the_exchange_anew(visit: Visit) -> None:
    page = visit.page
    await visit.ask("markdown please")
    await visit.done()
    await page.get_by_role("tab", name="Events").click()
    await page.get_by_label("Search events").fill("exchange_response")
    await page.locator(".event-row").first.click()
    await page.get_by_role("button", name="What if…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("radio", name="Prompt").click()
    await expect(dialog.get_by_role("button", name="Fork and compare")).to_be_disabled()
    await dialog.get_by_label("Prompt").last.fill("Something short")
    await dialog.get_by_role("button", name="Fork and compare").click()
    await expect(page.locator(".future .ended")).to_have_count(2)
    await expect(page.locator(".future").nth(1)).to_contain_text("Something short")
    await expect(page.get_by_text("0 shared events")).to_be_visible()
