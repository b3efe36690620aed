"""The studio as a demanding person uses it: nothing is lost, everything has its place, and the preview has the room."""

import asyncio
import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from page_support import HOST, Visit, visiting
from playwright.async_api import Browser, FrameLocator, expect

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOURCE = "<!doctype html>\n<html><head><title>Harbour Cafe</title></head>\n<body><h1>Coffee</h1></body></html>\n"


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


async def paste_text(visit: Visit, label: str, text: str) -> None:
    await visit.page.get_by_label(label).evaluate(
        """(area, text) => {
            const held = new DataTransfer();
            held.setData("text/plain", text);
            area.dispatchEvent(new ClipboardEvent("paste", {clipboardData: held, bubbles: true, cancelable: true}));
        }""",
        text,
    )


async def imported(visit: Visit) -> None:
    """A project with one imported page."""
    await visit.page.evaluate("location.hash = '#/'")
    await paste_text(visit, "What to build", SOURCE)
    await visit.page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_have_text("Coffee")


# --- import ----------------------------------------------------------------------------------------------------------


async def test_pasted_code_is_the_first_version_as_it_is(visit: Visit) -> None:
    page = visit.page
    await imported(visit)
    await expect(page.locator(".variant")).to_contain_text("Imported")
    await expect(page.locator(".variant")).not_to_contain_text("ms")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Harbour Cafe")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 1")
    await page.get_by_role("tab", name="Code").click()
    await expect(page.get_by_label("Content of index.html")).to_contain_text("<title>Harbour Cafe</title>")
    assert await page.locator(".ended").count() == 0  # no model was asked


async def test_a_file_is_imported_the_same_way(visit: Visit) -> None:
    page = visit.page
    await page.locator("input[type=file]").set_input_files(
        [{"name": "mine.html", "mimeType": "text/html", "buffer": SOURCE.encode()}]
    )
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_have_text("Coffee")


# --- nothing typed is lost -------------------------------------------------------------------------------------------


async def test_what_is_written_on_the_start_page_survives(first_visit: Visit) -> None:
    page = first_visit.page
    box = page.get_by_label("What to build")
    await box.fill("A page that I have not sent")
    await page.locator("input[type=file]").set_input_files(
        [{"name": "one.png", "mimeType": "image/png", "buffer": DOT}]
    )
    attached = page.get_by_role("list", name="Attached").get_by_role("img")
    await expect(attached).to_have_count(1)
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_role("link", name="New").click()
    await expect(box).to_have_value("A page that I have not sent")
    await expect(attached).to_have_count(1)
    await page.reload()
    await expect(box).to_have_value("A page that I have not sent")
    await expect(attached).to_have_count(1)


