"""The page in a real browser, on the real server, with models whose turns are written in code.

All tests of a process share one server. A test that begins with a request or a project uses `visit`, the page that
stays open from test to test; one that needs an untouched browser uses `first_visit`.
"""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import OpenPage, Visit, empty_server, serving, visiting
from playwright.async_api import Browser


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `demo` of the server, for all tests of a process."""
    folder = tmp_path_factory.mktemp("page") / "work"
    folder.mkdir()
    (folder / "readme.md").write_text("# Demo\n")
    return folder


@pytest.fixture
def fresh_workspace(workspace: Path) -> Path:
    """The same folder without the files of earlier tests."""
    for path in workspace.iterdir():
        if path.is_file() and path.name != "readme.md":
            path.unlink()
    return workspace


@pytest.fixture(scope="session")
def address(workspace: Path) -> Generator[str]:
    """Where the server is, with its token."""
    with serving(workspace, workspace.parent / "data") as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def first_visit(address: str, chrome: Browser) -> AsyncGenerator[Visit]:
    """A person who has never been there. At the end nothing must have gone wrong in the page."""
    async with visiting(chrome, address) as visit:
        yield visit
    await empty_server(address)
    assert not (visit.strict and visit.problems), visit.problems


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def open_page(address: str, chrome: Browser) -> AsyncGenerator[OpenPage]:
    """The page that stays open from test to test."""
    shared = OpenPage(chrome, address)
    yield shared
    await shared.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(open_page: OpenPage, request: pytest.FixtureRequest) -> AsyncGenerator[Visit]:
    """A person with the page open at its start. At the end nothing must have gone wrong in it."""
    visit = await open_page.show_start()
    failures = request.session.testsfailed
    yield visit
    problems = (
        list(visit.problems) if visit.strict else []
    )  # what the page asks for while its project is deleted is none
    if problems or request.session.testsfailed > failures or not await open_page.clear():
        await open_page.close()
    assert not problems, problems
