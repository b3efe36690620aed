"""Requests that wait: once they are acknowledged they are stored, and the next writer of the session runs them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

import heald
from heald.agent.exchange import Exchange
from heald.agent.interface import ExchangeInterface
from heald.agent.state import ConversationState
from heald.core.envelope import Event
from heald.core.events import (
    ConversationDequeued,
    ConversationQueued,
    ExchangeRequest,
    ExchangeResponse,
    SessionResumed,
)
from heald.core.messages import Image, user_message
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import Fenced, StoreError
from heald_check import check_log
from sessions_bench import call, fresh, log_of, model, types_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


def endless() -> heald.testing.ScriptedModel:
    return heald.testing.ScriptedModel(["word " * 20_000], pause=0.005)


async def busy(store: SqliteStore, name: str) -> Session:
    """A session in the midst of an exchange that will not end."""
    session = await Session.open(store, name, model=endless())
    session.send("Go on for ever.")
    has_text = asyncio.Event()
    session.subscribe(lambda _: has_text.set(), types=["text_delta"])
    await asyncio.wait_for(has_text.wait(), 60)
    return session


def requests_of(log: list[Event]) -> list[str]:
    return [event.data.message.text for event in log if isinstance(event.data, ExchangeRequest)]


async def last_of(session: Session) -> None:
    for exchange in session.resumed:
        await exchange.result()


async def left(session: Session) -> None:
    """Close a session that another writer has acquired."""
    with suppress(Fenced):
        await session.close()


async def test_what_waits_is_resumed_in_order_after_a_crash(store: SqliteStore) -> None:
    name = await fresh(store)
    old = await busy(store, name)
    picture = user_message("See.", Image(data="QUJD" * 100_000))
    sent = [
        old.send("One.", client_request_id="r1"),
        old.send(picture),
        old.send("Three.", client_request_id="r3", cause="call_9"),
    ]
    await old.accepted(sent[-1])
    scripts = model("First.", "Second.", "Third.", "Fourth.")
    new = await Session.open(store, name, after_crash="close", model=scripts, force=True)
    assert [exchange.id for exchange in new.resumed] == [exchange.id for exchange in sent]
    assert new.send("One.", client_request_id="r1") is new.resumed[0]
    assert [(await exchange.result()).text for exchange in new.resumed] == ["First.", "Second.", "Third."]
    assert scripts.requests[1].messages[-1].content == picture.content
    await new.close()
    await left(old)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert requests_of(log) == ["Go on for ever.", "One.", "See.", "Three."]
    resumed = next(event.data for event in log if isinstance(event.data, SessionResumed))
    assert resumed.requests == [exchange.id for exchange in sent]
    asked = [event.data for event in log if isinstance(event.data, ExchangeRequest)]
    assert [(request.client_request_id, request.cause) for request in asked[1:]] == [
        ("r1", None),
        (None, None),
        ("r3", "call_9"),
    ]
    last = await Session.open(store, name, model=model("Fifth."))
    assert last.resumed == []
    await last.close()


async def test_a_crash_a_second_time_before_their_turn(store: SqliteStore) -> None:
    name = await fresh(store)
    first = await busy(store, name)
    sent = [first.send("One."), first.send("Two."), first.send("Three.")]
    await first.accepted(sent[-1])
    second = await Session.open(store, name, after_crash="close", model=endless(), force=True)
    while "text_delta" not in types_of((await log_of(store, name))[second.last_seq - 5 :]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    third = await Session.open(store, name, after_crash="close", model=model("2", "3"), force=True)
    assert [exchange.message.text for exchange in third.resumed if isinstance(exchange, Exchange)] == ["Two.", "Three."]
    await last_of(third)
    await third.close()
    await left(second)
    await left(first)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert requests_of(log) == ["Go on for ever.", "One.", "Two.", "Three."]
    statuses = [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]
    assert statuses == ["failed", "failed", "completed", "completed"]


async def test_what_interrupts_comes_first(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await busy(store, name)
    waiting = [session.send("One."), session.send("Two."), session.send("Now!", when_busy="interrupt")]
    await session.accepted(waiting[-1])
    queued = [event for event in await log_of(store, name) if isinstance(event.data, ConversationQueued)]
    assert [event.data.position for event in queued if isinstance(event.data, ConversationQueued)] == [1, 2, 1]
    seq = queued[-1].seq
    await session.close()
    # as if the process had died right behind the last of them
    log = await log_of(store, name)
    await store.delete(name)
    await Sessions(store).create(session=name)
    lease = await store.acquire(name, "x/1/1/x", seconds=0)
    await store.append(lease, log[:seq])
    new = await Session.open(store, name, after_crash="close", model=model("A", "B", "C"))
    assert [exchange.message.text for exchange in new.resumed if isinstance(exchange, Exchange)] == [
        "Now!",
        "One.",
        "Two.",
    ]
    await last_of(new)
    await new.close()
    assert check_log(await log_of(store, name)) == []


async def test_what_was_cancelled_while_it_waited_is_not_resumed(store: SqliteStore) -> None:
    name = await fresh(store)
    old = await busy(store, name)
    waiting, dropped = old.send("One."), old.send("Two.", client_request_id="r2")
    assert dropped.cancel("No longer.")
    assert not dropped.cancel("Once more.")
    await old.flush()
    log = await log_of(store, name)
    assert [event.data for event in log if isinstance(event.data, ConversationDequeued)] == [
        ConversationDequeued(dropped.id, "No longer.")
    ]
    state = ConversationState()
    for event in log:
        state.feed(event)
    assert state.queued == 1
    new = await Session.open(store, name, after_crash="close", model=model("Done.", "Never."), force=True)
    assert [exchange.id for exchange in new.resumed] == [waiting.id]
    again = new.send("Two.", client_request_id="r2")
    assert again.id == dropped.id
    assert (await again.result()).status == "cancelled"
    await last_of(new)
    await new.close()
    await left(old)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert "Two." not in requests_of(log)


async def test_without_a_crash_the_cancelled_one_has_its_exchange(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await busy(store, name)
    waiting = session.send("One.")
    waiting.cancel()
    await session.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert [e.data.status for e in log if isinstance(e.data, ExchangeResponse)] == ["cancelled", "cancelled"]
    again = await Session.open(store, name, model=model("Hi."))
    assert again.resumed == []
    await again.close()


async def test_accepted_is_stored(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two.", "Three."))
    for number in range(3):
        sent = session.send(f"Request {number}.")
        await session.accepted(sent)
        stored = await log_of(store, name)
        assert any(_speaks_of(event, sent) for event in stored), types_of(stored)
    await session.close()


def _speaks_of(event: Event, exchange: ExchangeInterface) -> bool:
    if isinstance(event.data, ConversationQueued):
        return event.data.request == exchange.id
    return isinstance(event.data, ExchangeRequest) and event.exchange == exchange.id


async def test_what_cannot_be_stored_is_not_accepted(store: SqliteStore) -> None:
    name = await fresh(store)
    is_running = asyncio.Event()

    @heald.tool(effect="none")
    async def hold() -> str:
        """Wait, so that nothing is appended meanwhile."""
        is_running.set()
        await asyncio.Event().wait()
        return ""

    session = await Session.open(store, name, model=model([call("hold")]), tools=[hold])
    session.send("Go on for ever.")
    await asyncio.wait_for(is_running.wait(), 60)
    await session.flush()
    await store.acquire(name, "elsewhere/1/1/x", force=True)
    sent = session.send("One.")
    with pytest.raises(Fenced):
        await session.accepted(sent)
    with pytest.raises(StoreError):
        await sent.result()
    await left(session)


async def test_a_fork_does_not_do_what_waits_in_the_other(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await busy(store, name)
    await session.accepted(session.send("One.", client_request_id="r1"))
    sessions = Sessions(store)
    fork = await sessions.fork(name)
    other = await sessions.open(fork.id, model=model("Mine."))
    assert other.resumed == []
    assert (await other.run("Hello.")).text == "Mine."
    await other.close()
    await session.close()
    log = await log_of(store, fork.id)
    assert check_log(log) == []
    assert "One." not in requests_of(log)


async def test_recover_keeps_what_waits_to_anyone_who_opens_it(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await busy(store, name)
    await session.accepted(session.send("One."))
    log = await log_of(store, name)
    await session.close()
    await store.delete(name)
    sessions = Sessions(store)
    await sessions.create(session=name)
    lease = await store.acquire(name, "x/1/1/x", seconds=0)
    await store.append(lease, log, work="running")
    assert await sessions.recover() == [name]
    assert await sessions.recover() == []
    new = await sessions.open(name, after_crash="close", model=model("Done."))
    assert [exchange.message.text for exchange in new.resumed if isinstance(exchange, Exchange)] == ["One."]
    await last_of(new)
    await new.close()
    assert check_log(await log_of(store, name)) == []
