"""Disks that fail, for real: each fault is one clear sentence, loses nothing that was acknowledged, and passes."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from disk_host import SESSION

import heald
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import StoreCorrupt, StoreError, StoreLocked
from heald_check import check_log
from sessions_bench import call, fresh, log_of, look, model, types_of

HOST = Path(__file__).parent / "disk_host.py"


def is_clear(said: str, *places: Path) -> bool:
    """One sentence that says what to do, without a host path and without a traceback."""
    is_sentence = "\n" not in said and said.endswith(".") and ";" in said
    return is_sentence and "Traceback" not in said and not any(str(place) in said for place in places)


def write_until_full(database: Path, folder: Path, limit: int) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HOST), str(database), str(folder), str(limit)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk; the limit on files stands in for it")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here; the limit on files stands in for it")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)  # whatever a failed test keeps open


def fill(ballast: Path) -> None:
    """Take all the room that is left."""
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1024))


async def goes_on(database: Path, folder: Path) -> list[Event]:
    """All that was shown is stored, and the session goes on."""
    shown_seqs = json.loads((folder / "shown").read_text())
    store = SqliteStore(database)
    before = await log_of(store, SESSION)
    assert shown_seqs == list(range(1, len(shown_seqs) + 1))
    assert len(before) >= len(shown_seqs) > 100, "something was shown that is not stored"
    session = await Session.open(store, SESSION, after_crash="close", model=model("Better now."))
    assert (await session.run("Go on.")).text == "Better now."
    await session.close()
    after = await log_of(store, SESSION)
    await store.close()
    assert after[: len(before)] == before
    assert check_log(after, host_paths=[str(folder)]) == []
    was_open = before[-1].type != "exchange_response"  # the disk may be full exactly between two exchanges
    assert ("session_resumed" in types_of(after)) == was_open
    return after


async def test_a_disk_that_is_full(small_disk: Path, tmp_path: Path) -> None:
    told = write_until_full(small_disk / "s.db", tmp_path, 0)
    assert is_clear(str(told["said"]), tmp_path)
    assert "no room" in str(told["said"])
    assert told["later"] == told["said"]
    assert float(str(told["longest"])) < 2.0
    larger = tmp_path / "larger"
    shutil.copytree(small_disk, larger)  # somebody makes room
    await goes_on(larger / "s.db", tmp_path)


async def test_a_disk_that_regains_room_while_the_process_lives(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    store = SqliteStore(small_disk / "s.db")
    name = await fresh(store)
    script = heald.testing.ScriptedModel(["word " * 3000], piece=5, pause=0.0005)
    session = await Session.open(store, name, model=script)
    delivered: list[Event] = []

    def show(event: Event) -> None:
        delivered.append(event)
        if len(delivered) == 100:  # in the middle of the exchange
            fill(ballast)

    session.subscribe(show)
    with pytest.raises(StoreError) as raised:
        await session.run("Go.")
    assert is_clear(str(raised.value), small_disk)
    with pytest.raises(StoreError):
        await Session.open(store, name, model=model("Too early."), force=True)
    await session.close()
    assert (await log_of(store, name))[: len(delivered)] == delivered
    ballast.unlink()
    again = await Session.open(store, name, after_crash="close", model=model("Better now."))
    assert (await again.run("Go on.")).text == "Better now."
    await again.close()
    log = await log_of(store, name)
    assert log[: len(delivered)] == delivered
    assert check_log(log, host_paths=[str(small_disk)]) == []
    await store.close()


async def test_files_that_may_not_grow(tmp_path: Path) -> None:
    told = write_until_full(tmp_path / "s.db", tmp_path, 1_000_000)
    assert is_clear(str(told["said"]), tmp_path), told
    assert told["later"] == told["said"]
    assert float(str(told["longest"])) < 2.0
    await goes_on(tmp_path / "s.db", tmp_path)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", patience=0.3)
    yield store
    await store.close()


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = NORMAL")
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
"""


