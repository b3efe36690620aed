"""How quick the page is: its first load, long logs, and four variants that write at once.

    python -m benchmarks.page [--page folder] [--events 5000,50000] [--json FILE]

It needs the built page (`npm ci && npm run build` in web/, or another build of it in a folder) and Chromium. Frames a
second depend on what else the machine does, so two pages that do next to nothing are measured in the same run: one is
empty, one appends as many pieces of text a second to four boxes. The time that the page's own thread took does not.
"""

import argparse
import asyncio
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from gzip import compress
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from benchmarks.report import commit_name, machine
from heald.providers.scripted import ScriptedModel
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "packages" / "server" / "src" / "heald_server" / "page" / "built"
CHROMIUM = "/usr/bin/chromium"
SECONDS = 8
CONTROL_SECONDS = 3
FRAMES = """seconds => new Promise(done => {
    const times = [];
    const start = performance.now();
    const tick = now => {
        times.push(now);
        if (now - start < seconds * 1000) requestAnimationFrame(tick);
        else {
            const waits = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
            done([times.length / seconds, waits[Math.floor(waits.length * 0.95)], waits.at(-1)]);
        }
    };
    requestAnimationFrame(tick);
})"""
UPDATES = """(() => {
    if (window !== top) return;
    const times = new Map();
    const work = [];
    const jumps = [];
    let reader = null;
    const isIn = (selector, source) =>
        [...document.querySelectorAll(selector)].some((frame) => frame.contentWindow === source);
    addEventListener("message", ({ data, source }) => {
        if (data?.measured === "scroll" && isIn(".stage iframe.shown", source)) {
            if (reader !== null && Math.abs(data.top - reader) > 1) jumps.push(data.top);
        }
        if (data?.heald !== "drafted" || !isIn(".variant-thumb iframe, .stage iframe", source)) return;
        times.set(source, [...(times.get(source) ?? []), performance.now()]);
        work.push(data.work);
    });
    window.readerScrolledTo = (top) => (reader = top);
    window.updatesOfPreviews = () => [
        [...times.values()].flatMap(all => all.slice(1).map((time, at) => time - all[at])), work, jumps];
})()"""
"""Records when the previews of variants say that they show more of their page, how long they worked at it, and where
the large one scrolls to although its reader did not."""
SCROLL = """top => {
    addEventListener("scroll", () => parent.postMessage({ measured: "scroll", top: scrollY }, "*"));
    scrollTo(0, top);
}"""
SCROLLED = 300
"""Pixels that the reader of the large preview has scrolled, which it has to stay at."""
BARE = """<style>pre { height: 160px; overflow: hidden; white-space: pre-wrap }</style>
<pre></pre><pre></pre><pre></pre><pre></pre>
<script>setInterval(() => {
    for (const box of document.querySelectorAll("pre")) {
        box.append("words ");
        box.scrollTop = 1e6;
    }
}, 10)</script>"""


def first_load(built: Path) -> int:
    """Bytes of what the page's document names, gzipped."""
    html = (built / "index.html").read_text()
    named = [built / part.split('"')[0] for part in html.split('="./')[1:] if part.startswith("assets/")]
    return len(compress(html.encode())) + sum(map(_packed, named))


def _packed(path: Path) -> int:
    packed = path.with_name(f"{path.name}.gz")
    return packed.stat().st_size if packed.exists() else len(compress(path.read_bytes()))


async def write_log(folder: Path, events: int) -> str:
    """A session with a long log."""
    store = SqliteStore(folder / "sessions.db", durable=False)
    sessions = Sessions(store)
    info = await sessions.create(title="A long session", model="scripted/quick", tools=["files"])
    answer = "Some words of an answer with `code` in it, and a list:\n\n- one\n- two\n\n" * 6
    turns = 2 * events // 70
    script = [
        [ScriptedModel.think("Let me see."), ScriptedModel.call("list_files", path=""), answer[:40]],
        [answer],
    ] * turns
    session = await sessions.open(info.id, model=ScriptedModel(script, piece=8))
    while session.last_seq < events:
        await session.run("Go on.")
    await session.close()
    await store.close()
    return info.id


