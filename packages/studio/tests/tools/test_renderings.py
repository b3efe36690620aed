"""Pages of projects are rendered and scored once for the same files, window and target."""

import asyncio
from collections.abc import Iterator

import pytest

from heald_studio.browser.browser import Browser, shared_browser
from heald_studio.browser.page import DESKTOP, MOBILE, BrowserError, Rendering, Viewport
from heald_studio.score import scoring
from heald_studio.score.scoring import compare_page, render_project
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium
from studio_tools_support import PAGE

STACK = find_stack("html_css")
FILES = {"index.html": PAGE.encode()}


@pytest.fixture(scope="module", autouse=True)
def browser() -> Iterator[None]:
    yield
    shared_browser().close()


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[Viewport]:
    """The windows of all pages that really reached the browser."""
    windows: list[Viewport] = []
    whole = Browser.render

    async def render(browser: Browser, *arguments: object, **options: object) -> Rendering:
        windows.append(arguments[2])  # type: ignore[arg-type]
        return await whole(browser, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Browser, "render", render)
    return windows


@needs_chromium
async def test_the_same_files_are_rendered_once_for_all_that_look(rendered: list[Viewport]) -> None:
    looks = [render_project(STACK, FILES, window, mobile=window == MOBILE) for window in (DESKTOP, DESKTOP, MOBILE)]
    first, second, phone = await asyncio.gather(*looks)
    assert first is second
    assert phone.size[0] == 375
    assert await render_project(STACK, dict(FILES), DESKTOP) is first
    assert rendered == [DESKTOP, MOBILE]
    changed = await render_project(STACK, {"index.html": PAGE.replace("Harbour", "Harvest").encode()}, DESKTOP)
    assert changed.picture != first.picture


@needs_chromium
async def test_a_caller_that_leaves_does_not_end_the_rendering_of_the_others(rendered: list[Viewport]) -> None:
    files = {"index.html": PAGE.replace("Harbour", "Haven").encode()}
    impatient = asyncio.create_task(render_project(STACK, files, DESKTOP))
    patient = asyncio.create_task(render_project(STACK, files, DESKTOP))
    while not rendered:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    impatient.cancel()
    assert (await patient).size[0] == 1280
    assert len(rendered) == 1


@needs_chromium
async def test_a_failure_is_not_kept(rendered: list[Viewport]) -> None:
    for _ in range(2):
        with pytest.raises(BrowserError):
            await render_project(STACK, {"other.txt": b""}, DESKTOP)
    assert len(rendered) == 2


@needs_chromium
async def test_a_page_that_did_not_change_is_scored_once(rendered: list[Viewport]) -> None:
    files = {"index.html": PAGE.replace("Harbour", "Hamlet").encode()}
    target = (await render_project(STACK, files, DESKTOP)).picture
    cached = (scoring._score_once, scoring._measure_once)  # pyright: ignore[reportPrivateUsage]
    before = [cache.cache_info().misses for cache in cached]
    scores = [(await compare_page(STACK, files, target))[0] for _ in range(2)]
    assert scores[0].ssim == 1.0
    assert scores[0] is scores[1]
    assert [cache.cache_info().misses for cache in cached] == [misses + 1 for misses in before]
    assert rendered == [DESKTOP]