async def test_edits_and_instructions_survive_tabs_versions_reloads_and_other_people(first_visit: Visit) -> None:
    page = first_visit.page
    await imported(first_visit)
    address = page.url
    await page.get_by_label("What to change").fill("half of an instruc")
    await page.get_by_role("tab", name="Code").click()
    editor = page.get_by_label("Content of index.html")
    await editor.click()
    await page.keyboard.press("Control+Home")
    await page.keyboard.type("<!-- not saved -->")
    await page.get_by_role("tab", name="Preview").click()
    await page.get_by_role("tab", name="Code").click()
    await expect(editor).to_contain_text("<!-- not saved -->")
    other = await page.context.new_page()
    await other.goto(address)
    await other.get_by_role("tab", name="Code").click()
    await other.get_by_role(
        "button", name="Save as new version"
    ).click()  # the edit of the first tab is offered here too
    await expect(other.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await other.close()
    await expect(page.get_by_role("button", name="Version 2 is newer")).to_be_visible()
    await expect(editor).to_contain_text("<!-- not saved -->")
    await expect(page.get_by_label("What to change")).to_have_value("half of an instruc")
    await page.get_by_role("button", name="Version 2 is newer").click()
    await expect(page.get_by_label("What to change")).to_have_value("half of an instruc")
    await page.get_by_role("button", name="Earlier version ([)").click()
    await expect(editor).to_contain_text("<!-- not saved -->")
    await page.reload()
    await expect(editor).to_contain_text("<!-- not saved -->")
    await expect(page.get_by_label("What to change")).to_have_value("half of an instruc")


# --- retry, history --------------------------------------------------------------------------------------------------


async def test_a_retry_stays_in_its_place(visit: Visit) -> None:
    page = visit.page
    await visit.build("fail please", variants=2, models=["quick", "calm"])
    failed = page.get_by_role("button", name=re.compile(r"^Variant \d, failed"))
    await expect(failed).to_have_count(2)
    await expect(page.locator(".variant .badge.bad")).to_have_count(2)
    await expect(page.locator(".stage")).to_contain_text("The provider refuses this request")
    before = await page.locator(".variant").count()
    await page.get_by_role("button", name="Retry", exact=True).click()
    await expect(failed).to_have_count(2)
    await page.get_by_role("button", name="Retry all failed").click()
    await expect(failed).to_have_count(2)
    assert await page.locator(".variant").count() == before
    assert await page.get_by_label("Version", exact=True).locator("option").count() == 1


async def test_history_is_newest_first_with_what_changed(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a landing page", variants=1, models=["quick"])
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Version", exact=True)).to_have_value(re.compile("^ver_"))
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await visit.built(1)
    await expect(stage(visit).locator("h1")).to_contain_text("again")
    await page.get_by_role("tab", name="History").click()
    rows = page.locator(".history-row")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_contain_text("change the headline")
    await expect(rows.first).to_contain_text("Latest")
    await expect(rows.first).to_contain_text("+1")
    await expect(rows.first.frame_locator("iframe.shown").locator("h1")).to_contain_text("again")
    await page.get_by_role("tab", name="Preview").click()
    await page.locator("body").press("[")
    await expect(stage(visit).locator("h1")).to_have_text("Woven from many threads")
    await page.locator("body").press("]")
    await expect(stage(visit).locator("h1")).to_contain_text("again")
    await page.get_by_role("button", name="Undo: change “change the headline” (U)").click()
    await expect(stage(visit).locator("h1")).to_have_text("Woven from many threads")
    await page.get_by_role("tab", name="History").click()
    await page.get_by_role("button", name="Restore version 2").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 3")
    await expect(page.locator(".variant")).to_contain_text("Restored")
    await expect(page.locator(".variant")).not_to_contain_text("0 ms")


# --- the room --------------------------------------------------------------------------------------------------------

SHARE = """() => {
    const room = document.querySelector('[data-testid="preview-room"]').getBoundingClientRect();
    return room.width * room.height / (innerWidth * innerHeight);
}"""


async def test_the_preview_gets_the_room(visit: Visit) -> None:
    page = visit.page
    await visit.open_built("a landing page", variants=4, models=["quick", "calm", "bright", "plain"])
    for width, height in ((1440, 900), (1280, 720)):
        await page.set_viewport_size({"width": width, "height": height})
        share = await page.evaluate(SHARE)
        print(f"preview at {width} × {height}: {share:.0%} of the window")
        assert share >= 0.6, (width, height)
        await page.locator("body").press("f")
        await expect(page.locator(".stage.full")).to_be_visible()
        assert await page.evaluate(SHARE) > 0.99, (width, height)
        await page.keyboard.press("Escape")
        await expect(page.locator(".stage.full")).to_have_count(0)
    await page.get_by_role("radio", name="100 %").click()
    scale = await page.locator(".stage iframe.shown").evaluate("frame => frame.getBoundingClientRect().width / 1280")
    assert scale == pytest.approx(1, abs=0.01)


async def test_on_a_phone_preview_and_conversation_share_the_screen_by_a_tab(first_visit: Visit) -> None:
    page = first_visit.page
    await first_visit.build("fail please", variants=1, models=["quick"])
    await expect(page.get_by_role("button", name=re.compile("^Variant 1, failed"))).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 780})
    await page.reload()
    failure = page.locator(".stage-message p")
    await expect(failure).to_contain_text("refuses this request")
    box = await failure.bounding_box()
    assert box is not None
    assert box["height"] >= 16  # it is not part of a page that is made smaller
    bars = await page.locator(".main-bar").all()
    assert len(bars) == 1
    assert (await bars[0].bounding_box() or {})["height"] <= 48
    change = await page.get_by_label("What to change").bounding_box()
    assert change is not None
    assert change["y"] > 600
    await page.get_by_role("tab", name="Chat").click()
    await expect(first_visit.log).to_be_visible()
    await expect(page.locator(".stage-message")).not_to_be_visible()
    await expect(page.get_by_label("What to change")).to_be_visible()


