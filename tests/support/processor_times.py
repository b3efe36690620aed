"""Which tests need the processor: `pytest --processor-times`.

A test is charged with what its process and all processes below it have used since the test before it. A server or a
browser that tests share is charged to whoever uses it, its start to the first one. A process that was detached, as the
shared PostgreSQL is, is not seen.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

NAME = "processor-seconds"
SHOWN = 40
TRIES = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--processor-times", action="store_true", help="print the files and tests that need most of the processor"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("processor_times"):
        config.pluginmanager.register(ProcessorTimes())


def tree_seconds(pid: int) -> float:
    """The seconds that a process and those below it have used, with those that have ended and were waited for.

    The seconds of a child move to its parent when it is waited for. A sum in which that happened is made anew."""
    used, waited_for = read_seconds(pid)
    below = 0.0
    for _ in range(TRIES):
        before = waited_for
        below = sum(tree_seconds(child) for child in list_children(pid))
        used, waited_for = read_seconds(pid)
        if waited_for == before:
            break
    return used + waited_for + below


def read_seconds(pid: int) -> tuple[float, float]:
    """The seconds of a process, and of those that it has waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0, 0.0
    used, waited_for = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return used / os.sysconf("SC_CLK_TCK"), waited_for / os.sysconf("SC_CLK_TCK")


def list_children(pid: int) -> set[int]:
    """The children of all its threads. Those of a thread that ends become those of another one."""
    pids: set[int] = set()
    for _ in range(TRIES):
        ended = False
        for thread in list_folder(f"/proc/{pid}/task"):
            try:
                pids |= {int(child) for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split()}
            except OSError:
                ended = True
        if not ended:
            break
    return pids


def list_folder(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


class ProcessorTimes:
    """Measures in the process of a test; adds up where the reports arrive."""

    def __init__(self) -> None:
        self._pid = 0
        self._seen = 0.0
        self._seconds: dict[str, float] = {}
        """By test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._pid != os.getpid():  # the first test of a process
            self._pid = os.getpid()
            self._seen = tree_seconds(self._pid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        if call.when == "teardown":
            before, self._seen = self._seen, tree_seconds(self._pid)
            # A process that was killed with its parent takes its seconds along.
            item.user_properties.append((NAME, max(0.0, self._seen - before)))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            seconds = [value for name, value in report.user_properties if name == NAME]
            self._seconds[report.nodeid] = cast("float", seconds[0])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files: dict[str, float] = defaultdict(float)
        for nodeid, seconds in self._seconds.items():
            files[nodeid.partition("::")[0]] += seconds
        for title, totals in (("files", files), ("tests", self._seconds)):
            terminalreporter.section(f"processor seconds of {title}")
            for name, seconds in sorted(totals.items(), key=lambda pair: -pair[1])[:SHOWN]:
                terminalreporter.write_line(f"{seconds:8.2f}  {name}")
        terminalreporter.write_line(f"{sum(files.values()):8.2f}  all {len(self._seconds)} tests")
