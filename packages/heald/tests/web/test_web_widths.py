"""The project's bar in windows of every width, and text that is written from the right."""

import pytest
from page_support import Visit
from playwright.async_api import expect

COLLISIONS = """() => {
    const shown = [...document.querySelectorAll(".main-bar :is(button, select, a)")]
        .map(each => [each.getAttribute("aria-label") || each.textContent, each.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
    const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const outside = shown.filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([name]) => name);
    return [...outside, ...shown.flatMap(([name, box], at) => shown.slice(at + 1).filter(([, other]) => hit(box, other))
        .map(([other]) => `${name} and ${other}`))];
}"""
"""The controls of the bar that lie on one another or outside of the window."""


async def test_the_controls_of_a_project_fit_into_every_window(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page in many windows", variants=3)
    await expect(page.get_by_role("radio", name="Desktop")).to_be_visible()
    for width in (1440, 1280, 1024, 900, 801, 800, 641, 640, 390, 320):
        await page.set_viewport_size({"width": width, "height": 780})
        await expect(page.get_by_role("tab", name="Chat")).to_have_count(int(width <= 800))  # without a reload
        assert await page.evaluate(COLLISIONS) == [], width
        bar = await page.locator(".main-bar").bounding_box()
        assert bar is not None
        assert bar["height"] <= 48 or width in (900, 801, 320), width  # there the tools stand below the tabs


async def test_the_width_of_the_preview_is_chosen_on_a_phone_too(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("A page on a phone", variants=2)
    await page.set_viewport_size({"width": 390, "height": 780})
    inner = page.locator(".stage .fitted-inner")
    widths: list[str] = []
    for name in ("mobile", "tablet", "desktop"):
        await page.get_by_role("button", name=f"Change to {name}").click()
        widths.append(await inner.evaluate("each => each.style.width"))
    assert widths == ["375px", "768px", "1280px"]


@pytest.mark.parametrize(("text", "starts_right"), [("أنشئ صفحة لمتجر", True), ("Eine Seite für Fäden", False)])
async def test_words_begin_where_their_script_begins(visit: Visit, text: str, starts_right: bool) -> None:
    page = visit.page
    await visit.ask(text)
    await visit.done()
    words = visit.log.locator(".user-bubble p")
    sides = await words.evaluate(
        """each => {
            each.style.width = "600px";
            const range = document.createRange();
            range.selectNodeContents(each);
            const [box, text] = [each.getBoundingClientRect(), range.getBoundingClientRect()];
            return [text.left - box.left, box.right - text.right];
        }"""
    )
    assert (sides[0] > sides[1]) is starts_right
    box = page.get_by_label("Message", exact=True)
    assert await box.evaluate("each => getComputedStyle(each).unicodeBidi") == "plaintext"
