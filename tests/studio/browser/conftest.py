from collections.abc import Iterator

import pytest

from weft.studio.browser.browser import Browser

PATIENCE = 90.0
"""Seconds for a page: some for the work, the rest for whatever else the machine does."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all of these tests: it keeps a thread of its own, whichever loop a test has."""
    browser = Browser(seconds=PATIENCE)
    yield browser
    browser.close()
