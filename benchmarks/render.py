"""How long a picture of a page takes with a warm browser, and its score: prints a line for each page and the median.

python -m benchmarks.render [folder of pages]
"""

import asyncio
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import MOBILE, PageResponse, Rendering, Serve, media_type, project_path
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import score

PAGES = Path(__file__).parent / "pages" / "tuning"
ROUNDS = 3


def serve_folder(folder: Path) -> Serve:
    """The files of a folder, and what lies beside it."""

    def serve(url: str) -> PageResponse | None:
        path = project_path(url)
        for root in (folder, folder.parent):
            file = root / (path or "")
            if path and file.is_file() and file.resolve().is_relative_to(folder.parent.resolve()):
                return PageResponse(200, media_type(path), file.read_bytes())
        return None

    return serve


class Row(NamedTuple):
    desktop: list[float]
    mobile: list[float]
    score: float
    size: tuple[int, int]


async def timed(work: Awaitable[Rendering]) -> tuple[float, Rendering]:
    started = time.perf_counter()
    seen = await work
    return time.perf_counter() - started, seen


async def measure(browser: Browser, serve: Serve, page: str) -> Row:
    first, seen = await timed(browser.render(serve, page))
    desktop = [first, *[(await timed(browser.render(serve, page)))[0] for _ in range(ROUNDS - 1)]]
    mobile = [(await timed(browser.render(serve, page, MOBILE, mobile=True)))[0] for _ in range(ROUNDS)]
    started = time.perf_counter()
    score(PageImage.of(seen), PageImage.of(seen))
    return Row(desktop, mobile, time.perf_counter() - started, seen.size)


async def report(folder: Path, pages: list[str]) -> None:
    browser = Browser()
    serve = serve_folder(folder)
    cold, _ = await timed(browser.render(serve, pages[0]))
    print(f"cold start {cold:.2f} s")
    print(f"{'page':24} {'desktop':>9} {'mobile':>9} {'score':>9}  size")
    every: list[float] = []
    for page in pages:
        row = await measure(browser, serve, page)
        every += row.desktop
        times = f"{median(row.desktop):7.2f} s {median(row.mobile):7.2f} s {row.score:7.2f} s"
        print(f"{page:24} {times}  {row.size[0]} × {row.size[1]}")
    print(f"{'median':24} {median(every):7.2f} s, slowest {max(every):.2f} s of {len(every)}")
    browser.close()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    asyncio.run(report(folder, sorted(page.name for page in folder.glob("*.html"))))


if __name__ == "__main__":
    main()
