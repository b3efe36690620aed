"""The page in a real browser, on the real server, with models whose turns are written in code."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from page_support import BUILT, CHROMIUM, HOST, Visit
from playwright.async_api import async_playwright


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Where the server is, with its token."""
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    folder = tmp_path_factory.mktemp("page")
    (folder / "work").mkdir()
    (folder / "work" / "readme.md").write_text("# Demo\n")
    command = [sys.executable, str(HOST), "--data", str(folder / "data"), "--workspace", str(folder / "work")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"WEFT_TOKEN": "t" * 32}) as server:
        assert server.stdout is not None
        ready = json.loads(server.stdout.readline())
        yield f"{ready['url']}/#token={ready['token']}"
        server.terminate()
        server.wait(20)


@pytest.fixture
def chromium() -> str:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing")
    return CHROMIUM


@pytest.fixture
async def visit(address: str, chromium: str) -> AsyncGenerator[Visit]:
    """A person with the page open. At the end nothing must have gone wrong in it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        page = await context.new_page()
        visit = Visit(page, address)
        await visit.open()
        yield visit
        await asyncio.wait_for(browser.close(), 20)
        assert not (visit.strict and visit.problems), visit.problems
