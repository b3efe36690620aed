"""Several processes on one SQLite file: who is alive, claims, commands and news."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import time

import pytest

from heald.core.errors import HealdError
from heald.sessions.leases import new_holder
from heald.sessions.news import News
from heald.sessions.node_lock import NodeLock
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import NotAnswered, NotHeld
from heald.sessions.sqlite import SqliteStore
from heald.sessions.sqlite_stamp import SETTLED_SECONDS
from heald.sessions.store_errors import Fenced, SessionBusy
from sessions_bench import events, leased, log_of

MakeStore = Callable[[str], SqliteStore]

HOLDER = """
import asyncio, sys
from heald.sessions.sqlite import SqliteStore
from heald.sessions.leases import new_holder
from heald.sessions.session_info import SessionInfo
from heald.core.envelope import Event, new_event
from heald.core.events import ConversationQueued

async def main():
    store = SqliteStore(sys.argv[1])
    await store.create(SessionInfo(id="ses_a"))
    lease = await store.acquire("ses_a", new_holder(), seconds=600)
    data = ConversationQueued(1)
    await store.append(lease, [new_event(1, "e1", "ses_a", None, data.type, data.layer, 1.0, 1, data)], work="running")
    if "serve" in sys.argv:
        await store.heartbeat()  # the further ones store nothing: it is not frozen while it has the file locked
    print("held", flush=True)
    while "serve" in sys.argv:
        await store.heartbeat()
        await asyncio.sleep(0.2)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[MakeStore]:
    """Makes nodes of one file."""
    made: list[SqliteStore] = []

    def make(name: str) -> SqliteStore:
        made.append(SqliteStore(tmp_path / "s.db", node=name))
        return made[-1]

    yield make
    for store in made:
        await store.close()
    assert sorted(os.listdir(tmp_path)) == ["s.db", "s.db-commits"]


def start_holder(path: Path, *before: str, serves: bool = False) -> "subprocess.Popen[bytes]":
    """A process that holds a session with work; with `serves` it beats, as a server does."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", HOLDER, str(path), *(["serve"] if serves else [])],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    assert process.stdout.read() == b""  # the end of the file: all processes that had it are dead
    process.stdout.close()


def can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-p", "-f", "true"], capture_output=True, check=False).returncode == 0


NAMESPACES: Sequence[object] = [
    pytest.param((), id="same"),
    pytest.param(
        ("unshare", "-p", "-f", "--kill-child"),
        id="other",
        marks=pytest.mark.skipif(not can_unshare(), reason="process namespaces cannot be made here"),
    ),
]


@pytest.mark.parametrize("before", NAMESPACES)
async def test_a_living_writer_keeps_its_lease_and_a_killed_one_loses_it_at_once(
    node: MakeStore, tmp_path: Path, before: tuple[str, ...]
) -> None:
    process = start_holder(tmp_path / "s.db", *before)
    try:
        store = node("here")
        with pytest.raises(SessionBusy):
            await store.acquire("ses_a", new_holder())
        assert await store.claim_work(5) == []
        assert await store.find_holder("ses_a") != ""
    finally:
        kill(process)
    assert await store.find_holder("ses_a") == ""
    assert await store.claim_work(5) == ["ses_a"]
    assert (await store.acquire("ses_a", new_holder())).epoch == 3


async def test_the_work_of_a_frozen_server_goes_on_and_it_writes_nothing_more(
    node: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heald.sessions.node_lock.FROZEN_SECONDS", 4.0)
    process = start_holder(tmp_path / "s.db", serves=True)
    try:
        store = node("here")
        os.kill(process.pid, signal.SIGSTOP)
        async with asyncio.timeout(60):
            while await store.claim_work(5) != ["ses_a"]:
                await store.heartbeat()
                await asyncio.sleep(0.2)
        os.kill(process.pid, signal.SIGCONT)
        assert (await store.acquire("ses_a", new_holder())).epoch == 3
    finally:
        kill(process)


async def test_a_process_that_was_frozen_itself_judges_nobody_at_once(
    node: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a machine wakes up: the files of all processes are old, and the first one to look is not the only one."""
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    os.utime(tmp_path / "s.db-nodes" / "one", (1.0, 1.0))
    monkeypatch.setattr("heald.sessions.node_lock.time", lambda: time() + 3600)
    await node_two.heartbeat()
    assert [info.name for info in await node_two.list_nodes()] == ["one", "two"]