# --- models ----------------------------------------------------------------------------------------------------------


async def test_models_are_searched_grouped_and_remembered(first_visit: Visit) -> None:
    page = first_visit.page
    await page.get_by_role("button", name=re.compile("^Models")).click()
    menu = page.get_by_role("dialog", name="Choose models")
    await expect(menu.get_by_role("group", name="scripted")).to_be_visible()
    await page.get_by_label("Search models").fill("bri")
    await expect(menu.get_by_role("menuitemcheckbox")).to_have_count(1)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await expect(menu).to_have_count(0)
    await expect(page.get_by_role("button", name="Models: Bright")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("button", name="Models: Bright")).to_be_visible()


# --- keyboard --------------------------------------------------------------------------------------------------------


async def test_the_main_path_goes_by_keyboard_alone(first_visit: Visit) -> None:
    page = first_visit.page
    await expect(page.get_by_label("What to build")).to_be_focused()
    await page.keyboard.type("a landing page")
    await page.keyboard.press("Enter")
    await first_visit.built(2)
    await page.locator("body").press("2")
    await expect(page.get_by_role("button", name=re.compile("^Variant 2"))).to_have_attribute("aria-pressed", "true")
    await page.keyboard.press("1")
    await expect(page.get_by_role("button", name=re.compile("^Variant 1"))).to_have_attribute("aria-pressed", "true")
    # A key that is pressed while two pages change places is lost.
    await expect(page.locator(".stage iframe")).to_have_count(1)
    await page.keyboard.press("e")
    await expect(page.locator(".stage-hint")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator(".stage-hint")).to_have_count(0)
    await page.locator("body").press("e")
    await expect(page.locator(".stage-hint")).to_be_visible()
    await page.wait_for_timeout(200)
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):  # the header, the section, its headline
        await page.keyboard.press(key)
    await page.keyboard.press("Enter")
    await expect(page.locator(".selected")).to_contain_text("Woven from many threads</h1>")
    await expect(page.get_by_label("What to change")).to_be_focused()
    await page.keyboard.type("change the headline")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(stage(first_visit).locator("h1")).to_contain_text("again")
    await page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Commands")
    await expect(palette).to_be_visible()
    await page.keyboard.type("show hist")
    await page.keyboard.press("Enter")
    await expect(palette).to_have_count(0)
    await expect(page.locator(".history-row")).to_have_count(2)
    await page.keyboard.press("Control+k")
    await page.keyboard.press("Escape")
    await expect(palette).to_have_count(0)


async def test_the_next_change_waits_for_the_one_that_is_built(visit: Visit) -> None:
    page = visit.page
    await visit.build("long page", variants=1, models=["steady"])
    await expect(page.get_by_role("button", name=re.compile("^Variant 1.*running"))).to_be_visible()
    await page.get_by_label("What to change").fill("change the headline")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("list", name="Waiting changes")).to_contain_text("change the headline")
    await page.get_by_role("button", name="Stop variant 1").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(page.get_by_role("list", name="Waiting changes")).to_have_count(0)


# --- words -----------------------------------------------------------------------------------------------------------


async def test_a_file_may_be_dropped_anywhere(first_visit: Visit) -> None:
    page = first_visit.page
    await page.evaluate(
        """data => {
            const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
            const held = new DataTransfer();
            held.items.add(new File([bytes], "drop.png", {type: "image/png"}));
            const target = document.querySelector(".sidebar");
            for (const kind of ["dragenter", "dragover", "drop"])
                target.dispatchEvent(new DragEvent(kind, {dataTransfer: held, bubbles: true, cancelable: true}));
        }""",
        base64.b64encode(DOT).decode(),
    )
    await expect(page.get_by_role("list", name="Attached").get_by_role("img")).to_have_count(1)


