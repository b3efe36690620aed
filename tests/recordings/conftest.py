"""The score of the recorded streams by wire and provider, printed at the end of a run."""

from collections import Counter
from collections.abc import Callable

import pytest

_right: Counter[tuple[str, str]] = Counter()
_all: Counter[tuple[str, str]] = Counter()


@pytest.fixture
def score() -> Callable[[str, str, bool], None]:
    def count(wire: str, provider: str, right: bool) -> None:
        _all[wire, provider] += 1
        _right[wire, provider] += right

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _all:
        return
    terminalreporter.section("recorded traffic, right / all")
    for wire in sorted({wire for wire, _ in _all}):
        rows = [(provider, _right[wire, provider], count) for (w, provider), count in _all.items() if w == wire]
        right, count = sum(row[1] for row in rows), sum(row[2] for row in rows)
        each = ", ".join(f"{provider} {good}/{total}" for provider, good, total in sorted(rows))
        terminalreporter.write_line(f"{wire}: {right}/{count} = {right / count:.1%} ({each})")
