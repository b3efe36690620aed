"""The recording of the README: a picture becomes a page, then two models build side by side; light and dark.

    python scripts/recording.py [folder]

The server, the page, the previews and the local converter of the first part are real. The two models of the second part
are written in code. It needs the built page, Chromium and the local converter, as `screenshots.py` does.
"""

import asyncio
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from time import monotonic

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, async_playwright
from screenshots import CHROMIUM, HOST, LABEL, ROOT, SLOW, build, choose_models

SIZE: ViewportSize = {"width": 1280, "height": 800}
SHOWN = (880, 550)
"""The size of the recording, in pixels."""
FRAME = 0.4
"""Seconds between two frames."""
LONGEST = 19
"""Frames of a part, at most: of a longer one some are left out, evenly."""
STILL = 2200
"""Milliseconds for which the end of a part is shown."""
QUALITY = 55

Frames = list[Image.Image]


async def record(page: Page, work: Awaitable[None]) -> Frames:
    """Take pictures while a part of the story happens, and one after it."""
    task = asyncio.ensure_future(work)
    frames: Frames = []
    while not task.done():
        started = monotonic()
        frames.append(await take_frame(page))
        await asyncio.wait([task], timeout=max(0.0, FRAME - (monotonic() - started)))
    await task
    frames = [frames[number * len(frames) // LONGEST] for number in range(LONGEST)] if len(frames) > LONGEST else frames
    return [*frames, await take_frame(page)]


async def take_frame(page: Page) -> Image.Image:
    content = await page.screenshot()
    return Image.open(io.BytesIO(content)).convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS)


async def convert_picture(page: Page) -> None:
    await page.locator("input[type=file]").set_input_files(ROOT / "examples" / "shot.png")
    await page.wait_for_timeout(1000)
    await build(page, [LABEL])
    await page.wait_for_timeout(1000)


async def build_side_by_side(page: Page) -> None:
    await page.evaluate("location.hash = '#/'")
    await page.get_by_label("What to build").fill("A long page, built slowly")
    await choose_models(page, ["scripted/steady", "scripted/slow"])
    await page.wait_for_timeout(600)
    await page.get_by_role("button", name="Build", exact=True).click()
    preview = page.locator(".stage").frame_locator("iframe.shown")
    await preview.get_by_text("Card 3").wait_for(timeout=SLOW)
    await page.wait_for_timeout(1500)


async def make_recording(browser: Browser, address: str, theme: str, path: Path) -> None:
    context = await browser.new_context(viewport=SIZE, color_scheme="dark" if theme == "dark" else "light")
    await context.add_init_script("try { localStorage.setItem('heald-tour', 'seen') } catch { }")
    page = await context.new_page()
    page.set_default_timeout(SLOW)
    await page.goto(address)
    await page.get_by_test_id("connection").wait_for(state="attached")
    parts = [await record(page, convert_picture(page)), await record(page, build_side_by_side(page))]
    await context.close()
    save_parts(parts, path)


def save_parts(parts: list[Frames], path: Path) -> None:
    """Write an animated WebP. The end of each part is shown for longer."""
    frames = [frame for part in parts for frame in part]
    pause = round(FRAME * 1000)
    durations = [duration for part in parts for duration in [*[pause] * (len(part) - 1), STILL]]
    first, *others = frames
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, quality=QUALITY, method=4)
    print(f"{path.name}: {len(frames)} frames, {sum(durations) / 1000:.0f} s, {path.stat().st_size / 1000:.0f} kB")


async def main(folder: Path) -> None:
    for theme in ("light", "dark"):
        with tempfile.TemporaryDirectory() as data:
            server = subprocess.Popen(  # noqa: ASYNC220
                [sys.executable, str(HOST), "--data", data], stdout=subprocess.PIPE
            )
            try:
                assert server.stdout is not None
                ready = json.loads(await asyncio.to_thread(server.stdout.readline))
                address = f"{ready['url']}/#token={ready['token']}"
                async with async_playwright() as playwright:
                    browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                    await make_recording(browser, address, theme, folder / f"recording-{theme}.webp")
                    await browser.close()
            finally:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
