"""The screen is recorded in the browser, and the moments that models get are shown before they are sent."""

from page_support import Visit
from playwright.async_api import FilePayload, expect

_SCREEN = """
navigator.mediaDevices.getDisplayMedia = async () => {
  const canvas = document.createElement("canvas");
  canvas.width = 320;
  canvas.height = 200;
  const pen = canvas.getContext("2d");
  const colours = ["white", "navy", "orange"];
  const began = Date.now();
  const paint = () => {
    pen.fillStyle = colours[Math.floor((Date.now() - began) / 1000) % colours.length];
    pen.fillRect(0, 0, 320, 200);
  };
  paint();
  setInterval(paint, 50);
  return canvas.captureStream(20);
};
"""
"""A screen that changes its colour every second; everything else is the browser's own."""


async def test_the_screen_is_recorded_and_built_from(first_visit: Visit) -> None:
    page = first_visit.page
    await page.add_init_script(_SCREEN)
    await page.reload()
    await page.get_by_role("button", name="Record the screen").click()
    await expect(page.get_by_role("button", name="Stop recording (3 s)")).to_be_visible()
    await page.get_by_role("button", name="Stop recording").click()
    await expect(page.get_by_role("list", name="Attached")).to_contain_text("recording.")
    moments = page.get_by_role("list", name="Storyboard").get_by_role("img")
    await expect(moments.first).to_be_visible()
    count = await moments.count()
    assert count >= 2
    assert await first_visit.axe() == []
    await first_visit.build("build what the film shows", variants=1, models=["quick"])
    await first_visit.built(1)
    await first_visit.log.hover()
    await page.mouse.wheel(0, -20_000)
    await expect(first_visit.log.locator(".user-bubble").get_by_role("img")).to_have_count(count)


async def test_a_screen_that_is_not_chosen_and_a_file_that_is_no_recording(first_visit: Visit) -> None:
    first_visit.expected.append("400")
    page = first_visit.page
    await page.evaluate("void (navigator.mediaDevices.getDisplayMedia = () => Promise.reject(new Error('refused')))")
    await page.get_by_role("button", name="Record the screen").click()
    await expect(page.get_by_text("Nothing is recorded")).to_be_visible()
    film: FilePayload = {"name": "broken.mp4", "mimeType": "video/mp4", "buffer": b"not a film at all"}
    await page.locator("input[type=file]").first.set_input_files([film])
    await expect(page.get_by_role("alert").filter(has_text="is not a recording that can be read")).to_be_visible()
