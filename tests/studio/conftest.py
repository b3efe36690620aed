"""The browser of all tests of the studio, and the sample projects of the stacks for the exports and the studio."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weft.studio.browser.browser import Browser

PATIENCE = 90.0
"""Seconds for a page: some for the work, the rest for whatever else the machine does."""

HEADLESS_SHELL = shutil.which("chromium-headless-shell")

Sample = Callable[[str], dict[str, str | bytes]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all of these tests: it keeps a thread of its own, whichever loop a test has."""
    browser = Browser(seconds=PATIENCE)
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def headless_shell(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Render in the headless shell where it is installed: 40 % less processor time. `browser` tries Chromium itself."""
    if HEADLESS_SHELL and not os.environ.get("WEFT_CHROMIUM") and request.path.parent.name != "browser":
        monkeypatch.setenv("WEFT_CHROMIUM", HEADLESS_SHELL)


@pytest.fixture(scope="session")
def sample() -> Sample:
    path = Path(__file__).parent / "stacks" / "stack_projects.py"
    spec = importlib.util.spec_from_file_location("stack_projects_of_every_stack", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.project
