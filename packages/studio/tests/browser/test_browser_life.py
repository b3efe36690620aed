"""The life of a browser: started when needed, shared, restarted when it dies, gone without a trace."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_support import alive, below, kill, processes_ended, running

from heald_studio.browser.browser import Browser, shared_browser
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import BrowserError, PageResponse, serve_files
from heald_studio.browser.profile import Profile
from needed_programs import needs_chromium

PAGE = serve_files({"index.html": "<p>here"})


@pytest.fixture
def profiles(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[Path]]]:
    """Lists the profiles of browsers that this test started, without those of other tests."""
    with tempfile.TemporaryDirectory(prefix="heald-") as folder:  # a short path: Chromium has a socket in it
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield lambda: list(Path(folder).glob("heald-chromium-*"))


@needs_chromium
async def test_it_starts_on_first_use_and_cleans_up(profiles: Callable[[], list[Path]]) -> None:
    browser = Browser()
    assert browser.pid is None
    await browser.render(PAGE)
    first = browser.pid
    assert first is not None
    assert len(profiles()) == 1
    processes = [first, *below(first)]
    await browser.render(PAGE)
    assert browser.pid == first, "the second page uses the same browser"
    await asyncio.to_thread(browser.close)
    assert browser.pid is None
    assert await processes_ended(processes)
    assert profiles() == []
    await browser.render(PAGE)
    assert browser.pid not in (None, first), "a closed one can be used again"
    await asyncio.to_thread(browser.close)


@needs_chromium
async def test_the_folder_of_temporary_files_may_have_a_long_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chromium makes a socket in its profile, and the path of a socket is short."""
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with running(Browser()) as browser:
        assert (await browser.render(PAGE)).texts[0].text == "here"


@needs_chromium
async def test_it_is_closed_when_nobody_uses_it() -> None:
    with running(Browser(idle=0.2)) as browser:
        await browser.render(PAGE)
        pid = browser.pid
        assert pid is not None
        assert await processes_ended([pid])
        assert (await browser.render(PAGE)).texts[0].text == "here"


@needs_chromium
async def test_it_is_started_ahead_and_closed_if_no_page_comes() -> None:
    with running(Browser()) as browser:
        browser.start_ahead()
        first = await _wait_start(browser)
        browser.start_ahead()
        await browser.render(PAGE)
        assert browser.pid == first
    with running(Browser(idle=0.2)) as browser:
        browser.start_ahead()
        assert await processes_ended([await _wait_start(browser)])


async def _wait_start(browser: Browser) -> int:
    while (pid := browser.pid) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return pid


async def test_a_browser_that_is_not_there_is_not_started_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", "/nowhere/chromium")
    with running(Browser()) as browser:
        browser.start_ahead()
        assert browser.pid is None
        with pytest.raises(BrowserError):
            await browser.render(PAGE)


@needs_chromium
async def test_it_is_restarted_when_it_dies() -> None:
    with running(Browser()) as browser:
        await browser.render(PAGE)
        pid = browser.pid
        assert pid is not None
        kill(pid)
        assert await processes_ended([pid])
        assert (await browser.render(PAGE)).texts[0].text == "here"
        assert browser.pid != pid


@needs_chromium
async def test_a_page_in_progress_survives_the_death_of_its_browser() -> None:
    with running(Browser()) as browser:
        killed: list[int] = []

        async def serve(url: str) -> PageResponse | None:
            if browser.pid is not None and not killed:
                killed.append(browser.pid)
                kill(browser.pid)
                await asyncio.sleep(0.2)
            return PageResponse(200, "text/html", b"<p>twice")

        assert (await browser.render(serve)).texts[0].text == "twice"
        assert killed


@needs_chromium
async def test_a_browser_that_dies_every_time_is_an_error() -> None:
    with running(Browser()) as browser:

        async def serve(url: str) -> PageResponse | None:
            kill(browser.pid or -1)
            await asyncio.sleep(0.3)
            return None

        with pytest.raises(BrowserError) as caught:
            await browser.render(serve)
        assert caught.value.kind == "gone"


@needs_chromium
async def test_cancelling_closes_the_tab() -> None:
    with running(Browser()) as browser:
        asked = asyncio.Event()

        async def serve(url: str) -> PageResponse | None:
            asked.set()
            await asyncio.sleep(60)
            return None

        task = asyncio.create_task(browser.render(serve))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        started = time.monotonic()
        renderings = await asyncio.gather(*(browser.render(PAGE) for _ in range(2)))
        assert len(renderings) == 2
        assert time.monotonic() - started < 50, "its place is free before the first one would have ended"


@needs_chromium
def test_any_loop_may_ask() -> None:
    with running(Browser()) as browser:
        pids: set[int | None] = set()
        for _ in range(3):
            assert asyncio.run(browser.render(PAGE)).texts[0].text == "here"
            pids.add(browser.pid)
        assert len(pids) == 1


def test_the_shared_one_is_one() -> None:
    assert shared_browser() is shared_browser()


OWNER = """
import asyncio, sys
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import serve_files
browser = shared_browser()
asyncio.run(browser.render(serve_files({"index.html": "<p>here"})))
print(browser.pid, flush=True)
if sys.argv[1] == "wait":
    sys.stdin.read()
"""


@needs_chromium
@pytest.mark.parametrize("how", ["exit", "kill"])
async def test_it_ends_with_anyone_who_started_it(how: str) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        OWNER,
        "wait" if how == "kill" else "go",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdout is not None
    pid = int(await owner.stdout.readline())
    processes = [pid, *below(pid)]
    if how == "kill":
        assert alive(pid)
        owner.kill()
    await owner.communicate()
    assert owner.returncode == (0 if how == "exit" else -9)
    assert await processes_ended(processes)


def test_folders_that_were_left_behind_are_swept() -> None:
    left = Path(tempfile.mkdtemp(prefix="heald-chromium-"))
    (left / "owner.lock").touch()
    foreign = Path(tempfile.mkdtemp(prefix="heald-chromium-"))
    used = Profile()
    try:
        assert not left.exists()
        assert foreign.exists(), "a folder without a lock is not ours"
        another = Profile()
        assert used.path.exists()
        another.remove()
        assert used.path.exists()
    finally:
        used.remove()
        foreign.rmdir()
    assert not used.path.exists()


class TestMissing:
    async def test_no_chromium_is_one_sentence(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("HEALD_CHROMIUM", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BrowserError) as caught:
            await Browser().render(PAGE)
        assert str(caught.value) == (
            "Chromium was not found; install it (Debian: apt install chromium) or set HEALD_CHROMIUM=path."
        )
        assert caught.value.kind == "missing"

    def test_the_variable_decides(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        program = tmp_path / "mine"
        program.write_text("#!/bin/sh\n")
        monkeypatch.setenv("HEALD_CHROMIUM", str(program))
        with pytest.raises(BrowserError, match="HEALD_CHROMIUM names no program"):
            find_chromium()
        program.chmod(0o755)
        assert find_chromium() == program

    async def test_a_program_that_is_no_browser(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profiles: Callable[[], list[Path]]
    ) -> None:
        program = tmp_path / "mine"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setenv("HEALD_CHROMIUM", str(program))
        with running(Browser()) as browser, pytest.raises(BrowserError, match="did not answer"):
            await browser.render(PAGE)
        assert profiles() == []