async def test_another_process_keeps_it_locked(store: SqliteStore, tmp_path: Path) -> None:
    name = await fresh(store)
    locked = asyncio.Event()

    async def look_later(n: int) -> str:
        """Look at something once the database is locked."""
        await locked.wait()
        return f"saw {n}"

    script = heald.testing.ScriptedModel([["word " * 200, call("look_later", n=1)], "Done."], pause=0.001)
    session = await Session.open(store, name, model=script, tools=[look_later])
    delivered: list[Event] = []
    session.subscribe(delivered.append)
    exchange = session.send("Go.")
    await session.accepted(exchange)
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", LOCK, str(tmp_path / "s.db")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert await other.stdout.readline() == b"locked\n"
    locked.set()
    ticks = 0

    async def watch() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    watching = asyncio.ensure_future(watch())
    with pytest.raises(StoreLocked) as raised:
        await exchange.result()
    assert is_clear(str(raised.value), tmp_path)
    assert await log_of(store, name) == delivered  # reading waits for nobody
    with pytest.raises(StoreLocked):
        await Session.open(store, name, model=model("Hi."), force=True)
    watching.cancel()
    assert ticks > 5, "the event loop waited for the database"
    await session.close()
    other.stdin.close()
    assert await other.wait() == 0
    again = await Session.open(store, name, after_crash="close", model=model("Better now."))
    assert (await again.run("Go on.")).text == "Better now."
    await again.close()
    log = await log_of(store, name)
    assert log[: len(delivered)] == delivered
    assert check_log(log, host_paths=[str(tmp_path)]) == []


async def whole(tmp_path: Path) -> tuple[bytes, bytes, list[Event]]:
    """A database with its WAL as a dead process leaves them, and the log in it."""
    store = SqliteStore(tmp_path / "whole.db")
    name = await fresh(store, session=SESSION)
    session = await Session.open(store, name, model=model([call("look", n=1)], "Done.", "More."), tools=[look])
    await session.run("Go.")
    await session.run("On.")
    files = (tmp_path / "whole.db").read_bytes(), (tmp_path / "whole.db-wal").read_bytes()
    log = await log_of(store, name)
    await session.close()
    await store.close()
    return *files, log


