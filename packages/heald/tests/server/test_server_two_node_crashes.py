"""Every fault point in every kind of work, on two nodes of one PostgreSQL: a node is killed there, and another one
finishes what it was asked.

Points of a takeover are reached by a second node, which dies too. The cases run together, each in a session of its own.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from node_crash_scenario import session_of

from crash_points import POINTS
from crash_process import CrashProcess
from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse, FileChanged, SessionResumed
from heald.core.messages import ToolResult
from heald.sessions.store import iterate_events
from heald_check import check_log
from heald_nodes.postgres.store import PostgresStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nodes are forked")

SCENARIOS = ("text", "read", "command", "approval", "queue", "studio")
FIRST = {
    "append.before": 2,
    "append.between": 1,
    "append.commit": 1,
    "append.after": 2,
    "release.after": 2,
    "tool.before": 1,
    "tool.after": 1,
}
"""At which passage the first node dies. An answer without calls may be two appends on a busy machine: its request, and
the rest. There it dies after the first."""
SECOND = ("lease.taken", "recovery.before", "recovery.after")
"""Where the second node dies, after the first one died in the middle of the work."""
WITHOUT_CALLS = ("text", "queue")


def faults() -> Iterator[tuple[str, str, str]]:
    """Yield the cases: their name, and where the first and the second node die."""
    for scenario in SCENARIOS:
        for point, number in FIRST.items():
            if not (point.startswith("tool.") and scenario in WITHOUT_CALLS):
                at = 1 if point.endswith(".after") and scenario in WITHOUT_CALLS else number
                yield f"{scenario}_{point}", f"{point}:{at}", ""
        for point in SECOND:
            yield f"{scenario}_{point}", f"append.after:{1 if scenario in WITHOUT_CALLS else 2}", point
    yield "studio_first.lease.taken", "lease.taken", ""  # its request is known from the project alone


CASES = list(faults())


def test_every_point_is_killed_at() -> None:
    assert {*FIRST, *SECOND} == set(POINTS)


class CrashHost(CrashProcess):
    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(Path(__file__).parent / "node_crash_scenario.py")
        self._order: dict[str, Any] = {"url": url, "folder": str(folder), "cases": [case for case, _, _ in CASES]}

    def run(self, role: str, faults: Sequence[tuple[str, str]]) -> dict[str, int]:
        """Run a node for each fault. Returns the signals that ended them, or their exit statuses, by case."""
        orders = [{**self._order, "role": role, "case": case, "fault": fault} for case, fault in faults]
        statuses: list[int] = self.ask({"orders": orders})["statuses"]
        return {
            case: os.WTERMSIG(status) or os.WEXITSTATUS(status)
            for (case, _), status in zip(faults, statuses, strict=True)
        }


def _run_nodes(url: str, folder: Path) -> None:
    """Let the first and the second nodes die, and the last one finish their work."""
    host = CrashHost(url, folder)
    try:
        killed = host.run("first", [(case, first) for case, first, _ in CASES])
        assert {case for case, ended in killed.items() if ended != signal.SIGKILL} == set()
        killed = host.run("second", [(case, second) for case, _, second in CASES if second])
        assert {case for case, ended in killed.items() if ended != signal.SIGKILL} == set()
        assert host.run("last", [("", "")]) == {"": 0}
    finally:
        host.close()


def lines_of(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


async def test_another_node_finishes_everything(postgres_url: str, tmp_path: Path) -> None:
    for case, _, _ in CASES:
        (tmp_path / case).mkdir()
    store = PostgresStore(postgres_url)
    await store.list_nodes()  # creates the tables
    await asyncio.to_thread(_run_nodes, postgres_url, tmp_path)
    wrong: dict[str, str] = {}
    for case, _, second in CASES:
        try:
            await _check_case(store, tmp_path / case, 2 if second else 1)
        except AssertionError as error:
            wrong[case] = str(error)
    await store.close()
    assert wrong == {}


async def _check_case(store: PostgresStore, folder: Path, kills: int) -> None:
    case = folder.name
    session, status, error = session_of(case), "completed", ""
    if case.startswith("studio"):
        session, status, error = json.loads((folder / "outcome").read_text())
    log = [event async for event in iterate_events(store, session)]
    assert check_log(log) == []
    assert status == "completed", error
    asked = [event.data.client_request_id for event in log if isinstance(event.data, ExchangeRequest)]
    assert len(asked) == len(set(asked)) == (2 if case.startswith("queue") else 1), "a person had to ask twice"
    responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
    assert [response.status for response in responses] == ["completed"] * len(asked)
    assert (await store.info(session)).work == "idle"
    _check_resumed(log, case)
    starts = sum(event.type == "message_start" for event in log)
    requests = len(lines_of(folder / "requests"))
    assert starts <= requests <= starts + kills, "the model was asked more often than needed"
    _check_effects(log, Counter(lines_of(folder / "effects")), kills)


def _check_resumed(log: Sequence[Event], case: str) -> None:
    resumed = [event.data for event in log if isinstance(event.data, SessionResumed)]
    expected = 0 if case == "studio_first.lease.taken" else 2 if case.endswith("recovery.after") else 1
    assert len(resumed) == expected
    assert all(payload.crashed for payload in resumed)


def _check_effects(log: Sequence[Event], done: "Counter[str]", kills: int) -> None:
    assert max(done.values(), default=0) <= 1, "something was done twice"
    results = [event.data for event in log if isinstance(event.data, ToolResult)]
    written = {event.data.cause for event in log if isinstance(event.data, FileChanged)}
    assert sum(result.status == "interrupted" for result in results) <= 2 * kills
    for result in results:
        if result.name == "mark":
            assert result.status in ("ok", "interrupted")
            assert result.status == "interrupted" or done[result.id] == 1
        elif result.name in ("read_file", "list_files") or result.id in written:
            assert result.status == "ok", "a call that may be repeated was not"
