"""The browser of all tests of the studio, and the sample projects of the stacks for the exports and the studio."""

import importlib.util
from collections.abc import Callable, Iterator

import pytest

from heald_studio.browser.browser import Browser
from repository import ROOT

PATIENCE = 90.0
"""Seconds for a page: some for the work, the rest for whatever else the machine does."""

Sample = Callable[[str], dict[str, str | bytes]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all of these tests: it keeps a thread of its own, whichever loop a test has."""
    browser = Browser(seconds=PATIENCE)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def sample() -> Sample:
    path = ROOT / "packages" / "studio" / "tests" / "stacks" / "stack_projects.py"
    spec = importlib.util.spec_from_file_location("stack_projects_of_every_stack", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.project
