"""A Chromium of their own for the tests of the browser: the program that people have, never the headless shell."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from heald_studio.browser.browser import Browser

PATIENCE = 90.0
"""Seconds for a page: some for the work, the rest for whatever else the machine does."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browser = Browser(seconds=PATIENCE)
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def whole_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    if Path(os.environ.get("HEALD_CHROMIUM", "")).name == "chromium-headless-shell":
        monkeypatch.delenv("HEALD_CHROMIUM")
