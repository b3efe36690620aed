"""The design system of a project: read from files, corrected, stored, undone, and the score of a page."""

from page_support import Visit
from playwright.async_api import FilePayload, expect

SHEET = b":root { --brand: #0f766e; --page: #ffffff; --radius: 8px } .dark { --page: #111111 }"


async def test_a_design_is_read_corrected_and_stored_and_the_page_is_scored(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("build it", variants=1, models=["quick"])
    await page.get_by_role("button", name="Design system", exact=True).click()
    panel = page.get_by_role("region", name="Design system", exact=True)
    await expect(panel).to_contain_text("once the variant is done and the design system has values")
    sheet: FilePayload = {"name": "app.css", "mimeType": "text/css", "buffer": SHEET}
    await panel.get_by_label("Files of a design system").set_input_files([sheet])
    await expect(panel.get_by_label("--page", exact=True)).to_have_value("#ffffff")
    await expect(panel.get_by_label("--page (dark)", exact=True)).to_have_value("#111111")
    await panel.get_by_label("--brand", exact=True).fill("#123456")
    await panel.get_by_label("Name", exact=True).fill("ink")
    await panel.get_by_label("Value", exact=True).fill("black")
    await page.keyboard.press("Enter")
    await expect(panel.get_by_label("ink", exact=True)).to_have_value("black")
    await panel.get_by_role("button", name="Remove --radius").click()
    await panel.get_by_role("button", name="Save").click()
    await expect(panel.get_by_role("button", name="Save")).to_have_count(0)
    await expect(panel).to_contain_text("of the page keeps to it")
    await expect(panel.get_by_role("list", name="Other values")).to_contain_text("body")
    assert await visit.axe() == []

    await page.reload()
    await expect(panel.get_by_label("--brand", exact=True)).to_have_value("#123456")
    await expect(panel.get_by_label("--radius", exact=True)).to_have_count(0)
    await page.get_by_role("button", name="Undo: change of the design system").click()
    await expect(panel.get_by_label("--brand", exact=True)).to_have_count(0)