@asynccontextmanager
async def serving(folder: Path, built: Path) -> AsyncGenerator[str]:
    """The server, at its address."""
    host = [sys.executable, str(ROOT / "web" / "dev" / "host.py"), "--data", str(folder), "--page", str(built)]
    server = subprocess.Popen(host, stdout=subprocess.PIPE)  # noqa: ASYNC220
    try:
        assert server.stdout is not None
        ready = json.loads(await asyncio.to_thread(server.stdout.readline))
        yield f"{ready['url']}/#token={ready['token']}"
    finally:
        server.terminate()
        server.wait()


class Work(NamedTuple):
    """Seconds that the page's own thread was at work."""

    all: float
    script: float
    layout: float
    """Finding out what everything looks like, and where it goes."""

    def since(self, before: "Work") -> "Work":
        return Work(*(now - then for now, then in zip(self, before, strict=True)))


class Visit:
    """A page, and how much work it was."""

    def __init__(self, page: Page, inner: CDPSession) -> None:
        self.page = page
        self._inner = inner

    @classmethod
    async def to(cls, browser: Browser) -> "Visit":
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        inner = await page.context.new_cdp_session(page)
        await inner.send("Performance.enable", {"timeDomain": "threadTicks"})
        return cls(page, inner)

    async def work(self) -> Work:
        answer = cast("dict[str, list[dict[str, Any]]]", await self._inner.send("Performance.getMetrics"))
        took = {metric["name"]: float(metric["value"]) for metric in answer["metrics"]}
        return Work(took["TaskDuration"], took["ScriptDuration"], took["LayoutDuration"] + took["RecalcStyleDuration"])

    async def heap(self) -> float:
        """The megabytes that its script holds, without garbage."""
        await self._inner.send("HeapProfiler.collectGarbage")
        answer = cast("dict[str, float]", await self._inner.send("Runtime.getHeapUsage"))
        return answer["usedSize"] / 2**20

    async def frames(self, seconds: int) -> "Pace":
        before = await self.work()
        rate, late, longest = await self.page.evaluate(FRAMES, seconds)
        return Pace(rate, late, longest, seconds, (await self.work()).since(before))

    async def until(self, condition: str) -> None:
        while not await self.page.evaluate(condition):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


class Pace(NamedTuple):
    """How a page kept up."""

    rate: float
    """Frames a second."""
    late: float
    """The wait for a frame that 95 % are below, in milliseconds."""
    longest: float
    seconds: int
    work: Work

    def __str__(self) -> str:
        share = Work(*(100 * part / self.seconds for part in self.work))
        return (
            f"{self.rate:8.1f} frames/s  (95 %: {self.late:.0f} ms; the longest {self.longest:.0f} ms; "
            f"its thread worked {share.all:.0f} % of the time: script {share.script:.0f}, layout {share.layout:.0f})"
        )


class Opening(NamedTuple):
    """Seconds until the end of a long log is seen, until all of it is there, and what that took."""

    seen: float
    whole: float
    work: Work
    heap: float
    """Megabytes of the page's script."""

    def figures(self, events: int) -> dict[str, float]:
        return {
            "events": events,
            "end seen, s": round(self.seen, 2),
            "whole, s": round(self.whole, 2),
            "work of the thread, s": round(self.work.all, 2),
            "script memory, MB": round(self.heap, 1),
        }


async def open_log(browser: Browser, address: str, session: str, events: int) -> Opening:
    visit = await Visit.to(browser)
    await visit.page.goto(address)
    await visit.page.get_by_test_id("connection").get_by_text("Connected").wait_for()
    before = await visit.work()
    start = perf_counter()
    await visit.page.evaluate(f"location.hash = '#/session/{session}'")
    await visit.until(f"Number(document.querySelector('.virtual')?.dataset.seq ?? 0) >= {events}")
    seen = perf_counter() - start
    await visit.until("document.querySelector('.virtual').getAttribute('aria-busy') === 'false'")
    whole = perf_counter() - start
    work = (await visit.work()).since(before)
    heap = await visit.heap()
    await visit.page.close()
    return Opening(seen, whole, work, heap)


async def control(browser: Browser, html: str) -> Pace:
    """A page that does next to nothing."""
    visit = await Visit.to(browser)
    await visit.page.set_content(html)
    pace = await visit.frames(CONTROL_SECONDS)
    await visit.page.close()
    return pace


