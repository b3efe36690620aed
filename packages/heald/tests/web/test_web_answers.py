"""Answers of models: math, tables, colours of code, diagrams, footnotes, and copying."""

from page_support import Visit
from playwright.async_api import expect


async def test_an_answer_shows_math_tables_code_diagrams_and_footnotes(first_visit: Visit) -> None:
    visit = first_visit
    page = visit.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await visit.ask("a rich answer please")
    await visit.done()
    said = visit.log.locator(".said")
    await expect(said.locator("math")).to_have_count(2)
    await expect(said.locator("math mfrac").first).to_be_visible()
    await expect(said.get_by_text("it costs $5 or $10.")).to_be_visible()
    right = said.locator("td").nth(1)
    assert await right.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
    await expect(said.locator(".tok-keyword").first).to_have_text("def")
    diagram = said.get_by_role("img", name="Flowchart: Start, Is it?, Go")
    await expect(diagram).to_be_visible()
    await said.locator(".footnote-ref").click()
    await expect(said.locator(".footnotes li")).to_contain_text("As Gauss knew.")
    await expect(said.locator(".footnote-back")).to_be_focused()
    await said.get_by_role("button", name="Copy this answer").click()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert "$\\sum_{i=1}^{n} i" in copied
    assert "```mermaid\ngraph TD" in copied
    for theme in ("light", "dark"):
        await page.emulate_media(color_scheme=theme)
        assert await visit.axe() == []