async def test_a_wal_that_was_cut_off(tmp_path: Path) -> None:
    """What the disk lost is lost; the rest is whole, is closed, and goes on."""
    database, wal, log = await whole(tmp_path)
    lengths: set[int] = set()
    for number, length in enumerate(range(len(wal), 0, -len(wal) // 12)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "s.db").write_bytes(database)
        (folder / "s.db-wal").write_bytes(wal[:length])
        store = SqliteStore(folder / "s.db")
        if [info.id for info in (await store.list()).sessions] == [SESSION]:
            readable = await log_of(store, SESSION)
            assert readable == log[: len(readable)]
            lengths.add(len(readable))
            session = await Session.open(store, SESSION, after_crash="close", model=model("Better now."), force=True)
            assert (await session.run("Go on.")).text == "Better now."
            await session.close()
            assert check_log(await log_of(store, SESSION)) == []
        await store.close()
    assert len(lengths) > 3
    assert max(lengths) == len(log)


async def test_a_wal_with_rubbish_in_it(tmp_path: Path) -> None:
    database, wal, log = await whole(tmp_path)
    for number, place in enumerate(range(100, len(wal), len(wal) // 9)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "s.db").write_bytes(database)
        (folder / "s.db-wal").write_bytes(wal[:place] + b"\xa5" * 500 + wal[place + 500 :])
        store = SqliteStore(folder / "s.db")
        if (await store.list()).sessions:
            readable = await log_of(store, SESSION)
            assert readable == log[: len(readable)]
        await store.close()


async def test_a_database_that_was_cut_off_or_overwritten(tmp_path: Path) -> None:
    """Somewhere it must be said; nothing that is read is wrong."""
    _, _, log = await whole(tmp_path)
    data = (tmp_path / "whole.db").read_bytes()
    assert len(data) > 30_000
    said: list[str] = []
    cuts = [data[:length] for length in range(len(data) - 1, 1, -len(data) // 9)]
    scribbles = [data[:at] + b"\xa5" * 3000 + data[at + 3000 :] for at in range(0, len(data) - 3000, len(data) // 9)]
    for number, content in enumerate([*cuts, *scribbles]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "s.db").write_bytes(content)
        try:
            store = SqliteStore(folder / "s.db")
        except StoreError as error:
            said.append(str(error))
            continue
        try:
            readable = await log_of(store, SESSION)
            assert readable == log[: len(readable)]
            session = await Session.open(store, SESSION, model=model("Hello."))
            await session.run("Go on.")
            await session.close()
        except HealdError as error:
            said.append(str(error))
        await store.close()
    assert all(is_clear(message, tmp_path) for message in said), said
    assert len([message for message in said if "damaged" in message]) >= 5, said


async def test_a_damaged_file_is_put_back_from_a_backup(tmp_path: Path) -> None:
    _, _, log = await whole(tmp_path)
    backup = (tmp_path / "whole.db").read_bytes()
    (tmp_path / "whole.db").write_bytes(b"\0" * 10_000)
    with pytest.raises(StoreCorrupt, match="backup"):
        SqliteStore(tmp_path / "whole.db")
    (tmp_path / "whole.db").write_bytes(backup)
    store = SqliteStore(tmp_path / "whole.db")
    assert await log_of(store, SESSION) == log
    session = await Session.open(store, SESSION, after_crash="close", model=model("Better now."))
    assert (await session.run("Go on.")).text == "Better now."
    await session.close()
    await store.close()


READ_ONLY = """
import asyncio, os, sys
from heald.core.errors import HealdError
from heald.sessions.sqlite import SqliteStore
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    SqliteStore(sys.argv[1])
except HealdError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [True, False])
async def test_a_folder_that_may_only_be_read(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if there:
        await (await opened(folder)).close()
        (folder / "s.db").chmod(0o444)
    said = error_without_write_access(folder)
    folder.chmod(0o755)
    assert is_clear(said, tmp_path), said
    if there:
        (folder / "s.db").chmod(0o600)
        store = await opened(folder)
        assert len((await store.list()).sessions) == 2
        await store.close()


def error_without_write_access(folder: Path) -> str:
    """What somebody is told who may read the folder and no more. Root may do all, so it is not root who asks."""
    folder.chmod(0o555)
    above = [place for place in folder.parents if place.is_relative_to("/tmp")]
    modes = {place: place.stat().st_mode for place in above}
    try:
        for place in above if os.geteuid() == 0 else []:
            place.chmod(modes[place] | 0o055)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", READ_ONLY, str(folder / "s.db")],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for place, mode in modes.items():
            place.chmod(mode)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


async def opened(folder: Path) -> SqliteStore:
    store = SqliteStore(folder / "s.db")
    await fresh(store)
    return store


async def test_a_fork_on_a_full_disk_cleans_up(small_disk: Path) -> None:
    store = SqliteStore(small_disk / "s.db")
    sessions = Sessions(store)
    name = await fresh(store)
    session = await sessions.open(name, model=heald.testing.ScriptedModel(["word " * 3000], piece=10))
    await session.run("Go.")
    await session.close()
    log = await log_of(store, name)
    fill(small_disk / "ballast")
    with pytest.raises(StoreError) as raised:
        await sessions.fork(name)
    assert is_clear(str(raised.value), small_disk)
    listed = [info.id for info in (await sessions.list()).sessions]
    for copy in listed:
        assert [event.data for event in await log_of(store, copy)] == [event.data for event in log]
    (small_disk / "ballast").unlink()
    await sessions.recover()
    await store.close()
    with closing(sqlite3.connect(small_disk / "s.db")) as raw:
        assert sorted(name for (name,) in raw.execute("SELECT id FROM sessions")) == sorted(listed)
