"""Pictures with roles, and pages on the web that are captured as a person wants them."""

import base64
import io
from typing import Any

import pytest
from page_support import Visit
from PIL import Image
from playwright.async_api import FilePayload, Route, expect


def _file(name: str) -> FilePayload:
    out = io.BytesIO()
    Image.new("RGB", (320, 200), "teal").save(out, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": out.getvalue()}


async def _sent(visit: Visit) -> list[dict[str, Any]]:
    """The prompts that are sent from now on. They are not passed on."""
    prompts: list[dict[str, Any]] = []

    async def keep(route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
            return
        body: Any = route.request.post_data_json
        prompts.append(body["prompt"])
        await route.fulfill(status=503, json={"error": {"code": "unavailable", "message": "Not now."}})

    await visit.page.route("**/projects", keep)
    return prompts


async def test_several_pictures_have_roles(first_visit: Visit) -> None:
    page, prompts = first_visit.page, await _sent(first_visit)
    first_visit.strict = False
    await page.locator("input[type=file]").first.set_input_files([_file("wide.png")])
    await expect(page.get_by_label("What wide.png shows")).to_have_count(0)
    await page.locator("input[type=file]").first.set_input_files([_file("narrow.png")])
    await page.get_by_label("What wide.png shows").select_option("Desktop")
    await page.get_by_label("What narrow.png shows").select_option("Phone")
    assert await first_visit.axe() == []
    await page.get_by_role("button", name="Build", exact=True).click()
    await expect(page.get_by_text("Not now.")).to_be_visible()
    (prompt,) = prompts
    assert [image["role"] for image in prompt["images"]] == ["desktop", "mobile"]
    assert base64.b64decode(prompt["images"][0]["data"].partition(",")[2]).startswith(b"\x89PNG")


async def test_an_address_is_captured_in_a_chosen_window(first_visit: Visit) -> None:
    page, prompts = first_visit.page, await _sent(first_visit)
    first_visit.strict = False
    await expect(page.get_by_label("Width of the captured page")).to_have_count(0)
    await page.get_by_label("What to build").fill("https://example.org")
    await page.get_by_label("Width of the captured page").select_option("768 px wide")
    await page.get_by_label("Whole page").uncheck()
    await page.get_by_role("button", name="Build", exact=True).click()
    await expect(page.get_by_text("Not now.")).to_be_visible()
    assert prompts == [{"url": "https://example.org", "capture": {"width": 768, "full_page": False}}]


async def test_a_picture_that_no_browser_shows_is_attached_by_its_name(first_visit: Visit) -> None:
    heif = pytest.importorskip("pillow_heif", reason="pillow-heif is not installed (pip install 'heald[studio]')")
    heif.register_heif_opener()
    file = io.BytesIO()
    Image.new("RGB", (320, 200), "teal").save(file, "HEIF")
    page = first_visit.page
    photo: FilePayload = {"name": "photo.heic", "mimeType": "image/heic", "buffer": file.getvalue()}
    await page.locator("input[type=file]").first.set_input_files([photo])
    attached = page.get_by_role("list", name="Attached")
    await expect(attached.get_by_text("photo.heic")).to_be_visible()
    await expect(attached.get_by_role("img")).to_have_count(0)
    await expect(page.get_by_role("button", name="Build", exact=True)).to_be_enabled()


async def test_what_is_no_picture_is_refused_when_it_is_attached(first_visit: Visit) -> None:
    page, prompts = first_visit.page, await _sent(first_visit)
    first_visit.expected.append("400")  # the console names the answer that refuses a file
    good = _file("good.png")
    files: list[FilePayload] = [
        {"name": "notes.png", "mimeType": "image/png", "buffer": b"These are words."},
        {"name": "half.png", "mimeType": "image/png", "buffer": good["buffer"][:200]},
        {"name": "old.bmp", "mimeType": "image/bmp", "buffer": b"BM" + bytes(60)},
        good,
    ]
    await page.locator("input[type=file]").first.set_input_files(files)
    await expect(page.get_by_text("notes.png is not a picture that can be read")).to_be_visible()
    await expect(page.get_by_text("half.png is damaged and cannot be decoded")).to_be_visible()
    await expect(page.get_by_text("old.bmp is not a picture that can be read")).to_be_visible()
    await expect(page.get_by_role("list", name="Attached").get_by_role("img")).to_have_count(1)
    transfer = await page.evaluate_handle(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["No picture."], "dropped.png", {type: "image/png"}));
            return transfer;
        }"""
    )
    await page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    await expect(page.get_by_text("dropped.png is not a picture that can be read")).to_be_visible()
    await page.evaluate(
        """transfer => document.querySelector("textarea").dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true, cancelable: true}))""",
        transfer,
    )
    await expect(page.get_by_text("dropped.png is not a picture that can be read")).to_have_count(2)
    assert prompts == []
