"""Building a page, as a person does it."""

import base64
import re

from page_support import LONG, Visit
from playwright.async_api import FrameLocator, expect

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def test_variants_are_built_side_by_side(visit: Visit) -> None:
    page = visit.page
    await visit.build("a landing page", variants=3)
    await expect(stage(visit).locator("h1")).to_have_text("Woven from many threads")
    await visit.built(3)
    for card in await page.locator(".variant").all():
        await expect(card).to_contain_text("tok")
        await expect(card.frame_locator("iframe.shown").locator("h1")).not_to_be_empty()
    await page.keyboard.press("Alt+2")
    await expect(page.get_by_role("button", name=re.compile("^Variant 2"))).to_have_attribute("aria-pressed", "true")
    await expect(stage(visit).locator("h1")).to_have_text("Made by hand, at speed")


async def test_the_page_is_seen_while_it_is_written(visit: Visit) -> None:
    page = visit.page
    await visit.build("an endless page", variants=1, models=["slow"])
    frame = page.locator(".stage iframe.shown")
    await expect(frame).to_have_attribute("sandbox", "allow-scripts", timeout=LONG)
    assert (await frame.get_attribute("src") or "").endswith("/_draft")
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
    await page.get_by_role("group", name="Variants").hover()
    await page.get_by_role("button", name="Stop variant 1").click()
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*stopped"))).to_be_visible()
    await page.get_by_role("button", name="Retry variant 1").press("Enter")  # a click may miss what moves as it ends
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
    assert await page.get_by_label("Version", exact=True).locator("option").count() == 1
    await page.get_by_role("button", name="Stop variant 1").click()


async def test_a_variant_that_a_limit_cut_off_is_marked_as_not_complete(visit: Visit) -> None:
    page = visit.page
    await visit.build("unfinished page", variants=1, models=["quick"])
    badge = page.locator(".variant").get_by_text("Not complete", exact=True)
    cut_off = "Not complete. It reached its budget of 20 turns."
    await expect(badge).to_have_attribute("title", cut_off, timeout=LONG)  # twenty turns
    await expect(page.get_by_role("button", name=re.compile("^Variant 1, limit"))).to_be_visible()
    await expect(stage(visit).locator("h1")).to_contain_text("19")


async def test_pictures_are_pasted_dropped_and_picked(first_visit: Visit) -> None:
    page = first_visit.page
    await page.locator("input[type=file]").set_input_files(
        [
            {"name": "one.png", "mimeType": "image/png", "buffer": DOT},
            {"name": "two.png", "mimeType": "image/png", "buffer": DOT},
        ]
    )
    attached = page.get_by_role("list", name="Attached")
    await expect(attached.get_by_role("img")).to_have_count(2)
    for kind, holder in (("paste", "clipboardData"), ("drop", "dataTransfer")):
        await page.get_by_label("What to build").evaluate(
            """(area, [kind, holder, data]) => {
                const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
                const held = new DataTransfer();
                held.items.add(new File([bytes], kind + ".png", {type: "image/png"}));
                const Kind = kind === "paste" ? ClipboardEvent : DragEvent;
                area.dispatchEvent(new Kind(kind, {[holder]: held, bubbles: true, cancelable: true}));
            }""",
            [kind, holder, base64.b64encode(DOT).decode()],
        )
    await expect(attached.get_by_role("img")).to_have_count(4)
    await page.get_by_role("button", name="Remove one.png").click()
    await expect(attached.get_by_role("img")).to_have_count(3)
    await page.locator("input[type=file]").set_input_files(
        [{"name": "a.bin", "mimeType": "application/octet-stream", "buffer": b"\x00\x01"}]
    )
    await expect(page.get_by_role("status").filter(has_text="neither a picture")).to_be_visible()


async def test_an_element_is_pointed_at_and_changed(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a landing page")
    await page.get_by_role("radio", name="Mobile").click()
    await page.get_by_role("button", name="Select and edit").click()
    await stage(visit).locator("h1").click()
    await expect(page.locator(".selected")).to_contain_text("Woven from many threads</h1>")
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await visit.built(1)
    await expect(stage(visit).locator("h1")).to_have_text("Woven from many threads, again")


async def test_code_is_edited_compared_and_restored(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a landing page", variants=1)
    await page.get_by_role("tab", name="Code").click()
    editor = page.get_by_label("Content of index.html")
    await expect(editor).to_contain_text("Loom & Co")
    await editor.click()
    await page.keyboard.press("Control+Home")
    await page.keyboard.type("<!-- mine -->")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(editor).to_contain_text("<!-- mine -->")
    await page.get_by_label("Compare with").select_option(label="Difference to 1.1")
    await expect(page.locator(".cm-deletedChunk")).to_contain_text("doctype")
    await page.get_by_role("tab", name="History").click()
    await expect(page.locator(".history-row")).to_have_count(2)
    await page.get_by_role("button", name="Restore version 1").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 3")
    await page.get_by_role("tab", name="Code").click()
    await expect(editor).to_contain_text("Loom & Co")
    await expect(editor).not_to_contain_text("<!-- mine -->")
    async with page.expect_download():
        await page.get_by_role("button", name="Download", exact=True).first.click()
        await page.get_by_role("menuitem", name="All files (zip)").click()


async def test_what_goes_wrong_in_a_page_is_shown(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("it broke")
    await visit.open_built("a landing page", variants=1)
    await page.get_by_role("tab", name="Code").click()
    await page.get_by_label("Content of index.html").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("<script>console.error('it broke')</script>")
    await page.get_by_role("button", name="Save as new version").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await page.get_by_role("tab", name="Preview").click()
    await page.get_by_role("button", name="1 error").click()
    await expect(page.get_by_role("region", name="Console errors")).to_contain_text("it broke")
