"""Kill -9 at every fault point in every kind of exchange: the next process finishes it, and nothing is done twice.

`HEALD_CRASHES=all` kills at every passage of every point and at 200 random pairs, else at a choice of them.
"""

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from continue_scenario import SCENARIOS, SESSION

from crash_points import POINTS
from crash_process import CrashProcess
from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse, FileChanged, SessionResumed, UserMessage
from heald.core.messages import ToolResult
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="writers are forked")

ALL = os.environ.get("HEALD_CRASHES") == "all"
PAIRS = 200 if ALL else 8
ONLY_AFTER_A_CRASH = ("recovery.before", "recovery.after")


class Host(CrashProcess):
    def __init__(self) -> None:
        super().__init__(Path(__file__).parent / "continue_scenario.py")

    def run(self, folder: Path, scenario: str, fault: str = "") -> bool:
        """Whether the writer was killed."""
        (folder / "work").mkdir(parents=True, exist_ok=True)
        (folder / "work" / "here.txt").write_text("It is here.\n")
        return self.is_killed(folder=str(folder), scenario=scenario, fault=fault)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


def count_passages(host: Host, folder: Path, scenario: str) -> dict[str, int]:
    """How often a process comes to each point."""
    assert not host.run(folder, scenario, "count")
    return json.loads((folder / "passages").read_text())


@pytest.fixture(scope="module")
def passages(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """How often a process comes to each point, by scenario."""
    folder = tmp_path_factory.mktemp("counted")
    return {scenario: count_passages(host, folder / scenario, scenario) for scenario in SCENARIOS}


def choice(scenario: str, point: str, count: int) -> list[int]:
    """The passages at which a process is killed. Points and scenarios that stand side by side have different ones."""
    if ALL or count <= 2:
        return list(range(1, count + 1))
    places = [1, count // 3, 2 * count // 3, count - 1]
    return places[(SCENARIOS.index(scenario) + POINTS.index(point)) % 2 :: 2]


async def read_log(folder: Path) -> list[Event]:
    store = SqliteStore(folder / "sessions.db")
    events = [event async for event in iterate_events(store, SESSION)]
    await store.close()
    return events


def lines_of(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


async def prove(folder: Path, scenario: str, kills: int) -> list[Event]:
    """Everything that must hold after the last writer has ended in peace."""
    log = await read_log(folder)
    assert check_log(log, host_paths=[str(folder)]) == []
    asked = [event.data.client_request_id for event in log if isinstance(event.data, ExchangeRequest)]
    assert asked == (["one", "two"] if scenario == "queue" else ["one"]), "a person had to ask twice"
    responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
    assert [response.status for response in responses] == ["completed"] * len(asked)
    done = Counter(lines_of(folder / "effects"))
    assert max(done.values(), default=0) <= 1, "something was done twice"
    results = [event.data for event in log if isinstance(event.data, ToolResult)]
    for result in results:
        if result.name == "mark":
            assert result.status in ("ok", "interrupted")
            assert result.status == "interrupted" or done[result.id] == 1
        elif result.name != "write_file":
            assert result.status == "ok", "an idempotent call was not repeated"
    interrupted = [result for result in results if result.status == "interrupted"]
    assert len(interrupted) <= 2 * kills
    written = {event.data.cause for event in log if isinstance(event.data, FileChanged)}
    assert all(result.status == "ok" for result in results if result.id in written)
    starts = sum(event.type == "message_start" for event in log)
    lost = 2 if scenario == "queue" else 1  # both answers may come before the first is stored, on a busy machine
    requests = len(lines_of(folder / "requests"))
    assert starts <= requests <= starts + lost * kills, "the model was asked more often than needed"
    texts = [event.data.message.text for event in log if isinstance(event.data, UserMessage)]
    if lines_of(folder / "steered"):
        assert texts.count("In short.") == 1, "an accepted message was lost"
    return log


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_without_a_fault_all_is_well(host: Host, tmp_path: Path, scenario: str) -> None:
    counts = count_passages(host, tmp_path, scenario)
    log = await prove(tmp_path, scenario, 0)
    assert not [event for event in log if isinstance(event.data, SessionResumed)]
    tools = {"tool.before", "tool.after"} if scenario not in ("text", "queue") else set[str]()
    assert set(counts) == set(POINTS) - set(ONLY_AFTER_A_CRASH) - ({"tool.before", "tool.after"} - tools)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("point", [point for point in POINTS if point not in ONLY_AFTER_A_CRASH])
async def test_killed_once(
    host: Host, passages: dict[str, dict[str, int]], tmp_path: Path, scenario: str, point: str
) -> None:
    for number in choice(scenario, point, passages[scenario].get(point, 0)):
        folder = tmp_path / str(number)
        killed = host.run(folder, scenario, f"{point}:{number}")
        if not killed:
            continue  # this run needed fewer appends than the one that was counted
        assert not host.run(folder, scenario)
        await prove(folder, scenario, 1)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("point", [*ONLY_AFTER_A_CRASH, "lease.taken"])
async def test_killed_while_it_is_continued(host: Host, tmp_path: Path, scenario: str, point: str) -> None:
    folder = kill_in_the_middle(host, tmp_path, scenario)
    killed = host.run(folder, scenario, point)
    assert killed or point != "lease.taken"
    assert not host.run(folder, scenario)
    await prove(folder, scenario, 2)


def kill_in_the_middle(host: Host, folder: Path, scenario: str) -> Path:
    """The folder of an exchange that was killed at its fourth append, or earlier where a busy machine needs fewer."""
    places = ((folder / str(number), number) for number in (4, 3, 2, 1))
    return next(place for place, number in places if host.run(place, scenario, f"append.after:{number}"))


@pytest.mark.parametrize("seed", range(PAIRS))
async def test_killed_twice(host: Host, passages: dict[str, dict[str, int]], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    scenario = SCENARIOS[seed % len(SCENARIOS)]
    counts = passages[scenario]
    folder = tmp_path / "killed"
    kills = 0
    for _ in range(2):
        point = chance.choice(sorted(counts))
        kills += host.run(folder, scenario, f"{point}:{chance.randint(1, counts[point])}")
    assert not host.run(folder, scenario)
    await prove(folder, scenario, kills)


async def test_an_exchange_that_kills_its_process_three_times_fails(host: Host, tmp_path: Path) -> None:
    for _ in range(3):
        assert host.run(tmp_path, "read", "tool.after")
    assert not host.run(tmp_path, "read")
    log = await read_log(tmp_path)
    assert check_log(log) == []
    (response,) = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.message.startswith("The process ended three times while the exchange ran")
