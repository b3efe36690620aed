"""What holds for all tests: how long properties are tried, and the score of the recorded streams at the end of a run.

Tests may run in several processes: a score travels with the report of its test.
"""

import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import settings

from postgres_schema import own_schema
from postgres_server import ADDRESS, running_postgres
from weft.sessions.shared import NODE_SECONDS

settings.register_profile("weft", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=10)
settings.load_profile("weft")

RECORDED = "recorded"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL that all tests of a process share."""
    if address := os.environ.get(ADDRESS):
        yield address
        return
    with running_postgres() as server:
        time.sleep(2 * NODE_SECONDS)  # right after its start nobody is judged dead
        yield server.url


@pytest.fixture
async def postgres_url(postgres_server: str) -> AsyncIterator[str]:
    """The address of an empty schema."""
    async with own_schema(postgres_server) as url:
        yield url


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
        each = ", ".join(f"{provider} {good}/{total}" for provider, good, total in sorted(rows))
        terminalreporter.write_line(f"{wire}: {right}/{count} = {right / count:.1%} ({each})")
