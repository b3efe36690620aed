"""Agents that work for a session: what they did is stored as theirs, and is there again after a reload."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.messages import ToolResult
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store, iterate_delegates
from heald.sessions.store_errors import Fenced
from heald_check import check_log
from sessions_bench import call, fresh, log_of, look, model, types_of


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


def helper(*turns: Any, name: str = "helper", tools: Any = ("files", look)) -> heald.Tool:
    return heald.Agent(model(*turns), tools=tools).as_tool(name, "Helps.")


WRITES = ([call("write_file", path="a.txt", content="theirs\n")], "I wrote it.")


async def of(store: Store, session: str) -> list[SessionInfo]:
    return [info async for info in iterate_delegates(store, session)]


async def worked(store: Store, *turns: Any, tools: Any, **settings: Any) -> tuple[str, list[Event]]:
    name = await fresh(store, owner="ann", **settings)
    session = await Session.open(store, name, model=model(*turns), tools=tools)
    heard: list[Event] = []
    session.subscribe(heard.append)
    await session.run("Go.")
    await session.close()
    return name, heard


async def test_their_events_are_stored_as_a_session_of_theirs(store: Store) -> None:
    name, heard = await worked(store, [call("helper", prompt="Write it.")], "Done.", tools=[helper(*WRITES)])
    (info,) = await store.delegates(name)
    caused = next(event.data.id for event in heard if isinstance(event.data, ToolResult) and event.session == name)
    assert (info.parent, info.cause, info.title, info.owner) == (name, caused, "Write it.", "ann")
    assert await log_of(store, info.id) == [event for event in heard if event.session == info.id]
    assert await log_of(store, name) == [event for event in heard if event.session == name]
    assert check_log([*await log_of(store, name), *await log_of(store, info.id)]) == []
    assert [listed.id for listed in (await store.list()).sessions] == [name]


async def test_what_they_wrote_is_restored(store: Store) -> None:
    name, _ = await worked(
        store,
        [call("write_file", path="a.txt", content="mine\n")],
        [call("read_file", path="a.txt"), call("helper", prompt="Write it.")],
        "Done.",
        tools=["files", helper([call("read_file", path="a.txt")], *WRITES)],
    )
    again = await Session.open(store, name, tools=["files"], model=model([call("read_file", path="a.txt")], "It is."))
    assert again.workspace.files() == {"a.txt": "theirs\n"}
    assert [change.revision for change in again.workspace.revisions("a.txt")] == [1, 2]
    assert again.workspace.content_at("a.txt", 1) == b"mine\n"
    await again.run("And?")
    await again.close()


async def test_the_last_to_write_has_the_last_word(store: Store) -> None:
    name, _ = await worked(
        store,
        [call("write_file", path="a.txt", content="one\n")],
        [call("helper", prompt="Write it.")],
        [call("read_file", path="a.txt")],
        [call("write_file", path="a.txt", content="three\n")],
        "Done.",
        tools=["files", helper([call("read_file", path="a.txt")], *WRITES)],
    )
    again = await Session.open(store, name, model=model("Hi."))
    assert again.workspace.files() == {"a.txt": "three\n"}
    assert [change.revision for change in again.workspace.revisions("a.txt")] == [1, 2, 3]
    await again.close()


async def test_those_that_work_for_those(store: Store) -> None:
    inner = helper(*WRITES, name="inner")
    outer = helper([call("inner", prompt="Deeper.")], "It was done.", name="outer", tools=[inner])
    name, heard = await worked(store, [call("outer", prompt="Deep.")], "Done.", tools=[outer])
    infos = await of(store, name)
    assert [(info.title, info.parent) for info in infos] == [("Deep.", name), ("Deeper.", infos[0].id)]
    logs = [event for info in infos for event in await log_of(store, info.id)]
    assert sorted(event.id for event in logs) == sorted(event.id for event in heard if event.session != name)
    again = await Session.open(store, name, model=model("Hi."))
    assert again.workspace.files() == {"a.txt": "theirs\n"}
    await again.close()


async def test_side_by_side(store: Store) -> None:
    calls = [call("helper", prompt=f"Look at {n}.") for n in range(4)]
    tools = [helper(*[[call("look", n=1)], "Seen."] * 1)]
    name, heard = await worked(store, calls, "Done.", tools=tools)
    infos = await store.delegates(name)
    assert len(infos) == 4
    for info in infos:
        assert await log_of(store, info.id) == [event for event in heard if event.session == info.id]
        assert check_log(await log_of(store, info.id)) == []


async def test_an_event_of_theirs_is_stored_before_it_is_seen(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    name = await fresh(store)
    script = model([call("helper", prompt="Look.")], "Done.")
    session = await Session.open(store, name, model=script, tools=[helper([call("look", n=1)], "Seen. " * 100)])
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:

        def check(event: Event) -> None:
            row = other.execute("SELECT last_seq FROM sessions WHERE id = ?", (event.session,)).fetchone()
            assert row[0] >= event.seq
            kinds = "SELECT json_extract(body, '$.type') FROM events JOIN sessions ON key = session WHERE id = ?"
            stored = [kind for (kind,) in other.execute(kinds, (event.session,))]
            assert stored.count("message_stop") == stored.count("assistant_message"), "half a turn"

        watching = session.subscribe(check)
        await session.run("Go.")
        assert watching.failures == 0
    await session.close()
    await store.close()


async def test_a_crash_closes_them_too(store: Store) -> None:
    reached = asyncio.Event()

    @heald.tool(effect="write")
    async def hang() -> str:
        """Hang."""
        reached.set()
        await asyncio.sleep(3600)
        return ""

    name = await fresh(store)
    turns = [call("write_file", path="a.txt", content="half\n")], [call("hang")], "Never."
    tool = helper(*turns, tools=["files", hang])
    old = await Session.open(store, name, model=model([call("helper", prompt="Hang.")], "Never."), tools=[tool])
    old.send("Go.")
    await asyncio.wait_for(reached.wait(), 60)
    await old.flush()
    new = await Session.open(store, name, after_crash="close", model=model("I see."), tools=[tool], force=True)
    (info,) = await store.delegates(name)
    log = await log_of(store, info.id)
    assert check_log([*await log_of(store, name), *log]) == []
    assert types_of(log)[-1] == "exchange_response"
    assert "session_resumed" in types_of(log)
    assert new.workspace.files() == {"a.txt": "half\n"}
    assert (await new.run("And?")).text == "I see."
    await new.close()
    with suppress(Fenced):
        await old.close()


async def test_they_go_with_their_session(store: Store) -> None:
    inner = helper(*WRITES, name="inner")
    outer = helper([call("inner", prompt="Deeper.")], "It was done.", name="outer", tools=[inner])
    name, _ = await worked(store, [call("outer", prompt="Deep.")], "Done.", tools=[outer])
    infos = await of(store, name)
    fork = await Sessions(store).fork(name)
    copies = await of(store, fork.id)
    assert [info.title for info in copies] == ["Deep.", "Deeper."]
    assert not {info.id for info in copies} & {info.id for info in infos}
    await store.delete(name)
    for info in infos:
        with pytest.raises(HealdError):
            await store.info(info.id)
    other = await Session.open(store, fork.id, model=model("Hi."))
    assert other.workspace.files() == {"a.txt": "theirs\n"}
    await other.close()
    logs = [event for info in (fork, *copies) for event in await log_of(store, info.id)]
    assert check_log(logs) == []


async def test_a_fork_before_the_call_has_nothing_of_it(store: Store) -> None:
    name, _ = await worked(store, "Hello.", tools=[])
    mark = (await store.info(name)).last_seq
    session = await Session.open(
        store, name, model=model([call("helper", prompt="Write it.")], "Done."), tools=[helper(*WRITES)]
    )
    await session.run("Now.")
    await session.close()
    fork = await Sessions(store).fork(name, mark)
    assert await store.delegates(fork.id) == []
    other = await Session.open(store, fork.id, model=model("Hi."))
    assert other.workspace.files() == {}
    await other.close()


async def test_a_call_of_theirs_runs_only_when_its_start_is_stored(store: Store) -> None:
    name = await fresh(store)
    stored: list[str] = []

    @heald.tool(effect="write")
    async def peek() -> str:
        """Look into the store."""
        stored.extend([types_of(await log_of(store, info.id))[-1] for info in await of(store, name)])
        return ""

    inner = helper([call("peek")], "So.", name="inner", tools=[peek])
    outer = helper([call("inner", prompt="Deeper.")], "So.", name="outer", tools=[inner])
    session = await Session.open(store, name, model=model([call("outer", prompt="Deep.")], "So."), tools=[outer])
    await session.run("Go.")
    await session.close()
    assert stored == ["tool_executing", "tool_executing"]
