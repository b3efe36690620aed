from collections.abc import Iterator

import pytest

from weft.studio.browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all of these tests: it keeps a thread of its own, whichever loop a test has."""
    browser = Browser()
    yield browser
    browser.close()
