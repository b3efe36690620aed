"""Settings of all tests: examples of properties, fixtures that the tests of a process share, and the score of the
recorded streams at the end of a run.

Fixtures import what they need when they are used, so that the tests of one package run where only it is installed, also
on Windows. Tests may run in several processes: a score is sent with the report of its test.
"""

import asyncio
import gc
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytest_plugins = ["forked_workers", "processor_times", "wheelhouse"]

settings.register_profile("heald", deadline=None, max_examples=20)
settings.register_profile("long", deadline=None, max_examples=500)
settings.register_profile("fast", deadline=None, max_examples=10)
settings.load_profile("heald")

RECORDED = "recorded"

PAGE_PATIENCE = 120_000
"""Milliseconds that anything in a page may take on a busy machine."""


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that all tests of a run share."""
    from postgres_server import ADDRESS, shared_postgres

    if address := os.environ.get(ADDRESS):
        yield address
        return
    folder = tmp_path_factory.getbasetemp()
    with shared_postgres(folder.parent if hasattr(pytestconfig, "workerinput") else folder) as url:
        yield url


@pytest.fixture
async def postgres_url(postgres_server: str) -> AsyncIterator[str]:
    """The address of an empty schema."""
    from postgres_schema import own_schema

    async with own_schema(postgres_server) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chrome() -> "AsyncIterator[Browser]":
    """One Chromium for all tests of a process. A test opens a context of its own in it, and closes it.

    The time that `expect` waits holds for the whole process, so it is set here and by no test."""
    from playwright.async_api import async_playwright, expect

    from heald_studio.browser.find_chromium import find_chromium
    from heald_studio.browser.page import BrowserError

    try:
        chromium = str(find_chromium())
    except BrowserError:
        pytest.skip("Chromium is not installed here")
    async with async_playwright() as playwright:
        expect.set_options(timeout=PAGE_PATIENCE)
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        await asyncio.wait_for(browser.close(), 20)


@pytest.fixture
def one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge a page at one width instead of eight, which are most of the time, where the others do not matter."""
    from heald_studio.evaluate import quality

    monkeypatch.setattr(quality, "WIDTHS", (360,))


def pytest_configure() -> None:
    """Collect no garbage while tests are collected: all that is made then stays until the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from here on, a tenth as often as usual: that is a twentieth of the processor time."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that use the shared Chromium in its event loop."""
    for item in items:
        if isinstance(item, pytest.Function) and "chrome" in item.fixturenames:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


_right: Counter[tuple[str, str]] = Counter()
_all: Counter[tuple[str, str]] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call":
        return
    for name, value in report.user_properties:
        if name == RECORDED and isinstance(value, str):
            wire, provider, right = value.split()
            _all[wire, provider] += 1
            _right[wire, provider] += right == "right"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _all:
        return
    terminalreporter.section("recorded traffic, right / all")
    for wire in sorted({wire for wire, _ in _all}):
        rows = [(provider, _right[wire, provider], count) for (w, provider), count in _all.items() if w == wire]
        right, count = sum(row[1] for row in rows), sum(row[2] for row in rows)
        providers = ", ".join(f"{provider} {good}/{total}" for provider, good, total in sorted(rows))
        terminalreporter.write_line(f"{wire}: {right}/{count} = {right / count:.1%} ({providers})")
