"""The bar above the preview: its keys, its names, and what is easily mistaken for something else."""

import re

from page_support import Visit
from playwright.async_api import FilePayload, FrameLocator, expect

FORM = """<!doctype html>
<html lang="en"><head><title>Form</title></head><body><h1>Form</h1><input aria-label="Name"><p>Words</p></body></html>
"""
FORGER = """<!doctype html>
<html lang="en"><head><title>Forger</title></head><body><h1>Forger</h1><p id="sent">no</p><script>
setTimeout(() => {
  for (const key of ["f", "e", "u"]) parent.postMessage({heald: "key", key, code: "Key" + key.toUpperCase()}, "*");
  document.getElementById("sent").textContent = "sent";
}, 100);
</script></body></html>
"""


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def import_page(visit: Visit, *pages: tuple[str, str]) -> None:
    page = visit.page
    await page.evaluate("location.hash = '#/'")
    files: list[FilePayload] = [
        {"name": name, "mimeType": "text/html", "buffer": text.encode()} for name, text in pages
    ]
    await page.locator("input[type=file]").first.set_input_files(files)
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_be_visible()


async def test_keys_work_while_the_preview_has_the_focus(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("build a page", variants=2, models=["quick", "calm"])
    await page.get_by_role("radio", name="Mobile").click()  # a page that is made smaller cannot be clicked exactly
    await stage(visit).locator("h1").click()
    await page.keyboard.press("2")
    await expect(page.get_by_role("button", name=re.compile("^Variant 2"))).to_have_attribute("aria-pressed", "true")
    await expect(stage(visit).locator("h1")).to_have_text("Made by hand, at speed")
    await stage(visit).locator("h1").click()
    await page.keyboard.press("f")
    await expect(page.locator(".stage.full")).to_be_visible()
    await page.keyboard.press("f")
    await expect(page.locator(".stage.full")).to_have_count(0)
    await page.keyboard.press("e")
    await expect(page.get_by_role("button", name="Select and edit")).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("Escape")
    await stage(visit).locator("h1").click()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_what_is_written_in_the_preview_is_no_command(visit: Visit) -> None:
    page = visit.page
    await import_page(visit, ("form.html", FORM))
    await page.get_by_role("radio", name="Mobile").click()
    await stage(visit).get_by_label("Name").click()
    await page.keyboard.type("fez")
    await expect(stage(visit).get_by_label("Name")).to_have_value("fez")
    await expect(page.locator(".stage.full")).to_have_count(0)
    await expect(page.get_by_role("button", name="Select and edit")).to_have_attribute("aria-pressed", "false")


async def test_keys_that_a_page_makes_up_do_nothing(visit: Visit) -> None:
    page = visit.page
    await import_page(visit, ("forger.html", FORGER))
    await expect(stage(visit).locator("#sent")).to_have_text("sent")
    await expect(page.locator(".stage.full")).to_have_count(0)
    await expect(page.get_by_role("button", name="Select and edit")).to_have_attribute("aria-pressed", "false")


async def test_several_pages_keep_the_names_of_the_tabs(visit: Visit) -> None:
    page = visit.page
    await page.set_viewport_size({"width": 1440, "height": 900})
    await import_page(visit, ("form.html", FORM))
    tabs = page.get_by_role("tablist", name="Parts of the project").get_by_role("tab")
    names = ["Preview", "Code", "Compare", "History", "Events"]
    for name, tab in zip(names, await tabs.all(), strict=True):
        await expect(tab.get_by_text(name)).to_be_visible()
    await page.get_by_role("button", name="Pages", exact=True).click()
    await page.get_by_role("menuitem", name="Add a page").click()
    await page.get_by_label("Name of the page").fill("about")
    await page.get_by_role("button", name="Add", exact=True).click()
    await expect(page.get_by_label("Page", exact=True)).to_have_value("about.html")
    for name, tab in zip(names, await tabs.all(), strict=True):
        await expect(tab.get_by_text(name)).to_be_visible()
    assert await visit.axe() == []


async def test_an_icon_says_its_name_at_once(visit: Visit) -> None:
    page = visit.page
    await import_page(visit, ("form.html", FORM))
    tip = page.locator(".tooltip")
    await page.get_by_role("button", name="Reload preview").hover()
    await expect(tip).to_have_text("Reload preview (R)")
    await page.mouse.move(5, 400)
    await expect(tip).to_be_hidden()
    await page.get_by_role("button", name="Reload preview").focus()
    await page.keyboard.press("Tab")
    await expect(tip).to_have_text("Open in its own tab")
    await page.set_viewport_size({"width": 1920, "height": 1000})
    for name in ("Edit", "Reload", "Full screen", "Unload"):
        await expect(page.locator(".main-bar").get_by_text(name, exact=True)).to_be_visible()
    assert await visit.axe() == []


async def test_unloading_the_preview_is_not_mistaken_for_stopping(visit: Visit) -> None:
    page = visit.page
    await visit.build("an endless page", variants=1, models=["slow"])
    stop = page.get_by_role("button", name="Stop variant 1")
    await expect(stop).to_have_text("Stop")
    await expect(page.locator(".stage iframe.shown")).to_be_visible()
    unload = page.get_by_role("button", name="Unload preview")
    icons = [await button.locator("path").get_attribute("d") for button in (stop, unload)]
    assert icons[0] != icons[1]
    await unload.click()
    await expect(page.get_by_text("The preview is unloaded.")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
    await stop.press("Enter")
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*stopped"))).to_be_visible()
