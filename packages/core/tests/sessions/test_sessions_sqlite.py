"""The SQLite store where it can break: disks, locks, damage, other versions."""

import asyncio
import os
import sqlite3
import stat
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from heald.core.events import UserMessage
from heald.core.messages import Image, user_message
from heald.sessions.database_thread import DatabaseThread
from heald.sessions.session_info import SessionInfo
from heald.sessions.sqlite import SqliteStore
from heald.sessions.sqlite_schema import MIGRATIONS, migrate
from heald.sessions.store_errors import StoreCorrupt, StoreError, StoreFull, StoreLocked
from sessions_bench import event, events, leased, log_of


def raw(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


async def test_what_was_acknowledged_is_there_after_reopening(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    await store.append(lease, events("ses_a", 1, 50))
    await store.close()
    store = SqliteStore(tmp_path / "s.db")
    assert await log_of(store, "ses_a") == events("ses_a", 1, 50)
    await store.close()


async def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await leased(store)
    for name in os.listdir(tmp_path):
        is_folder = (tmp_path / name).is_dir()
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == (0o700 if is_folder else 0o600), name
    await store.close()


async def test_a_picture_is_stored_once_and_no_row_is_large(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    payload = UserMessage(user_message("Look.", Image(data="QUJD" * 500_000)))
    await store.append(lease, [event("ses_a", seq, payload) for seq in (1, 2, 3)])
    await store.close()
    with raw(tmp_path / "s.db") as connection:
        assert connection.execute("SELECT max(length(body)) FROM events").fetchone()[0] < 1024
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (1,)
    connection.close()


async def test_blobs_of_nobody_are_deleted_after_a_delete(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await leased(store, "ses_a")
    await leased(store, "ses_b")
    await store.put_blob("ses_a", b"mine")
    await store.put_blob("ses_a", b"ours")
    await store.put_blob("ses_b", b"ours")
    await store.delete("ses_a")
    await store.close()
    connection = raw(tmp_path / "s.db")
    assert connection.execute("SELECT data FROM blobs").fetchall() == [(b"ours",)]
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    connection.close()


async def test_a_full_disk_loses_nothing_and_recovers(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    await store.append(lease, events("ses_a", 1, 10))
    pages = await store._write(lambda c: c.execute("PRAGMA page_count").fetchone()[0])  # pyright: ignore[reportPrivateUsage]
    await store._write(lambda c: c.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone())  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(StoreFull, match="make room"):
        await store.append(lease, events("ses_a", 11, 2000))
    assert await log_of(store, "ses_a") == events("ses_a", 1, 10)
    await store._write(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchone())  # pyright: ignore[reportPrivateUsage]
    await store.append(lease, events("ses_a", 11, 2000))
    assert len(await log_of(store, "ses_a")) == 2010
    await store.close()


async def test_a_locked_database_reports_it_and_goes_on_later(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db", patience=0.05)
    lease = await leased(store)
    other = raw(tmp_path / "s.db")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match="locked"):
        await store.append(lease, events("ses_a", 1, 1))
    assert await log_of(store, "ses_a") == []  # reading waits for nobody
    other.execute("ROLLBACK")
    other.close()
    await store.append(lease, events("ses_a", 1, 1))
    assert len(await log_of(store, "ses_a")) == 1
    await store.close()


async def test_a_truncated_wal_keeps_a_whole_beginning(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    for first in range(1, 200, 4):
        await store.append(lease, events("ses_a", first, 4))
    database, wal = (tmp_path / "s.db").read_bytes(), (tmp_path / "s.db-wal").read_bytes()
    await store.close()
    lengths: list[int] = []
    for number, length in enumerate(range(0, len(wal), max(len(wal) // 23, 1))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "s.db").write_bytes(database)
        (folder / "s.db-wal").write_bytes(wal[:length])
        store = SqliteStore(folder / "s.db")
        sessions = (await store.list()).sessions
        log = await log_of(store, "ses_a") if sessions else []
        assert log == events("ses_a", 1, len(log))
        assert len(log) % 4 == 0, "half an append"
        assert not sessions or sessions[0].last_seq == len(log)
        lengths.append(len(log))
        if sessions:
            again = await store.acquire("ses_a", "test", force=True)
            await store.append(again, events("ses_a", len(log) + 1, 1, epoch=again.epoch))
        await store.close()
    assert lengths == sorted(lengths)
    assert lengths[-1] > 0


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_reports_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.db").write_bytes(content)
    with pytest.raises(StoreError) as raised:
        SqliteStore(tmp_path / "s.db")
    assert str(tmp_path) not in str(raised.value)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as raised:
        SqliteStore(tmp_path / "nowhere" / "s.db")
    assert str(tmp_path) not in str(raised.value)


async def test_a_closed_store_reports_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.list()


async def test_the_event_loop_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    """While another process locks the database the loop runs: one that waited would see the append fail first."""
    store = SqliteStore(tmp_path / "s.db", patience=30.0)
    lease = await leased(store)
    other = raw(tmp_path / "s.db")
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(store.append(lease, events("ses_a", 1, 1)))
    for _ in range(50):
        await asyncio.sleep(0.004)
    assert not writing.done()
    other.execute("ROLLBACK")
    other.close()
    await writing
    await store.close()


async def test_a_cancelled_wait_does_not_stop_the_writer(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    for seq in range(1, 30):
        task = asyncio.ensure_future(store.append(lease, events("ses_a", seq, 1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.renew(lease)  # behind it in the line
        if (await store.info("ses_a")).last_seq < seq:
            await store.append(lease, events("ses_a", seq, 1))
    log = await log_of(store, "ses_a")
    assert [e.seq for e in log] == list(range(1, len(log) + 1))
    await store.close()


# --- versions --------------------------------------------------------------------------------------------------------


def first_version(path: Path) -> None:
    """A database as version 1 wrote it, with a session in it."""
    connection = raw(path)
    migrate(connection, MIGRATIONS[:1])
    connection.execute(
        "INSERT INTO sessions VALUES (1, 'ses_a', 'Old', 'old', 1.0, 2.0, 1, 1, '', 0.0, NULL, NULL, ?)", (b"{}",)
    )
    body = b'{"seq":1,"id":"ses_a-1-1","session":"ses_a","exchange":null,"type":"conversation_queued",'
    body += b'"layer":"state","time":1.0,"epoch":1,"data":{"position":1}}'
    connection.execute("INSERT INTO events VALUES (1, 1, ?, NULL)", (body,))
    connection.close()


async def test_a_database_of_version_1_is_read_by_todays_store(tmp_path: Path) -> None:
    first_version(tmp_path / "s.db")
    store = SqliteStore(tmp_path / "s.db")
    assert [(info.id, info.title) for info in (await store.list()).sessions] == [("ses_a", "Old")]
    assert [e.type for e in await log_of(store, "ses_a")] == ["conversation_queued"]
    lease = await store.acquire("ses_a", "test")
    await store.append(lease, events("ses_a", 2, 1, epoch=2))
    await store.close()


def test_migrations_go_on_from_where_a_database_is_and_happen_once(tmp_path: Path) -> None:
    first_version(tmp_path / "s.db")
    later = (*MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",))
    for _ in range(2):
        connection = raw(tmp_path / "s.db")
        migrate(connection, later)
        assert connection.execute("SELECT id, colour FROM sessions").fetchall() == [("ses_a", "red")]
        versions = connection.execute("SELECT version FROM schema_version ORDER BY version").fetchall()
        assert versions == [(number,) for number in range(1, len(later) + 1)]
        connection.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    first_version(tmp_path / "s.db")
    broken = (*MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN colour TEXT", "SELECT * FROM nowhere"))
    connection = raw(tmp_path / "s.db")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, broken)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(sessions)")]
    assert "colour" not in columns
    connection.close()


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    connection = raw(tmp_path / "s.db")
    migrate(connection, (*MIGRATIONS, ("CREATE TABLE later (x)",)))
    connection.close()
    with pytest.raises(StoreError, match="newer Heald"):
        SqliteStore(tmp_path / "s.db")


async def test_a_file_from_before_the_name_is_opened(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await leased(store)
    await store.close()
    connection = raw(tmp_path / "s.db")
    connection.execute("PRAGMA application_id = 1464157780")
    connection.close()
    store = SqliteStore(tmp_path / "s.db")
    assert (await store.info("ses_a")).epoch == 1
    await store.close()


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    connection = raw(tmp_path / "s.db")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreCorrupt, match="another program"):
        SqliteStore(tmp_path / "s.db")


async def test_two_processes_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(asyncio.to_thread(SqliteStore, tmp_path / "s.db") for _ in range(4)))
    for number, store in enumerate(stores):
        await store.create(SessionInfo(id=f"ses_{number}"))
    assert len((await stores[0].list()).sessions) == 4
    for store in stores:
        await store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError):
        SqliteStore(tmp_path / "s.db")
    tmp_path.chmod(0o700)


async def test_jobs_that_share_a_transaction_wake_the_loop_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, gate = asyncio.get_running_loop(), threading.Event()
    wakes: list[object] = []
    wake = loop.call_soon_threadsafe

    def count(*arguments: Any) -> object:
        wakes.append(arguments)
        return wake(*arguments)

    thread = DatabaseThread(tmp_path / "s.db", writes=True, patience=5.0, durable=False, first=migrate)
    thread.wait_open()
    monkeypatch.setattr(loop, "call_soon_threadsafe", count)
    held = thread.submit(lambda _: gate.wait(30))
    jobs = [thread.submit(partial(_number, number)) for number in range(20)]
    gate.set()
    assert await asyncio.gather(held, *jobs) == [True, *range(20)]
    assert len(wakes) <= 2, "one more for the first job, which the thread may have begun alone"
    monkeypatch.undo()
    await asyncio.to_thread(thread.close)


async def test_a_job_that_was_cancelled_before_it_began_is_not_run(tmp_path: Path) -> None:
    gate = threading.Event()
    thread = DatabaseThread(tmp_path / "s.db", writes=True, patience=5.0, durable=False, first=migrate)
    thread.wait_open()
    held = thread.submit(lambda _: gate.wait(30))
    await asyncio.sleep(0.05)  # the thread has begun it
    cancelled = thread.submit(lambda connection: connection.execute("DROP TABLE sessions"))
    failing = thread.submit(lambda connection: connection.execute("SELECT * FROM nothing"))
    last = thread.submit(lambda connection: connection.execute("SELECT count(*) FROM sessions").fetchone())
    cancelled.cancel()
    gate.set()
    with pytest.raises(StoreError):
        await failing
    assert await held is True
    assert await last == (0,)
    await asyncio.to_thread(thread.close)


def _number(number: int, _: sqlite3.Connection) -> int:
    return number
