"""What the agent suggests to do next is offered at the box for changes."""

from page_support import Visit
from playwright.async_api import expect


async def test_a_suggested_step_is_sent_with_two_clicks(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("Build a page", variants=1)
    steps = page.get_by_role("list", name="Suggested next steps")
    await expect(steps.get_by_role("button")).to_have_text(["Change the headline", "Add a footer"])
    await expect(visit.log).to_contain_text("Done: a header")
    await expect(visit.log).not_to_contain_text("Next steps")
    assert await visit.axe() == []
    await steps.get_by_role("button", name="Change the headline").click()
    box = page.get_by_label("What to change")
    await expect(box).to_be_focused()
    await expect(box).to_have_value("Change the headline")
    await expect(steps).to_have_count(0)
    await page.keyboard.press("Enter")
    await expect(visit.log).to_contain_text("The headline is changed.")
