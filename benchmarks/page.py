"""How quick the page is: its first load, a long log, and four variants that write at once.

    python -m benchmarks.page

It needs the built page (`npm ci && npm run build` in web/) and Chromium.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from gzip import compress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

from playwright.async_api import CDPSession, Page, async_playwright

from weft.providers.scripted import ScriptedModel
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "src" / "weft" / "server" / "built"
CHROMIUM = "/usr/bin/chromium"
EVENTS = 50_000
SECONDS = 8
FRAMES = """seconds => new Promise(done => {
    const times = [];
    const start = performance.now();
    const tick = now => {
        times.push(now);
        if (now - start < seconds * 1000) requestAnimationFrame(tick);
        else done([times.length / seconds, Math.max(...times.slice(1).map((time, at) => time - times[at]))]);
    };
    requestAnimationFrame(tick);
})"""


def first_load() -> int:
    """Bytes of what the page's document names, gzipped."""
    html = (BUILT / "index.html").read_text()
    named = [BUILT / part.split('"')[0] for part in html.split('="/')[1:] if part.startswith("assets/")]
    return len(compress(html.encode())) + sum(len(compress(path.read_bytes())) for path in named)


async def write_log(folder: Path) -> str:
    """A session with a long log."""
    store = SqliteStore(folder / "sessions.db", durable=False)
    sessions = Sessions(store)
    info = await sessions.create(title="A long session", model="scripted/quick", tools=["files"])
    answer = "Some words of an answer with `code` in it, and a list:\n\n- one\n- two\n\n" * 6
    turns = 2 * EVENTS // 70
    script = [
        [ScriptedModel.think("Let me see."), ScriptedModel.call("list_files", path=""), answer[:40]],
        [answer],
    ] * turns
    session = await sessions.open(info.id, model=ScriptedModel(script, piece=8))
    while session.bus.seq < EVENTS:
        await session.run("Go on.")
    await session.close()
    await store.close()
    return info.id


@asynccontextmanager
async def visiting(folder: Path) -> AsyncGenerator[Page]:
    host = [sys.executable, str(ROOT / "web" / "dev" / "host.py"), "--data", str(folder)]
    server = subprocess.Popen(host, stdout=subprocess.PIPE)  # noqa: ASYNC220
    try:
        assert server.stdout is not None
        ready = json.loads(await asyncio.to_thread(server.stdout.readline))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = await browser.new_page(viewport={"width": 1280, "height": 800})
            await page.goto(f"{ready['url']}/#token={ready['token']}")
            await page.get_by_test_id("connection").get_by_text("Connected").wait_for()
            yield page
            await browser.close()
    finally:
        server.terminate()
        server.wait()


async def open_log(page: Page, session: str) -> tuple[float, float]:
    """Seconds until the end of a long log is seen, and until all of it is there."""
    start = perf_counter()
    await page.evaluate(f"location.hash = '#/session/{session}'")
    await _until(page, f"Number(document.querySelector('.virtual')?.dataset.seq ?? 0) >= {EVENTS}")
    seen = perf_counter() - start
    await _until(page, "document.querySelector('.virtual').getAttribute('aria-busy') === 'false'")
    return seen, perf_counter() - start


async def _until(page: Page, condition: str) -> None:
    while not await page.evaluate(condition):  # noqa: ASYNC110
        await asyncio.sleep(0.02)


class Pace(NamedTuple):
    """How a page kept up."""

    rate: float
    """Frames a second."""
    longest: float
    """The longest wait for one, in milliseconds."""
    busy: float
    """The part of a processor that its own thread took: on a machine with other work the one fair figure."""


async def frames(page: Page) -> Pace:
    """While four variants write at once."""
    await page.evaluate("location.hash = '#/'")
    await page.get_by_label("What to build").fill("long page")
    await page.get_by_role("button", name="Models").click()
    await page.get_by_role("menuitemcheckbox", name="scripted/steady").click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Variants").select_option("4")
    await page.get_by_role("button", name="Build", exact=True).click()
    await page.locator(".stage iframe.shown").wait_for()
    inner = await page.context.new_cdp_session(page)
    await inner.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = await _busy(inner)
    rate, longest = await page.evaluate(FRAMES, SECONDS)
    return Pace(rate, longest, (await _busy(inner) - before) / SECONDS)


async def _busy(inner: CDPSession) -> float:
    answer = cast("dict[str, list[dict[str, Any]]]", await inner.send("Performance.getMetrics"))
    return next(metric["value"] for metric in answer["metrics"] if metric["name"] == "TaskDuration")


async def main() -> None:
    print(f"first load           {first_load() / 1000:8.1f} kB gzip   (at most 150)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session = await write_log(folder)
        print(f"                     a log of {EVENTS} events is written", file=sys.stderr)
        async with visiting(folder) as page:
            seen, whole = await open_log(page, session)
            print(
                f"{EVENTS} events open in {seen:8.2f} s         (at most 2; all of them are there after {whole:.1f} s)"
            )
            pace = await frames(page)
            print(
                f"four variants        {pace.rate:8.1f} frames/s  (at least 50; the longest {pace.longest:.0f} ms; "
                f"the page took {100 * pace.busy:.0f} % of a processor)"
            )


if __name__ == "__main__":
    asyncio.run(main())
