from collections.abc import Iterator

import pytest

from weft.studio.browser.browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser(seconds=60)
    yield browser
    browser.close()
