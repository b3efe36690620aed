"""The page in a real browser, on the real server, with models whose turns are written in code."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
from page_support import BUILT, HOST, Visit, visiting
from playwright.async_api import Browser


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


@pytest_asyncio.fixture(loop_scope="session")
async def visit(address: str, chrome: Browser) -> AsyncGenerator[Visit]:
    """A person with the page open. At the end nothing must have gone wrong in it."""
    async with visiting(chrome, address) as visit:
        yield visit
    assert not (visit.strict and visit.problems), visit.problems
