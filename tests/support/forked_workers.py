"""Runs the tests in several processes: `pytest --processes 6`.

The tests are collected once; the processes are forked after that. Each gets a file at a time, where possible one of the
folder that it is in, because files of a folder share modules, browsers and servers. Files that took long in an earlier
run come first, so that the processes end together. A process that dies fails the test that it was in, and is replaced.
"""

import atexit
import os
import signal
import sys
import traceback
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from math import ceil
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import Any, cast

import pytest
from _pytest.capture import FDCapture

KEPT = "heald/seconds"
"""Where pytest's cache keeps how long each file took."""
USUAL = 0.05
"""Seconds of a test that is not known."""
PATIENCE = 20.0
"""Seconds that a process has for its fixtures when the run is broken off."""

LONGEST = 60.0
"""Seconds after which a file is cut: several processes may run parts of it."""
LONG = (
    "test_cli_run_resume.py",
    "test_stacks_browser.py",
    "test_server_studio_crash.py",
    "test_mcp_features.py",
    "test_server_nodes_disk.py",
    "test_recorded_detections.py",
    "test_types.py",
    "test_security_git.py",
    "test_export_offline.py",
    "test_server_crash_kills.py",
    "test_web_checks.py",
    "test_install_lines.py",
    "test_sessions_continue_kills.py",
    "test_server_guard_walk.py",
    "test_mcp_hostile.py",
    "test_cli_own_tools.py",
    "test_web_studio_use.py",
    "test_cli_hidden_commands.py",
    "test_web_page_everywhere.py",
    "test_server_store_failures.py",
    "test_tutorial_typed.py",
    "test_log_random.py",
    "test_sessions_crash.py",
    "test_client_openai_responses.py",
    "test_evaluate_run.py",
    "test_web_page_studio.py",
    "test_a2a.py",
    "test_server_nginx.py",
    "test_server_nodes.py",
    "test_server_resume_breaks.py",
    "test_security_paths.py",
)
"""Files that take about a minute. They come first also where no run is known."""
USUAL_IN = {
    "packages/heald/tests/web": 4.0,
    "packages/nodes/tests/server": 4.0,
    "packages/studio/tests/locks": 4.0,
    "packages/studio/tests/server": 2.0,
    "packages/heald/tests/clients": 1.7,
    "packages/server/tests/clients": 1.3,
    "packages/studio/tests/browser": 1.3,
    "packages/heald/tests/server": 1.2,
    "packages/heald/tests/studio": 1.2,
    "packages/server/tests": 1.2,
    "packages/cli/tests/clients": 1.1,
    "packages/heald/tests/vision": 0.9,
    "packages/heald/tests/cli": 0.8,
    "packages/studio/tests/stacks": 0.7,
    "packages/cli/tests": 0.6,
    "packages/nodes/tests/sessions": 0.6,
    "packages/cli/tests/agent": 0.4,
    "tests": 0.4,
    "packages/core/tests/sessions": 0.3,
    "packages/local/tests": 0.3,
    "packages/core/tests/tools": 0.2,
}
"""Seconds of a test that is not known, in folders whose tests use browsers, servers and clients. Without them the page,
a sixth of the whole, would be left for the end of a first run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=0, help="run the tests in this many forked processes")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("processes"):
        config.pluginmanager.register(ForkedRun(config))


@dataclass(frozen=True)
class FilePart:
    """Tests of one file, by their places in the list of all."""

    folder: str
    tests: list[int]
    seconds: float


class Schedule:
    """The files that no process has yet, the longest of a folder first."""

    def __init__(self, items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> None:
        files: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            files[file_of(item)].append(place)
        self._folders: dict[str, list[FilePart]] = defaultdict(list)
        for file, tests in files.items():
            folder = "/".join(file.split("/")[:-1][:4])
            self._folders[folder] += cut_file(folder, tests, seconds.get(file) or estimate(file, len(tests)))
        for parts in self._folders.values():
            parts.sort(key=lambda part: -part.seconds)

    def __bool__(self) -> bool:
        return bool(self._folders)

    def next_part(self, folder: str, busy: Sequence[str]) -> FilePart | None:
        """Remove the first of this folder, else of the folder with most work for each process that is busy in it."""
        if not self._folders:
            return None
        if folder not in self._folders:
            folder = max(self._folders, key=lambda candidate: self._remaining(candidate) / (1 + busy.count(candidate)))
        parts = self._folders[folder]
        part = parts.pop(0)
        if not parts:
            del self._folders[folder]
        return part

    def _remaining(self, folder: str) -> float:
        return sum(part.seconds for part in self._folders[folder])


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def estimate(file: str, count: int) -> float:
    seconds = USUAL_IN.get("/".join(file.split("/")[:-1][:4]), USUAL)
    return max(LONGEST if file.endswith(LONG) else 0.0, seconds * count)


def cut_file(folder: str, tests: list[int], seconds: float) -> list[FilePart]:
    """The tests in parts that are not too long, as if all of them took equally long."""
    count = min(len(tests), ceil(seconds / LONGEST))
    size = ceil(len(tests) / count)
    cut = [tests[start : start + size] for start in range(0, len(tests), size)]
    return [FilePart(folder, part, seconds * len(part) / len(tests)) for part in cut]


class Worker:
    """A forked process, as the one that forked it sees it."""

    def __init__(self, number: int, pid: int, connection: Connection) -> None:
        self.number = number
        self.pid = pid
        self.connection = connection
        self.folder = ""
        self.tests: list[int] = []
        """The tests that it was given and has not reported."""
        self.files: list[str] = []
        """The files whose tests it ran."""

    def send_part(self, part: FilePart | None) -> None:
        """Send tests to run; None: there are no more."""
        self.tests += part.tests if part else []
        self.folder = part.folder if part else ""
        with suppress(BrokenPipeError):  # its end is noticed where its messages are read
            self.connection.send(part.tests if part else [])

    def wait(self) -> int:
        """Wait for its end. Returns the signal that ended it, or its exit status."""
        status = os.waitpid(self.pid, 0)[1]
        return os.WTERMSIG(status) or os.WEXITSTATUS(status)


class ForkedRun:
    """The run as a whole, in the process that forks."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._count = cast("int", config.getoption("processes"))
        self._workers: list[Worker] = []
        self._started = 0
        self._seconds: dict[str, float] = defaultdict(float)
        self._broken: list[str] = []
        self._cache: pytest.Cache | None = getattr(config, "cache", None)
        chosen = config.getoption("keyword") or config.getoption("lf", False)
        self._in_parts = bool(chosen) or any("::" in argument for argument in config.args)
        """Whether only some tests of a file may run."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.getoption("collectonly"):
            return None
        earlier = self._read_seconds()
        schedule = Schedule(session.items, earlier)
        cast("Any", self._config)._tmp_path_factory.getbasetemp()  # the processes have folders in it
        try:
            for _ in range(self._count):
                if schedule:
                    self._start(session, schedule.next_part("", [worker.folder for worker in self._workers]))
            while self._workers:
                self._read_messages(session, schedule)
        finally:
            self._end_all()
        session.testsfailed += len(self._broken)
        if self._cache is not None:
            self._cache.set(KEPT, earlier | {file: self._new_estimate(earlier, file) for file in self._seconds})
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._broken:
            terminalreporter.section("processes that failed outside of a test")
            terminalreporter.write_line("\n".join(self._broken))

    def _new_estimate(self, earlier: Mapping[str, float], file: str) -> float:
        """A run of a part of a file changes the estimate by a little only."""
        least = 0.7 * earlier.get(file, 0) if self._in_parts else 0.0
        return round(max(self._seconds[file], least), 2)

    def _read_seconds(self) -> dict[str, float]:
        if self._cache is None:
            return {}
        return cast("dict[str, float]", self._cache.get(KEPT, {}))  # pyright: ignore[reportUnknownMemberType]

    def _start(self, session: pytest.Session, part: FilePart | None) -> None:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._started += 1
        with warnings.catch_warnings():
            # Newer Pythons warn of threads. Those are numpy's, which starts them anew after a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            ours.close()
            for other in self._workers:
                other.connection.close()
            run_worker(session, theirs, self._started)
        theirs.close()
        worker = Worker(self._started, pid, ours)
        self._workers.append(worker)
        worker.send_part(part)

    def _read_messages(self, session: pytest.Session, schedule: Schedule) -> None:
        ready = wait([worker.connection for worker in self._workers])
        for worker in [other for other in self._workers if other.connection in ready]:
            try:
                kind, content = worker.connection.recv()
            except (EOFError, ConnectionResetError):
                self._on_end(session, worker)
                continue
            match kind:
                case "wanted":
                    others = [other.folder for other in self._workers if other is not worker]
                    worker.send_part(schedule.next_part(worker.folder, others))
                case "reports":
                    self._on_reports(session, worker, content)
                case "warning":
                    self._on_warning(*content)
                case _:
                    self._broken.append(f"{content}\nThe process had run: {', '.join(dict.fromkeys(worker.files))}")

    def _on_reports(self, session: pytest.Session, worker: Worker, reports: Sequence[dict[str, Any]]) -> None:
        item = session.items[worker.tests.pop(0)]
        worker.files.append(file_of(item))
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            self._seconds[file_of(item)] += report.duration
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    def _on_warning(self, text: str, category: type[Warning], where: tuple[Any, ...], when: Any, nodeid: str) -> None:
        filename, number, location = where
        message = warnings.WarningMessage(text, category, filename, number)
        hook = self._config.hook
        hook.pytest_warning_recorded.call_historic(
            kwargs={"warning_message": message, "when": when, "nodeid": nodeid, "location": location}
        )

    def _on_end(self, session: pytest.Session, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.connection.close()
        ended = worker.wait()
        if worker.tests:
            item = session.items[worker.tests[0]]
            text = f"The process of this test ended with {ended}."
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._on_reports(session, worker, [data])
        elif ended:
            self._broken.append(f"A process ended with {ended} after its last test.")
        if worker.tests:
            self._start(session, FilePart(worker.folder, worker.tests, 0))

    def _end_all(self) -> None:
        """End the processes of a run that was broken off."""
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGINT)
        end = monotonic() + PATIENCE
        for worker in self._workers:
            while os.waitpid(worker.pid, os.WNOHANG) == (0, 0):
                if monotonic() > end:
                    os.kill(worker.pid, signal.SIGKILL)
                sleep(0.05)
            worker.connection.close()


def run_worker(session: pytest.Session, connection: Connection, number: int) -> None:
    """Be a process that runs tests, until there are none. Does not return."""
    status = 0
    try:
        become_worker(session.config, number)
        sender = ReportSender(session.config, connection)
        session.config.pluginmanager.register(sender)
        try:
            run_files(session, connection, sender)
        except KeyboardInterrupt:
            status = 2
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal and the run that ends send one each
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=status)
        cast("Any", session.config)._ensure_unconfigure()
    except BaseException:
        status = 3
        with suppress(OSError):
            connection.send(("broken", traceback.format_exc()))
    finally:
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
        os._exit(status)


def become_worker(config: pytest.Config, number: int) -> None:
    """Get what a process must not share with others: captured output and the temporary folder."""
    manager = config.pluginmanager
    cast("Any", config).workerinput = {"workerid": f"gw{number}"}  # by it plugins know that this is a worker
    reporter = manager.getplugin("terminalreporter")
    if reporter is not None:
        manager.unregister(reporter)
    capture = cast("Any", manager.getplugin("capturemanager"))
    capturing = capture and capture._global_capturing
    for stream in (capturing.out, capturing.err) if capturing else ():
        if isinstance(stream, FDCapture):  # the same objects on files of its own: some modules hold sys.stderr
            with TemporaryFile() as file:
                os.dup2(file.fileno(), stream.tmpfile.fileno(), inheritable=False)
    factory = cast("Any", config)._tmp_path_factory
    factory._basetemp = factory.getbasetemp() / f"process-{number}"
    factory._basetemp.mkdir(mode=0o700)
    factory._exit_stack = ExitStack()


class ReportSender:
    """Collects the reports of a test, in a forked process."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._reports.append(data)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        where = (warning_message.filename, warning_message.lineno, location)
        content = (str(warning_message.message), warning_message.category, where, when, nodeid)
        self._connection.send(("warning", content))

    def send(self) -> None:
        """Send the reports of the test that has ended."""
        self._connection.send(("reports", self._reports))
        self._reports = []


def run_files(session: pytest.Session, connection: Connection, sender: ReportSender) -> None:
    """Run the tests of the files that come over the connection.

    The next file is asked for before the last test of one: what both need is not torn down between them."""
    tests: list[int] = connection.recv()
    while tests:
        following: list[int] = []
        for place, number in enumerate(tests, 1):
            if place < len(tests):
                after = tests[place]
            else:
                connection.send(("wanted", None))
                following = connection.recv()
                after = following[0] if following else None
            item, next_item = session.items[number], None if after is None else session.items[after]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            sender.send()
            if session.shouldfail or session.shouldstop:
                return
        tests = following
