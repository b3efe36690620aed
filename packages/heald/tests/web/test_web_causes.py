"""Where an element comes from: its rectangle in the screenshot, its lines, and the model, event and request of each."""

import re

from page_support import Visit
from playwright.async_api import FrameLocator, expect

DESIGN = """<!doctype html><html lang="en"><body style="margin: 0; font: 18px/1.5 sans-serif">
<p style="margin: 40px 0 0 500px">Prices</p>
<p style="margin: 60px 0 0 80px">Every step can be seen and checked.</p></body></html>"""


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def test_an_element_names_its_rectangle_its_lines_and_who_wrote_them(visit: Visit) -> None:
    page = visit.page
    design = await page.context.new_page()
    await design.set_viewport_size({"width": 640, "height": 240})  # all of it is read, and compared with each version
    await design.set_content(DESIGN)
    picture = await design.screenshot()
    await design.close()
    file = {"name": "design.png", "mimeType": "image/png", "buffer": picture}
    await page.locator("#begin input[type=file]").set_input_files([file])  # pyright: ignore[reportArgumentType]
    await visit.build("build it", variants=1, models=["quick"])
    await visit.built(1)
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    await expect(stage(visit).locator("h1")).to_contain_text("again")
    await visit.built(1)

    await page.get_by_role("radio", name="Mobile").click()
    await page.get_by_role("button", name="Select and edit").click()
    await stage(visit).get_by_text("Every step can be seen").click()
    await page.get_by_role("button", name="Where it comes from").click()
    panel = page.get_by_role("complementary", name="Where it comes from")
    await expect(panel).to_contain_text("Where <p> comes from")
    rectangle = panel.get_by_role("img", name=re.compile("^Screenshot, rectangle at"))
    label = await rectangle.get_attribute("aria-label") or ""
    left, *_ = (int(number) for number in re.findall(r"\d+", label))
    assert abs(left - 80) < 5
    await expect(panel).to_contain_text("Its text was found here.")
    await expect(panel.get_by_role("link", name="“build it”")).to_be_visible()
    await expect(panel.get_by_role("listitem").first).to_contain_text("create_file")
    await expect(panel.get_by_role("list", name=re.compile("index.html, line"))).to_have_count(
        await panel.locator(".cause-code").count()
    )
    assert await visit.axe() == []

    if await page.get_by_role("button", name="Select another element").get_attribute("aria-pressed") == "false":
        await page.get_by_role("button", name="Select another element").click()
    await stage(visit).locator("h1").click()
    await expect(panel).to_contain_text("Where <h1> comes from")
    await expect(panel.get_by_role("link", name="“change the headline”")).to_be_visible()
    await expect(panel.get_by_role("listitem").first).to_contain_text("edit_file")
    event = panel.get_by_role("link", name=re.compile("^Event")).first
    number = (await event.inner_text()).removeprefix("Event ")
    await event.click()
    await expect(page.locator(".event-detail h2")).to_have_text(f"{number} file_changed")
    assert await visit.axe() == []
