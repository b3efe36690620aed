"""The journal of deltas: what a client has seen is in the log, however its process ended and whoever continues."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

import heald
from heald.core.envelope import Event
from heald.sessions import delta_journal, journaled_deltas
from heald.sessions.commit_clock import JOURNAL_PACING, LONGEST_PAUSE, Pacing
from heald.sessions.delta_journal import DeltaJournal, JournalEntry, read_journal
from heald.sessions.journal_recovery import MAX_UNSYNCED
from heald.sessions.leases import Lease
from heald.sessions.session import Session
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import Fenced
from heald_check import check_log
from sessions_bench import fresh, log_of, model

NEVER = 1000.0
DELTAS = 150

STREAM = """
import asyncio, sys
import heald
from heald.sessions import journaled_deltas
from heald.sessions.commit_clock import Pacing
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore

journaled_deltas.COMMIT_SECONDS = journaled_deltas.SLOW_SECONDS = 1000
journaled_deltas.JOURNAL_PACING = Pacing(idle=1.0, full=2.0)

async def main():
    store = SqliteStore(sys.argv[1])
    name = (await Sessions(store).create()).id
    print(name, flush=True)
    session = await Session.open(store, name, model=heald.testing.ScriptedModel(["word " * 500], pause=0.003))
    session.subscribe(lambda event: print(event.seq, event.type, flush=True))
    await session.run("Go.")

asyncio.run(main())
"""


@pytest.fixture
def only_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No delta is committed by itself, however busy the machine is."""
    monkeypatch.setattr(journaled_deltas, "COMMIT_SECONDS", NEVER)
    monkeypatch.setattr(journaled_deltas, "SLOW_SECONDS", NEVER)
    monkeypatch.setattr(journaled_deltas, "JOURNAL_PACING", Pacing(idle=1.0, full=2.0))


@pytest.fixture
async def store(tmp_path: Path, only_journal: None) -> AsyncIterator[SqliteStore]:
    """A store that commits no delta by itself."""
    store = SqliteStore(tmp_path / "s.db", node="first")
    yield store
    await store.close()
    assert not (tmp_path / "s.db-deltas").exists()


