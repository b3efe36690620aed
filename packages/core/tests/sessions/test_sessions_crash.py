"""Kill -9 at every fault point: after reopening nothing is broken, nothing was done twice, what was shown is stored.

`HEALD_CRASHES=all` kills at every passage of every point and at 200 random pairs, else at a choice of them.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from crash_scenario import SESSION

import heald
from crash_points import POINTS
from crash_process import HOST, CrashProcess
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, SessionResumed
from heald.core.messages import ToolResult
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.sqlite_log import LogWriter
from heald.sessions.store import iterate_delegates, iterate_events
from heald.sessions.store_errors import NoSuchSession
from heald_check import check_log

ALL = os.environ.get("HEALD_CRASHES") == "all"
SURELY = 4  # a busy machine joins appends, so that a run comes to a third of the points of another one
PAIRS = 200 if ALL else 6
IN_RECOVERY = ("recovery.before", "recovery.after")


class Host(CrashProcess):
    def __init__(self) -> None:
        super().__init__(Path(__file__).parent / "crash_scenario.py")

    def run(self, folder: Path, fault: str = "", what: str = "run") -> bool:
        """Whether the writer was killed."""
        (folder / "work").mkdir(parents=True, exist_ok=True)
        return self.is_killed(folder=str(folder), fault=fault, what=what)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


@pytest.fixture(scope="module")
def passages(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How often one exchange comes to each point."""
    folder = tmp_path_factory.mktemp("counted")
    assert not host.run(folder, "count")
    return json.loads((folder / "passages").read_text())


