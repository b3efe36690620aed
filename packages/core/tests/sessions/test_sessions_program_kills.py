"""Kill -9 while a program runs: its calls are closed and never run on their own, and the model sees what was done."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from program_scenario import SESSION

from crash_process import CrashProcess
from heald.core.envelope import Event
from heald.core.events import (
    ApprovalResolved,
    ExchangeResponse,
    SessionResumed,
    ToolExecuting,
)
from heald.core.messages import ToolCall, ToolResult
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald.tools.shell.sandbox import PATH, Sandbox
from heald_check import check_log

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="writers are forked"),
    pytest.mark.skipif(
        Sandbox().available() is not None or shutil.which("python3", path=PATH) is None,
        reason="programs cannot be run here",
    ),
]


class Host(CrashProcess):
    def __init__(self) -> None:
        super().__init__(Path(__file__).parent / "program_scenario.py")

    def run(self, folder: Path, scenario: str, fault: str = "") -> bool:
        """Whether the writer was killed."""
        (folder / "work").mkdir(parents=True, exist_ok=True)
        return self.is_killed(folder=str(folder), scenario=scenario, fault=fault)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


async def prove(folder: Path, status: str = "completed") -> list[Event]:
    """Everything that must hold after the last writer has ended in peace. Returns the log."""
    store = SqliteStore(folder / "sessions.db")
    log = [event async for event in iterate_events(store, SESSION)]
    await store.close()
    assert check_log(log, host_paths=[str(folder)]) == []
    (response,) = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
    assert response.status == status
    effects = folder / "effects"
    done = Counter(effects.read_text().split() if effects.exists() else [])
    assert max(done.values(), default=0) <= 1, "something was done twice"
    return log


def after_resume(log: list[Event]) -> list[Event]:
    (resumed,) = [event.seq for event in log if isinstance(event.data, SessionResumed)]
    return [event for event in log if event.seq > resumed]


def results(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.data.name, event.data.status) for event in events if isinstance(event.data, ToolResult)]


async def test_without_a_fault_all_is_well(host: Host, tmp_path: Path) -> None:
    assert not host.run(tmp_path, "plain")
    log = await prove(tmp_path)
    assert results(log) == [
        ("look", "ok"),
        ("mark", "ok"),
        ("mark", "ok"),
        ("inquire", "ok"),
        ("run_program", "ok"),
    ]


@pytest.mark.parametrize(
    ("fault", "closed", "made"),
    [
        ("tool.before:1", [], ""),
        ("tool.before:2", [("look", "interrupted")], "look: interrupted"),
        ("tool.after:1", [("look", "interrupted")], "look: interrupted"),
        ("tool.before:3", [("mark", "interrupted")], "look: ok, mark: interrupted"),
        ("tool.after:2", [("mark", "interrupted")], "look: ok, mark: interrupted"),
        ("tool.after:3", [("mark", "interrupted")], "look: ok, mark: ok, mark: interrupted"),
        ("tool.after:5", [], "look: ok, mark: ok, mark: ok, inquire: ok"),
    ],
)
@pytest.mark.parametrize("scenario", ["plain", "closed"])
async def test_killed_while_a_call_of_the_program_runs(
    host: Host, tmp_path: Path, fault: str, closed: list[tuple[str, str]], made: str, scenario: str
) -> None:
    assert host.run(tmp_path, scenario, fault)
    assert not host.run(tmp_path, scenario)
    log = await prove(tmp_path, "failed" if scenario == "closed" else "completed")
    later = after_resume(log)
    assert results(later) == [*closed, ("run_program", "interrupted")]
    assert not [event for event in later if isinstance(event.data, ToolExecuting)], "a call ran on its own"
    text = next(
        event.data.text for event in later if isinstance(event.data, ToolResult) and event.data.name == "run_program"
    )
    assert (f"Its program had made these calls: {made}." in text) == bool(made)
    requests = (tmp_path / "requests").read_text().split()
    assert requests == (["0"] if scenario == "closed" else ["0", "1"]), "the model sees the outcome once"


async def test_killed_while_a_call_of_the_program_waits_for_an_approval(host: Host, tmp_path: Path) -> None:
    assert host.run(tmp_path, "ApprovalRequested")
    assert not host.run(tmp_path, "ApprovalRequested")
    later = after_resume(await prove(tmp_path))
    assert results(later) == [("mark", "cancelled"), ("run_program", "interrupted")]
    (resolved,) = [event.data for event in later if isinstance(event.data, ApprovalResolved)]
    assert resolved.decision == "denied"
    assert not (tmp_path / "effects").exists()


async def test_killed_while_a_call_of_the_program_waits_for_an_answer(host: Host, tmp_path: Path) -> None:
    assert host.run(tmp_path, "QuestionAsked")
    assert not host.run(tmp_path, "QuestionAsked")
    log = await prove(tmp_path)
    assert results(after_resume(log)) == [("inquire", "interrupted"), ("run_program", "interrupted")]


@pytest.mark.parametrize("fault", ["append.before:9", "append.between:30", "append.commit:10", "append.after:12"])
async def test_killed_while_the_log_is_written(host: Host, tmp_path: Path, fault: str) -> None:
    host.run(tmp_path, "plain", fault)
    assert not host.run(tmp_path, "plain")
    log = await prove(tmp_path)
    parents = {event.data.parent for event in log if isinstance(event.data, ToolCall)}
    assert len(parents) <= 2


async def test_killed_again_while_it_is_closed(host: Host, tmp_path: Path) -> None:
    assert host.run(tmp_path, "plain", "tool.after:2")
    assert host.run(tmp_path, "plain", "recovery.before")
    assert not host.run(tmp_path, "plain")
    await prove(tmp_path)
