"""What else a person does: steer, give a recording, sign in; and no view that axe finds wanting."""

import io
import re

import pytest
from page_support import AXE, Visit
from PIL import Image
from playwright.async_api import FilePayload, expect


def recording() -> bytes:
    """A short film, as a GIF: what kind it is says its content."""
    frames = [Image.new("RGB", (320, 200), colour) for colour in ("#fff", "#0f766e", "#b45309")]
    film = io.BytesIO()
    frames[0].save(film, "GIF", save_all=True, append_images=frames[1:], duration=700)
    return film.getvalue()


async def test_steering_is_received_at_the_next_turn(visit: Visit) -> None:
    await visit.ask("write notes please", model="scripted/slow")
    await expect(visit.tool("write_file").get_by_label("being written")).to_be_visible()
    await visit.page.get_by_label("While it works").select_option("steer")
    await visit.send_message("rather tell me this")
    await expect(visit.log).to_contain_text("You said: rather tell me this")
    await visit.done()
    bubble = visit.log.locator(".user-bubble").filter(has_text="rather tell me this")
    await expect(bubble).to_contain_text("Steered")
    await expect(visit.tool("write_file").get_by_label("done")).to_be_visible()
    assert await visit.log.locator(".user-bubble").count() == 2
    await visit.page.reload()
    await expect(bubble).to_contain_text("Steered")


async def test_a_recording_is_built_from(visit: Visit) -> None:
    page = visit.page
    film: FilePayload = {"name": "recording.mp4", "mimeType": "video/mp4", "buffer": recording()}
    await page.locator("input[type=file]").set_input_files([film])
    await expect(page.get_by_role("list", name="Attached")).to_contain_text("recording.mp4")
    await visit.build("build what the film shows", variants=1, models=["quick"])
    await visit.built(1)
    await visit.log.hover()
    await page.mouse.wheel(0, -20_000)
    bubble = visit.log.locator(".user-bubble")
    await expect(bubble.locator("p")).to_have_text(["build what the film shows"])
    await expect(bubble.get_by_role("img")).to_have_count(3)
    await bubble.get_by_role("button", name="What the model was sent").click()
    await expect(bubble.locator("pre")).to_contain_text("build what the film shows")


async def test_what_is_no_recording_is_refused_in_a_sentence(first_visit: Visit) -> None:
    first_visit.expected.append("400")
    page = first_visit.page
    film: FilePayload = {"name": "broken.mp4", "mimeType": "video/mp4", "buffer": b"not a film at all"}
    await page.locator("input[type=file]").set_input_files([film])
    await page.get_by_role("button", name="Build", exact=True).click()
    await expect(page.locator(".toast.error")).to_contain_text("recording")
    await expect(page.get_by_role("list", name="Attached")).to_contain_text("broken.mp4")


async def test_axe_finds_nothing_where_one_signs_in_or_looks_at_events(first_visit: Visit) -> None:
    if not AXE.is_file():
        pytest.skip("axe is not installed; run `npm ci` in web/")
    page = first_visit.page
    await first_visit.open_built("build a page", variants=1, models=["quick"])
    for tab in ("Events", "History", "Compare", "Code"):
        await page.get_by_role("tab", name=tab).click()
        await page.wait_for_timeout(500)
        assert await first_visit.axe() == [], tab
    await page.evaluate("document.documentElement.dataset.theme = 'dark'")  # it was light so far
    await page.get_by_role("tab", name="Events").click()
    await expect(page.locator(".event-row").first).to_be_visible()
    assert await first_visit.axe("color-contrast", "link-in-text-block") == [], "dark"
    await page.evaluate("document.documentElement.dataset.theme = 'light'")
    first_visit.expected += ["401", "WebSocket"]
    await page.context.clear_cookies()
    await page.goto(first_visit.address.split("#", maxsplit=1)[0])
    await page.reload()
    await expect(page.get_by_label("Token")).to_be_visible()
    assert await first_visit.axe() == []
    await page.get_by_label("Token").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("does not know this token")
    assert await first_visit.axe() == []
    await page.get_by_label("Token").fill(first_visit.address.partition("#token=")[2])
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_test_id("connection")).to_have_text(re.compile("Connected"))