class Previews(NamedTuple):
    """How the previews of four variants kept up."""

    pace: Pace
    gaps: list[float]
    """Milliseconds between two updates of a preview."""
    work: list[float]
    """Milliseconds of work for an update."""
    jumps: list[float]
    """Where the large preview scrolled to by itself."""

    def figures(self) -> dict[str, float]:
        ordered = sorted(self.gaps)
        if not ordered:
            sys.exit("The previews were never updated.")
        return {
            "load": round(os.getloadavg()[0], 1),
            "updates": len(ordered),
            "between two updates, median, ms": round(ordered[len(ordered) // 2]),
            "between two updates, 95 %, ms": round(ordered[int(len(ordered) * 0.95)]),
            "between two updates, longest, ms": round(ordered[-1]),
            "work for an update, ms": round(sum(self.work) / len(self.work), 1),
            "95 % of the frames within, ms": round(self.pace.late),
            "scroll jumps": len(self.jumps),
        }


async def variants(browser: Browser, address: str) -> Previews:
    """Measure the previews while four variants write at once, and a reader has scrolled the large one."""
    visit = await Visit.to(browser)
    page = visit.page
    await page.add_init_script(UPDATES)
    await page.goto(address)
    await page.get_by_label("What to build").fill("long page")
    await page.get_by_role("button", name="Models").click()
    await page.get_by_role("menuitemcheckbox", name="scripted/steady").click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Variants").select_option("4")
    await page.get_by_role("button", name="Build", exact=True).click()
    shown = await page.locator(".stage iframe.shown").element_handle()
    frame = await shown.content_frame() if shown is not None else None
    if frame is None:
        sys.exit("There is no large preview.")
    await frame.wait_for_function(f"document.documentElement.scrollHeight > innerHeight + {SCROLLED}")
    await page.evaluate(f"readerScrolledTo({SCROLLED})")
    await frame.evaluate(SCROLL, SCROLLED)
    pace = await visit.frames(SECONDS)
    gaps, work, jumps = await page.evaluate("updatesOfPreviews()")
    now = await page.locator(".stage iframe.shown").element_handle()
    last = await now.content_frame() if now is not None else None
    at = await last.evaluate("scrollY") if last is not None else -1
    return Previews(pace, gaps, work, jumps if abs(at - SCROLLED) <= 1 else [*jumps, at])


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


async def open_logs(browser: Browser, built: Path, sizes: Sequence[int]) -> list[dict[str, float]]:
    """Open a log of each size, on a server of its own."""
    rows: list[dict[str, float]] = []
    for events in sizes:
        with tempfile.TemporaryDirectory() as name:
            session = await write_log(Path(name), events)
            print(f"                     a log of {events:,} events is written", file=sys.stderr)
            async with serving(Path(name), built) as address:
                opened = await open_log(browser, address, session, events)
        rows.append(opened.figures(events))
        print(
            f"{events:7,} events open in {opened.seen:6.2f} s  (all of them are there after {opened.whole:.1f} s; "
            f"its thread worked {opened.work.all:.2f} s; {opened.heap:.0f} MB; {load()})"
        )
    return rows


async def main(built: Path, sizes: Sequence[int]) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return the figures of each log, and those of four variants that write at once."""
    print(f"first load           {first_load(built) / 1000:8.1f} kB gzip   (at most 150)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        rows = await open_logs(browser, built, sizes)
        print(f"an empty page        {await control(browser, '<p>')}")
        print(f"a bare page          {await control(browser, BARE)}")
        with tempfile.TemporaryDirectory() as name:
            async with serving(Path(name), built) as address:
                measured = await variants(browser, address)
                print(f"four variants        {measured.pace}")
                previews = measured.figures()
                print(f"their previews       {previews}, the longest at most 500, without a jump")
        print(f"                     at least 50 frames/s are wanted; {load()}")
        await browser.close()
    return rows, previews


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How quick the page is.")
    parser.add_argument("--page", type=Path, default=BUILT, help="the folder of the built page")
    parser.add_argument(
        "--events", default="50000", help="events of the logs that are opened, or none (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    options = parser.parse_args()
    logs, previews = asyncio.run(main(options.page, [int(count) for count in options.events.split(",") if count]))
    if options.json is not None:
        command = shlex.join(["python", "-m", "benchmarks.page", *sys.argv[1:]])
        report = {"command": command, "commit": commit_name(), "machine": machine(), "logs": logs, "previews": previews}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
