"""Forks of a session in which a program runs."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fork_contract import send
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ExchangeResponse, ToolCompleted
from heald.core.messages import ToolCall, ToolResult
from heald.sessions import ForkChange, Session, Sessions, SqliteStore
from heald.tools.shell.sandbox import PATH, Sandbox
from heald_check import check_log
from sessions_bench import call, fresh, log_of, look, model

pytestmark = pytest.mark.skipif(
    Sandbox().available() is not None or shutil.which("python3", path=PATH) is None,
    reason="programs cannot be run here",
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


async def record(store: SqliteStore) -> tuple[str, list[Event]]:
    """Return a session whose model looked once itself and twice by a program, and its log."""
    name = await fresh(store)
    program = call("run_program", program="for n in (1, 2):\n    print(look(n))")
    session = await Session.open(store, name, model=model([call("look", n=0), program], "Done."), tools=["code", look])
    await session.run("Go.")
    await session.close()
    return name, await log_of(store, name)


async def test_a_fork_at_any_event_of_a_program_is_right(store: SqliteStore) -> None:
    name, log = await record(store)
    inner = [event.seq for event in log if isinstance(event.data, ToolCall) and event.data.parent is not None]
    last = next(event.seq for event in reversed(log) if isinstance(event.data, ToolResult))
    for at in range(inner[0] - 1, last + 1, 2):
        fork = await Sessions(store).fork(name, at, change=ForkChange(model="scripted/model"))
        session = await Session.open(store, fork.id, model=model("Other."), tools=["code", look])
        for exchange in session.resumed:
            await exchange.result()
        await session.close()
        forked = await log_of(store, fork.id)
        assert check_log(forked) == [], at
        assert isinstance(forked[-1].data, ExchangeResponse)
        assert forked[-1].data.status == "completed"
        looks = [event.data for event in forked if isinstance(event.data, ToolResult) and event.data.name == "look"]
        assert [result.status for result in looks] == ["ok"] * 3, "what the program did has happened for the fork too"
        plain = await Sessions(store).fork(name, at)
        assert check_log(await log_of(store, plain.id)) == [], at


async def test_a_program_with_another_result(store: SqliteStore) -> None:
    name, log = await record(store)
    program = next(event.data for event in log if isinstance(event.data, ToolCall) and event.data.name == "run_program")
    last = next(event.seq for event in reversed(log) if isinstance(event.data, ToolResult))
    for at in range(last - 12, last + 1, 2):
        fork = await Sessions(store).fork(name, at, change=ForkChange(result="stated", call=program.id))
        session = await Session.open(store, fork.id, model=model("Other."), tools=["code", look])
        for exchange in session.resumed:
            await exchange.result()
        await session.close()
        forked = await log_of(store, fork.id)
        assert check_log(forked) == [], at
        stated = [event.data for event in forked if isinstance(event.data, ToolResult) and event.data.id == program.id]
        assert [result.content for result in stated] == ["stated"]


async def test_another_result_of_a_program_that_waits(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    program = call("run_program", program="send(text='a')")
    session = await Session.open(store, name, model=model([program], "Sent."), tools=["code", send])
    asked = asyncio.Event()
    session.subscribe(lambda _: asked.set(), types=["approval_requested"])
    exchange = session.send("Go.")
    await asked.wait()
    called = next(event.data for event in await log_of(store, name) if isinstance(event.data, ToolCall))
    fork = await session.fork(change=ForkChange(result="stated", call=called.id, model=model("Other.")))
    for continued in fork.resumed:
        await continued.result()
    await fork.close()
    forked = await log_of(store, fork.session)
    assert check_log(forked) == []
    results = [event.data for event in forked if isinstance(event.data, ToolResult)]
    assert [(result.name, result.status) for result in results] == [("send", "cancelled"), ("run_program", "ok")]
    session.approve(session.approvals[0].approval)
    assert (await exchange.result()).text == "Sent."
    await session.close()


async def test_another_result_beside_a_program_keeps_what_the_program_did(store: SqliteStore) -> None:
    name, log = await record(store)
    beside = next(event for event in log if isinstance(event.data, ToolCompleted) and event.data.name == "look")
    fork = await Sessions(store).fork(name, beside.seq, change=ForkChange(result="another", call=beside.data.id))  # type: ignore[attr-defined]
    session = await Session.open(store, fork.id, model=model("Other."), tools=["code", look])
    for exchange in session.resumed:
        await exchange.result()
    await session.close()
    assert check_log(await log_of(store, fork.id)) == []


async def test_the_call_of_a_program_cannot_be_changed(store: SqliteStore) -> None:
    name, log = await record(store)
    inner = next(event.data for event in log if isinstance(event.data, ToolCall) and event.data.parent is not None)
    with pytest.raises(HealdError, match=r"was made by the program of .*; name that call"):
        await Sessions(store).fork(name, len(log) - 1, change=ForkChange(result="another", call=inner.id))