def committed(path: Path) -> int:
    """The last seq that SQLite has, of the only session."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT last_seq FROM sessions").fetchone()[0]
    finally:
        connection.close()


async def streaming(session: Session, deltas: int = DELTAS) -> list[Event]:
    """Start an exchange, and return the events that a client has seen after some deltas; more are added."""
    shown: list[Event] = []
    session.subscribe(shown.append)
    session.send("Go.")
    await wait_for_deltas(shown, deltas)
    return shown


async def wait_for_deltas(shown: Sequence[Event], count: int) -> None:
    while sum(event.type == "text_delta" for event in shown) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.002)


def slow_model() -> heald.testing.ScriptedModel:
    return heald.testing.ScriptedModel(["word " * 500], pause=0.002)


def kill_while_streaming(path: Path) -> tuple[str, int]:
    """Start a process that streams to a client, kill it, and return its session and the last seq that was seen."""
    process = subprocess.Popen([sys.executable, "-c", STREAM, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    lines: list[str] = []
    while sum("text_delta" in line for line in lines) < DELTAS:
        lines.append(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    lines += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    return name, max(int(line.split()[0]) for line in lines if line.endswith("\n"))


async def test_what_was_seen_survives_the_death_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    name, last = kill_while_streaming(path)
    assert committed(path) < last - DELTAS // 2, "SQLite did not have it yet"
    store = SqliteStore(path)
    log = await log_of(store, name)
    assert len(log) >= last
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    session = await Session.open(store, name, model=model("Done."))
    assert [(await exchange.result()).text for exchange in session.resumed] == ["Done."]
    await session.close()
    assert check_log(await log_of(store, name)) == []
    await store.close()
    assert sorted(os.listdir(tmp_path)) == ["s.db", "s.db-commits"]


async def test_a_line_whose_end_is_missing_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    name, last = kill_while_streaming(path)
    [journal] = (tmp_path / "s.db-deltas").iterdir()
    os.truncate(journal, journal.stat().st_size - 5)
    store = SqliteStore(path)
    log = await log_of(store, name)
    assert last - 8 < len(log)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    await store.close()


async def test_a_cursor_from_before_a_loss_of_power_is_not_behind_the_log(tmp_path: Path) -> None:
    """The disk has a part of the journal, which is of another boot."""
    path = tmp_path / "s.db"
    name, last = kill_while_streaming(path)
    [journal] = (tmp_path / "s.db-deltas").iterdir()
    data = journal.read_bytes()
    head, lines = data[:64], data[64:].split(b"\n")
    journal.write_bytes(head[:16] + b"another boot".ljust(48, b"\0") + b"\n".join(lines[:-5]))
    stored = committed(path)
    store = SqliteStore(path)
    log = await log_of(store, name)
    assert stored < len(log) - MAX_UNSYNCED < last, "some deltas were read, others are lost"
    filling = log[-MAX_UNSYNCED:]
    assert {(event.type, event.data.text) for event in filling if event.type == "text_delta"} == {("text_delta", "")}
    session = await Session.open(store, name, model=model("Done."))
    assert [(await exchange.result()).text for exchange in session.resumed] == ["Done."]
    await session.close()
    assert check_log(await log_of(store, name)) == []
    await store.close()


async def test_a_session_that_was_not_streaming_gets_no_filling(tmp_path: Path, store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=slow_model())
    await streaming(session)
    await asyncio.gather(*(exchange.result() for exchange in [session.current] if exchange is not None))
    await session.close()
    before = await log_of(store, name)
    journal = tmp_path / "s.db-deltas" / "dead"
    journal.write_bytes(b"unreadable")
    again = SqliteStore(tmp_path / "s.db")
    assert await log_of(again, name) == before
    assert not journal.exists()
    await again.close()


async def test_deltas_that_are_only_in_the_journal_are_read(tmp_path: Path, store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=slow_model())
    shown = await streaming(session)
    last = shown[-1].seq
    assert committed(tmp_path / "s.db") < last - DELTAS // 2
    assert (await log_of(store, name))[:last] == shown[:last]
    assert await store.read(name, after=last - 3, upto=last, limit=2) == shown[last - 3 : last - 1]
    assert (await store.read_many({name: last - 3}))[name][:3] == shown[last - 3 : last]
    assert (await store.info(name)).last_seq >= last
    await session.close()
    assert await log_of(store, name) == shown


@pytest.mark.usefixtures("only_journal")
async def test_a_message_needs_few_commits(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    session = await Session.open(store, await fresh(store), model=slow_model())
    shown = await streaming(session)
    before = int.from_bytes((tmp_path / "s.db-commits").read_bytes(), "big")
    count = len(shown)
    await wait_for_deltas(shown, 2 * DELTAS)
    assert int.from_bytes((tmp_path / "s.db-commits").read_bytes(), "big") == before
    assert len(shown) >= count + DELTAS // 2
    await session.close()
    await store.close()


async def test_who_is_replaced_shows_nothing_that_is_not_stored(tmp_path: Path, store: SqliteStore) -> None:
    """Another process reads the journal when it takes a session over, and the former one learns of it."""
    name = await fresh(store)
    old = await Session.open(store, name, model=slow_model())
    shown = await streaming(old)
    other = SqliteStore(tmp_path / "s.db", node="second")
    new = await Session.open(other, name, model=model("Mine."), force=True)
    [result] = [await exchange.result() for exchange in new.resumed]
    assert result.text == "Mine."
    while old.current is not None:
        with pytest.raises(Fenced):
            await old.current.result()
        await asyncio.sleep(0)
    await new.close()
    await old.close()
    log = await log_of(other, name)
    assert check_log(log) == []
    assert log[: len(shown)] == shown
    following = [event.type for event in log[len(shown) :]]
    unseen = following.index("session_resumed")
    assert set(following[:unseen]) <= {"text_delta"}, "what was written and not shown any more"
    await other.close()


async def test_a_replaced_writer_releases_nothing_of_its_successor(tmp_path: Path, store: SqliteStore) -> None:
    name = await fresh(store)
    old = await Session.open(store, name, model=slow_model())
    await streaming(old)
    new = await Session.open(store, name, model=slow_model(), after_crash="close", force=True)
    shown = await streaming(new)
    await store.release(Lease(session=name, epoch=old.epoch, holder="replaced", expires=0.0))
    last = committed(tmp_path / "s.db")
    await wait_for_deltas(shown, 2 * DELTAS)
    assert committed(tmp_path / "s.db") == last, "its journal is as good as before"
    seen = shown[-1].seq
    assert (await log_of(store, name))[-1].seq >= seen
    await new.close()
    await old.close()


async def test_no_more_deltas_wait_than_a_loss_of_power_may_cost(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journaled_deltas, "MAX_UNSYNCED", 10)
    session = await Session.open(store, await fresh(store), model=slow_model())
    shown = await streaming(session)
    for _ in range(5):
        await asyncio.sleep(0.01)
        last = shown[-1].seq
        assert committed(tmp_path / "s.db") >= last - 10
    await session.close()


async def test_a_journal_is_emptied_when_it_is_long(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_journal, "RESET_BYTES", 0)
    name = await fresh(store)
    session = await Session.open(store, name, model=slow_model())
    shown = await streaming(session)
    journal = tmp_path / "s.db-deltas" / "first"
    assert len(journal.read_bytes()) > 64
    assert session.current is not None
    await session.current.result()
    assert len(journal.read_bytes()) == 64
    await session.close()
    assert await log_of(store, name) == shown


def test_a_journal_without_room_stays_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = DeltaJournal(tmp_path / "journal")
    journal.open()
    assert journal.append("a", 1, [b'{"seq":1}'])
    write = os.pwrite

    def write_a_part(fd: int, data: bytes, at: int) -> int:
        return write(fd, data[:7], at)

    monkeypatch.setattr(delta_journal.os, "pwrite", write_a_part)
    assert not journal.append("a", 1, [b'{"seq":2}'])
    monkeypatch.undo()
    assert journal.append("b", 2, [b'{"seq":3}', b'{"text":"\\ud800"}'])
    is_of_this_boot, entries = read_journal(tmp_path / "journal")
    assert is_of_this_boot
    assert entries == [
        JournalEntry("a", 1, [b'{"seq":1}']),
        JournalEntry("b", 2, [b'{"seq":3}', b'{"text":"\\ud800"}']),
    ]
    journal.close(is_needed=True)
    assert (tmp_path / "journal").exists()


@pytest.mark.parametrize(("share", "pause"), [(0.0, 0.0), (JOURNAL_PACING.idle, 0.0), (1.0, LONGEST_PAUSE)])
def test_a_pause_begins_on_a_busy_loop_only(share: float, pause: float) -> None:
    assert JOURNAL_PACING.pause(share) == pause