async def test_a_claim_of_a_dead_node_is_free(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == ["ses_a"]
    assert await node_two.claim_work(5) == []
    await node_one.end_node()
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_session_that_cannot_be_opened_is_claimed_later(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == ["ses_a"]
    await node_one.unclaim_work("ses_a")
    assert await node_two.claim_work(5) == []
    await node_two.acquire("ses_a", new_holder())  # a request opens it all the same


async def test_a_session_with_a_folder_goes_to_a_node_that_offers_it(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat(folders=["other"])
    await node_two.heartbeat(folders=["site", "other"])
    await node_one.create(SessionInfo(id="ses_a", settings={"workspace": "site"}))
    lease = await node_one.acquire("ses_a", "x")
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == []
    assert await node_two.claim_work(5) == ["ses_a"]
    assert [info.name for info in await node_one.list_nodes()] == ["one", "two"]


async def test_a_fenced_writer_writes_nothing_more(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    other = await node_two.acquire("ses_a", "two", force=True)
    with pytest.raises(Fenced):
        await node_one.append(lease, events("ses_a", 2, 1))
    await node_one.release(lease)
    await node_two.append(other, events("ses_a", 2, 1, epoch=other.epoch))
    assert len(await log_of(node_one, "ses_a")) == 2


async def test_news_of_another_process(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    got: asyncio.Queue[News] = asyncio.Queue()
    node_one.subscribe_news(got.put_nowait)
    async with asyncio.timeout(60):
        while (await got.get()).topic != "lost":
            pass
        lease = await leased(node_two)
        await node_two.append(lease, events("ses_a", 1, 2))
        while (news := await got.get()).topic != "events" or not news.seq:
            pass
        assert (news.session, news.seq, news.epoch) == ("ses_a", 2, 1)
        await node_two.put_record("token", "ann", b"1")
        while (news := await got.get()).topic != "records":
            pass
        assert news.name == "token"
        await node_two.delete_record("token", "ann")
        while (await got.get()).topic != "records":
            pass
        await node_two.delete("ses_a")
        while (news := await got.get()).topic != "events" or news.epoch < 2**31:
            pass
        assert news.session == "ses_a"
    assert await node_one.read_records("token") == {}


async def test_events_of_several_sessions_are_read_at_once(node: MakeStore) -> None:
    store = node("one")
    for name in ("ses_a", "ses_b"):
        await store.append(await leased(store, name), events(name, 1, 3))
    logs = await store.read_many({"ses_a": 1, "ses_b": 3, "ses_none": 0})
    assert {name: [event.seq for event in log] for name, log in logs.items()} == {"ses_a": [2, 3], "ses_b": []}


async def test_a_command_reaches_the_holder_and_its_reply_the_sender(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await leased(node_one)
    arrived = asyncio.Event()
    met = asyncio.Event()
    node_one.subscribe_news(lambda news: {"commands": arrived, "lost": met}[news.topic].set())
    async with asyncio.timeout(60):
        await met.wait()
    posted = asyncio.create_task(node_two.post_command("ses_a", b'"cancel"', seconds=20))
    async with asyncio.timeout(60):
        await arrived.wait()
    assert await node_two.read_commands() == ()
    (command,) = await node_one.read_commands()
    assert (command.session, command.body) == ("ses_a", b'"cancel"')
    assert await node_one.read_commands() == ()
    await node_one.reply_command(command.id, b'"done"')
    assert await posted == b'"done"'


async def test_a_command_for_a_session_without_holder_is_withdrawn(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    lease = await leased(node_one)
    await node_one.release(lease)
    with pytest.raises(NotHeld):
        await node_two.post_command("ses_a", b"1", seconds=5)
    lease = await node_one.acquire("ses_a", "one")
    posted = asyncio.create_task(node_two.post_command("ses_a", b"1", seconds=20))
    await asyncio.sleep(0.1)
    await node_one.release(lease)
    with pytest.raises(NotHeld):
        await posted
    await node_one.acquire("ses_a", "one")
    assert await node_one.read_commands() == ()


async def test_the_command_of_a_dead_holder_is_done_by_the_next(node: MakeStore) -> None:
    node_one, node_two, node_three = node("one"), node("two"), node("three")
    await leased(node_one)
    posted = asyncio.create_task(node_three.post_command("ses_a", b"1", seconds=20))
    accepted: list[object] = []
    async with asyncio.timeout(60):
        while not accepted:
            accepted += await node_one.read_commands()
            await asyncio.sleep(0.02)
    await node_two.acquire("ses_a", "two", force=True)
    await node_one.end_node()
    (command,) = await node_two.read_commands()
    await node_two.reply_command(command.id, b"2")
    assert await posted == b"2"


async def test_a_command_that_nobody_answers_ends(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await leased(node_one)
    with pytest.raises(NotAnswered):
        await node_two.post_command("ses_a", b"1", seconds=0.3)
    assert await node_one.read_commands() == ()


async def test_spending_is_of_all_processes(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.record_spending("ann", tokens=10, usd=0.5)
    await node_two.record_spending("ann", tokens=5, usd=None)
    spent = await node_one.read_spending("ann", seconds=3600)
    assert (spent.tokens, spent.usd, spent.unpriced) == (15, 0.5, True)


def test_a_name_is_used_once(tmp_path: Path) -> None:
    lock = NodeLock(tmp_path / "nodes", "one")
    with pytest.raises(HealdError, match="runs on these sessions already"):
        NodeLock(tmp_path / "nodes", "one")
    with pytest.raises(HealdError, match="file name"):
        NodeLock(tmp_path / "nodes", "../one")
    lock.close()
    NodeLock(tmp_path / "nodes", "one").close()
    assert not (tmp_path / "nodes").exists()


async def test_an_idle_process_writes_nothing(node: MakeStore, tmp_path: Path) -> None:
    store = node("one")
    await store.heartbeat(folders=["site"], room=3)
    store.subscribe_news(lambda _: None)
    before = (tmp_path / "s.db-wal").stat().st_size
    for room in range(5):
        await store.heartbeat(folders=["site"], room=room)
        assert await store.read_commands() == ()
        assert await store.claim_work(5) == []
    assert (tmp_path / "s.db-wal").stat().st_size == before


async def test_a_file_that_nobody_has_written_is_not_read(node: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    node_one, node_two = node("one"), node("two")
    reads: list[object] = []
    read = node_one._read  # pyright: ignore[reportPrivateUsage]

    def count_read(job: Callable[[sqlite3.Connection], object]) -> Awaitable[object]:
        reads.append(job)
        return read(job)

    monkeypatch.setattr(node_one, "_read", count_read)
    for _ in range(5):  # after a change it may be read a few times more
        reads.clear()
        await asyncio.sleep(2 * SETTLED_SECONDS)
        assert (await node_one.claim_work(5), await node_one.read_commands()) == ([], ())
        if not reads:
            break
    assert reads == []
    lease = await leased(node_two)
    await node_two.append(lease, events("ses_a", 1, 1), work="running")
    await node_two.release(lease)
    assert await node_one.claim_work(5) == ["ses_a"]
