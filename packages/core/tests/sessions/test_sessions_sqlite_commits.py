"""A WAL that was lost is reported with the number of commits that are missing, and nothing else is."""

import logging
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from heald.sessions import SqliteStore
from heald.sessions.leases import new_holder
from heald.sessions.session_info import SessionInfo
from heald.sessions.sqlite_damage import check_file

COMMITS = 7


async def fill(path: Path, commits: int = COMMITS) -> SqliteStore:
    store = SqliteStore(path)
    for number in range(commits):
        await store.put_record("test", str(number), b"x")
    return store


def copy_without_wal(path: Path, folder: Path) -> Path:
    """What is left of a store, whose process was killed, after its WAL was removed."""
    folder.mkdir()
    for name in (path.name, f"{path.name}-commits"):
        shutil.copy(path.with_name(name), folder / name)
    return folder / path.name


async def test_a_lost_wal_is_reported_in_one_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = await fill(tmp_path / "s.db")
    await store.close()  # this merges the WAL into the file
    store = await fill(tmp_path / "s.db")
    left = copy_without_wal(tmp_path / "s.db", tmp_path / "left")
    await store.close()
    with caplog.at_level(logging.WARNING):
        store = SqliteStore(left)
    assert store.missing_commits == COMMITS
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"s.db lacks the last {COMMITS} commits that were stored in it")
    await store.close()
    store = SqliteStore(left)
    assert store.missing_commits == 0, "it is said once"
    await store.close()


async def test_nothing_is_missing_after_a_close_a_kill_or_beside_another_process(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    await (await fill(path)).close()
    code = (
        "import asyncio, os, sys\n"
        "from heald.sessions import SqliteStore\n"
        "async def main():\n"
        "    store = SqliteStore(sys.argv[1])\n"
        "    assert store.missing_commits == 0\n"
        "    for number in range(20): await store.put_record('other', str(number), b'x')\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    first = await fill(path)
    assert first.missing_commits == 0
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9  # noqa: ASYNC221
    second = await fill(path)
    assert second.missing_commits == 0
    await first.close()
    await second.close()
    third = SqliteStore(path)
    assert third.missing_commits == 0
    assert len(await third.read_records("other")) == 20
    await third.close()


async def test_reading_counts_nothing(tmp_path: Path) -> None:
    store = await fill(tmp_path / "s.db")
    before = (tmp_path / "s.db-commits").read_bytes()
    await store.list()
    await store.read_records("test")
    assert (tmp_path / "s.db-commits").read_bytes() == before
    await store.close()


async def test_damage_is_found_by_reading_the_file(tmp_path: Path) -> None:
    store = await fill(tmp_path / "s.db")
    assert await store.find_damage() == []
    await store.close()
    assert check_file(tmp_path / "s.db", seconds=60.0) == []
    with sqlite3.connect(tmp_path / "s.db") as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    connection.close()
    data = bytearray((tmp_path / "s.db").read_bytes())
    data[(page - 1) * 4096 : (page - 1) * 4096 + 200] = b"\xa5" * 200
    (tmp_path / "s.db").write_bytes(data)
    damage = check_file(tmp_path / "s.db", seconds=60.0)
    assert damage
    assert check_file(tmp_path / "s.db", seconds=0.0) in (None, damage)


async def test_a_lease_is_not_synced_and_what_is_stored_under_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await store.create(SessionInfo(id="ses_a"))
    reader = sqlite3.connect(tmp_path / "s.db")

    def counted() -> int:
        return reader.execute("SELECT number FROM commits").fetchone()[0]

    before = counted()
    lease = await store.renew(await store.acquire("ses_a", new_holder()))
    await store.admit_work("ses_a", "", limit=5)
    assert counted() == before, "a loss of power may lose what is not synced, so it is not counted"
    level = await store._writer.submit(lambda connection: connection.execute("PRAGMA synchronous").fetchone())  # pyright: ignore[reportPrivateUsage]
    assert level == (2,), "FULL for what follows"
    await store.append(lease, [], work="idle")
    assert counted() == before + 1
    reader.close()
    await store.close()