async def test_errors_of_the_page_are_sent_to_the_agent(visit: Visit) -> None:
    page = visit.page
    visit.expected += ["it broke"]
    await page.evaluate("location.hash = '#/'")
    await paste_text(visit, "What to build", SOURCE.replace("</body>", "<script>console.error('it broke')</script>"))
    await page.get_by_role("button", name="Import", exact=True).click()
    await page.get_by_role("button", name="1 error").click()
    await page.get_by_role("button", name="Fix this").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(page.locator(".user-bubble").last).to_contain_text("it broke")


async def test_an_element_is_changed_by_hand_without_a_model(visit: Visit) -> None:
    page = visit.page
    await imported(visit)
    await page.get_by_role("radio", name="100 %").click()  # a page that is made smaller cannot be clicked exactly
    await page.get_by_role("button", name="Select and edit").click()
    await stage(visit).locator("h1").click(position={"x": 20, "y": 10})  # its middle is below the panel
    panel = page.get_by_role("form", name="Change the element")
    await panel.get_by_label("Text", exact=True).fill("Tea & cake")
    await panel.get_by_label("Colour", exact=True).fill("#b00020")
    await panel.get_by_role("button", name="Apply as new version").click()
    await expect(page.get_by_label("Version", exact=True)).to_contain_text("Version 2")
    await expect(stage(visit).locator("h1")).to_have_text("Tea & cake")
    await expect(stage(visit).locator("h1")).to_have_css("color", "rgb(176, 0, 32)")
    await page.get_by_role("tab", name="Code").click()
    await expect(page.get_by_label("Content of index.html")).to_contain_text(
        '<h1 style="color: #b00020">Tea &amp; cake</h1>'
    )
    await expect(page.locator(".variant")).to_contain_text("Edited by hand")


# --- a server that goes away -----------------------------------------------------------------------------------------


@asynccontextmanager
async def own_server(folder: Path, port: int = 0) -> AsyncGenerator[dict[str, Any]]:
    """A server that a test may end."""
    command = [sys.executable, str(HOST), "--data", str(folder), "--port", str(port)]
    environment = os.environ | {"HEALD_TOKEN": "t" * 32}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:  # noqa: ASYNC220
        try:
            assert process.stdout is not None
            yield json.loads(await asyncio.to_thread(process.stdout.readline))
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 20)


async def test_a_server_that_goes_away_leaves_the_project_and_comes_back(tmp_path: Path, chrome: Browser) -> None:
    async with AsyncExitStack() as first:
        server = await first.enter_async_context(own_server(tmp_path))
        async with visiting(chrome, f"{server['url']}/#token={'t' * 32}") as visit:
            page = visit.page
            await visit.open_built("a landing page", variants=1, models=["quick"])
            built = page.locator(".stage").frame_locator("iframe.shown:not([src$='/_draft'])")
            await expect(built.locator("h1")).to_have_text("Woven from many threads")
            await page.get_by_label("What to change").fill("change the headline")
            await first.aclose()
            await expect(page.get_by_test_id("away")).to_contain_text("cannot be reached")
            await expect(page.locator(".variant")).to_have_count(1)
            await expect(stage(visit).locator("h1")).to_have_text("Woven from many threads")
            await expect(page.get_by_role("button", name="Send (Enter)")).to_be_disabled()
            await expect(page.get_by_role("button", name="Retry variant 1")).to_be_disabled()
            async with own_server(tmp_path, int(server["url"].rpartition(":")[2])):
                await expect(page.get_by_test_id("away")).to_have_count(0, timeout=60_000)
                await expect(page.get_by_label("What to change")).to_have_value("change the headline")
                await page.get_by_role("button", name="Send (Enter)").click()
                await expect(stage(visit).locator("h1")).to_contain_text("again")