def choice(count: int, part: int = 2) -> list[int]:
    if ALL or count <= 3:
        return list(range(1, count + 1))
    return sorted({1, count // part})


async def read_log(folder: Path) -> list[Event]:
    store = SqliteStore(folder / "sessions.db")
    events = [event async for event in iterate_events(store, SESSION)]
    await store.close()
    return events


async def read_delegates(folder: Path) -> list[Event]:
    store = SqliteStore(folder / "sessions.db")
    infos = [info async for info in iterate_delegates(store, SESSION)]
    events = [event for info in infos async for event in iterate_events(store, info.id)]
    await store.close()
    return events


def shown_to_clients(folder: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """What each client was shown of each session."""
    for client in folder.glob("client-*"):
        lines = [line.split(" ") for line in client.read_text().splitlines()]
        for session in {session for session, _, _ in lines}:
            yield session, [(int(seq), name) for of, seq, name in lines if of == session]


async def prove(folder: Path) -> list[Event]:
    """Everything that must hold after the last writer has ended in peace."""
    log = await read_log(folder)
    events = [*log, *await read_delegates(folder)]
    assert check_log(events, host_paths=[str(folder)]) == []
    done = Counter((folder / "effects").read_text().split())
    assert max(done.values()) == 1, "something was done twice"
    results = {event.data.id: event.data for event in events if isinstance(event.data, ToolResult)}
    assert set(done) <= set(results)
    for call_id, result in results.items():
        if result.name == "mark" and result.status != "interrupted":
            assert done[call_id] == (result.status == "ok"), result
    stamped = Counter((folder / "stamps").read_text().split() if (folder / "stamps").exists() else [])
    for call_id, result in results.items():
        if result.name == "stamp" and result.status != "cancelled":
            assert (result.status, stamped[call_id] >= 1) == ("ok", True), result
    answered = {event.exchange for event in events if isinstance(event.data, ExchangeResponse)}
    accepted = (folder / "accepted").read_text().split()
    assert set(accepted) <= answered, "something was acknowledged and is gone"
    stored = {(event.session, event.seq): event.id for event in events}
    for session, deliveries in shown_to_clients(folder):
        assert [seq for seq, _ in deliveries] == list(range(deliveries[0][0], deliveries[0][0] + len(deliveries)))
        assert all(stored[session, seq] == name for seq, name in deliveries), "something was shown that is not stored"
    return log


async def test_without_a_fault_all_is_well(host: Host, tmp_path: Path) -> None:
    assert not host.run(tmp_path)
    assert not host.run(tmp_path)
    events = await prove(tmp_path)
    assert [e.data.status for e in events if isinstance(e.data, ExchangeResponse)] == ["completed"] * 4
    assert not [event for event in events if isinstance(event.data, SessionResumed)]
    assert {event.epoch for event in events} == {1, 2}


def test_every_point_is_come_to(passages: dict[str, int]) -> None:
    assert set(POINTS) - set(IN_RECOVERY) == set(passages)


@pytest.mark.parametrize("point", [point for point in POINTS if point not in IN_RECOVERY])
async def test_killed_at_a_point(point: str, host: Host, passages: dict[str, int], tmp_path: Path) -> None:
    for number in choice(passages[point], SURELY):
        folder = tmp_path / str(number)
        killed = host.run(folder, f"{point}:{number}")
        assert killed or number > passages[point] // SURELY, f"{point}:{number}"
        assert not host.run(folder)
        events = await prove(folder)
        assert [e.data.status for e in events if isinstance(e.data, ExchangeResponse)][-1] == "completed"


@pytest.mark.parametrize("point", [*IN_RECOVERY, "append.before", "append.commit", "append.after", "lease.taken"])
async def test_killed_twice_while_recovering(point: str, host: Host, tmp_path: Path) -> None:
    assert host.run(tmp_path, "tool.after:3")
    assert host.run(tmp_path, point)
    assert not host.run(tmp_path)
    events = await prove(tmp_path)
    statuses = [event.data.status for event in events if isinstance(event.data, ToolResult)]
    assert statuses.count("interrupted") >= 1


@pytest.mark.parametrize("seed", range(PAIRS))
async def test_killed_at_random_pairs(seed: int, host: Host, passages: dict[str, int], tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        point = chance.choice(POINTS)
        host.run(tmp_path, f"{point}:{chance.randint(1, passages.get(point, 1))}")
    assert not host.run(tmp_path)
    await prove(tmp_path)


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def original(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with a file of its own, and its archive."""
    folder = tmp_path_factory.mktemp("original")
    for _ in range(3):
        assert not host.run(folder)
    store = SqliteStore(folder / "sessions.db")
    archive = b"".join([line async for line in Sessions(store).export(SESSION)])
    (folder / "archive").write_bytes(archive)
    await store.close()
    return folder


@pytest.mark.parametrize("what", ["fork", "import"])
async def test_a_copy_is_whole_or_not_there(what: str, host: Host, original: Path, tmp_path: Path) -> None:
    shutil.copytree(original, tmp_path / "counted")
    assert not host.run(tmp_path / "counted", "count", what)
    counted = json.loads((tmp_path / "counted" / "passages").read_text())
    faults = [f"{point}:{n}" for point in sorted(counted) for n in choice(counted[point])]
    assert len(faults) >= 8
    for fault in faults:
        folder = tmp_path / fault.replace(":", "-")
        shutil.copytree(original, folder)
        assert host.run(folder, fault, what), fault
        await prove_no_half_copy(folder)


async def prove_no_half_copy(folder: Path) -> None:
    before = [event.data for event in await read_log(folder)]
    with closing(sqlite3.connect(folder / "sessions.db")) as raw:
        drafts = [name for (name,) in raw.execute("SELECT id FROM sessions WHERE draft")]
    store = SqliteStore(folder / "sessions.db")
    sessions = Sessions(store)
    listed = [info.id for info in (await sessions.list()).sessions]
    assert not set(drafts) & set(listed)
    for info in listed:
        assert [e.data async for e in iterate_events(store, info)] == before
    for draft in drafts:
        with pytest.raises(NoSuchSession):
            await sessions.open(draft, model=heald.testing.ScriptedModel(["Hello."]))
        with pytest.raises(NoSuchSession):
            await sessions.fork(draft)
    await sessions.recover()
    await store.close()
    with closing(sqlite3.connect(folder / "sessions.db")) as raw:
        there = [name for (name,) in raw.execute("SELECT id FROM sessions WHERE cause IS NULL")]
        assert sorted(there) == sorted(listed)
        lost = "SELECT count(*) FROM sessions WHERE cause IS NOT NULL AND parent NOT IN (SELECT id FROM sessions)"
        assert raw.execute(lost).fetchone() == (0,)
        for table, column, owners in (
            ("events", "session", "key FROM sessions"),
            ("blobs", "digest", "digest FROM session_blobs"),
        ):
            orphans = raw.execute(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT {owners})").fetchone()
            assert orphans == (0,), table


PASSES_TWICE = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from crash_points import arm, reach

def status_with(fault):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        arm(fault)
        reach("tool.after")
        reach("tool.after")
    except ValueError:
        os._exit(1)
    os._exit(0)

print(json.dumps([status_with(fault) for fault in sys.argv[2:]]))
"""
"""A program that prints how processes end which pass one point twice, each with a fault of its arguments."""


def test_a_fault_is_a_point_and_how_often_it_is_passed() -> None:
    statuses = {"tool.after:2": -9, "tool.after:3": 0, "tool.before": 0, "": 0, "tool.soon": 1}
    words = [sys.executable, "-c", PASSES_TWICE, str(HOST.parent), *statuses]
    done = subprocess.run(words, capture_output=True, check=True)
    assert json.loads(done.stdout) == list(statuses.values())


def test_heald_itself_has_no_fault() -> None:
    """The points exist only in the processes of tests that install them."""
    assert Session.open.__func__.__module__ == "heald.sessions.session"  # pyright: ignore[reportFunctionMemberAccess]
    assert LogWriter.append.__module__ == "heald.sessions.sqlite_log"
