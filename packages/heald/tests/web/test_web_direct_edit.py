"""Changing a selected element by hand: shown at once, refused if it is not valid CSS, and one version at the end."""

from page_support import Visit
from playwright.async_api import FrameLocator, Locator, expect

SOURCE = """<!doctype html>
<html lang="en"><head><title>Harbour Cafe</title></head>
<body style="margin: 0"><p style="text-align: right; color: navy">Open today</p><h1>Coffee</h1></body></html>
"""
COLOUR = "element => getComputedStyle(element).color"
OUTLINE = "element => getComputedStyle(element).outlineStyle"


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def select(visit: Visit, selector: str) -> Locator:
    """Import the page, select one of its elements, and return the panel that changes it."""
    page = visit.page
    await page.evaluate("location.hash = '#/'")
    file = {"name": "cafe.html", "mimeType": "text/html", "buffer": SOURCE.encode()}
    await page.locator("input[type=file]").first.set_input_files([file])  # pyright: ignore[reportArgumentType]
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_have_text("Coffee")
    if await page.get_by_role("radio", name="Mobile").is_visible():
        await page.get_by_role("radio", name="Mobile").click()  # a page that is made smaller cannot be clicked exactly
    await page.get_by_role("button", name="Select and edit").click()
    await stage(visit).locator(selector).click()
    panel = page.get_by_role("form", name="Change the element")
    await panel.get_by_label("Look applies to").select_option("All widths")
    return panel


async def test_a_value_that_css_does_not_know_is_refused_in_place(visit: Visit) -> None:
    panel = await select(visit, "h1")
    apply = panel.get_by_role("button", name="Apply as new version")
    for label, wrong, right in (
        ("Colour", "blurple", "teal"),
        ("Background", "12px", "#fff"),
        ("Font size", "huge", "1.2rem"),
        ("Padding", "8 px", "8px 16px"),
        ("Margin", "wide", "0 auto"),
        ("Font", "1px", "Georgia, serif"),
        ("Weight", "fat", "600"),
    ):
        field = panel.get_by_label(label, exact=True)
        await field.fill(wrong)
        await expect(panel.get_by_role("alert")).to_contain_text(f"“{wrong}” is not")
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(apply).to_be_disabled()
        assert await visit.axe() == []
        await field.fill(right)
        await expect(panel.get_by_role("alert")).to_have_count(0)
        await expect(apply).to_be_enabled()
    await expect(visit.page.get_by_label("Version", exact=True).locator("option")).to_have_count(1)


async def test_changes_are_shown_at_once_and_are_one_version_when_applied(visit: Visit) -> None:
    page = visit.page
    panel = await select(visit, "h1")
    heading = stage(visit).locator("h1")
    await panel.get_by_label("Colour", exact=True).fill("#b00020")
    await panel.get_by_label("Text", exact=True).fill("Tea")
    await expect(heading).to_have_text("Tea")
    await expect(heading).to_have_css("color", "rgb(176, 0, 32)")
    versions = page.get_by_label("Version", exact=True).locator("option")
    await expect(versions).to_have_count(1)
    await panel.get_by_role("button", name="Reset").click()
    await expect(heading).to_have_text("Coffee")
    assert await heading.get_attribute("style") is None
    await panel.get_by_label("Colour", exact=True).fill("#b00020")
    await panel.get_by_label("Text", exact=True).fill("Tea")
    await panel.get_by_role("button", name="Apply as new version").click()
    await expect(versions).to_have_count(2)
    await expect(heading).to_have_text("Tea")
    await expect(heading).to_have_css("color", "rgb(176, 0, 32)")
    await page.get_by_role("tab", name="Code").click()
    content = page.get_by_label("Content of index.html")
    await expect(content).to_contain_text('<h1 style="color: #b00020">Tea</h1>')
    await expect(content).not_to_contain_text("data-heald")


async def test_what_is_not_applied_is_taken_back(visit: Visit) -> None:
    panel = await select(visit, "h1")
    heading = stage(visit).locator("h1")
    await panel.get_by_label("Font size", exact=True).fill("80px")
    await expect(heading).to_have_css("font-size", "80px")
    await panel.get_by_role("button", name="Close this panel").click()
    await expect(heading).not_to_have_css("font-size", "80px")
    await expect(heading).to_have_css("outline-style", "none")


async def test_the_selection_stays_and_is_not_covered(visit: Visit) -> None:
    page = visit.page
    for width, height in ((1280, 800), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        panel = await select(visit, "p")
        await expect(stage(visit).locator("p")).to_have_css("outline-style", "solid")
        element, box = await stage(visit).locator("p").bounding_box(), await panel.bounding_box()
        assert element is not None
        assert box is not None
        is_beside = element["x"] + element["width"] <= box["x"] + 1
        is_above = element["y"] + element["height"] <= box["y"] + 1
        assert is_beside or is_above, (width, element, box)
        for colour, computed in (("#b00020", "rgb(176, 0, 32)"), ("#0f766e", "rgb(15, 118, 110)")):
            await panel.get_by_label("Colour", exact=True).fill(colour)
            await panel.get_by_role("button", name="Apply as new version").click()
            await expect(page.get_by_text("Restored")).to_have_count(0)
            await expect(stage(visit).locator("p")).to_have_css("color", computed)
            await expect(stage(visit).locator("p")).to_have_css("outline-style", "solid")
            await expect(panel.get_by_label("Colour", exact=True)).to_have_value(computed)
            await expect(panel.get_by_role("button", name="Apply as new version")).to_be_disabled()
        assert await visit.axe() == []
