"""Going back: the log says so, and whoever reads it has the conversation that the writer had."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heald
from heald.agent.bus import EventBus
from heald.agent.state import ConversationState
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ExchangeRequest, ExchangeResponse, SessionRewound, UserMessage
from heald.core.messages import Message, user_message
from heald.core.turn import Usage
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_check import check_log
from sessions_bench import fresh, log_of, model, types_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def folded(log: list[Event]) -> ConversationState:
    state = ConversationState()
    for event in log:
        state.feed(event)
    return state


async def test_the_log_states_it_and_nothing_else_does(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two."))
    await session.run("First.")
    mark = session.last_seq
    await session.run("Second.")
    heard: list[Event] = []
    session.subscribe(heard.append)
    await session.rewind(mark)
    assert [(event.data, event.exchange) for event in heard] == [(SessionRewound(mark), None)]
    assert (await log_of(store, name))[-1] == heard[0]
    await session.close()
    assert "dropped" not in (await store.info(name)).settings


async def test_a_rewind_can_be_withdrawn(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two.", "Three."))
    await session.run("First.")
    after_first = session.last_seq
    await session.run("Second.")
    two = session.last_seq
    await session.rewind(after_first)
    await session.run("Third.")
    await session.rewind(two)
    now = ["First.", "One.", "Second.", "Two."]
    assert texts(session.messages) == now
    await session.rewind(after_first + 0)
    await session.rewind(two + 1)  # right behind the first rewind
    assert texts(session.messages) == ["First.", "One."]
    await session.rewind(two)
    await session.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert texts(folded(log).messages) == now
    again = await Session.open(store, name, model=model("Four."))
    assert texts(again.messages) == now
    await again.close()


@given(st.lists(st.one_of(st.just(-1), st.integers(0, 30)), min_size=1, max_size=14))
@settings(deadline=None)
def test_the_fold_is_what_it_was(steps: list[int]) -> None:
    """Random exchanges (-1) and rewinds to any place between them."""
    bus, log = EventBus("ses"), list[Event]()
    bus.subscribe(log.append)
    state = ConversationState(history=[user_message("Long ago.")])
    bus.subscribe(state.feed)
    messages_at: dict[int, list[Message]] = {0: list(state.messages)}
    for number, step in enumerate(steps):
        if step < 0:
            bus.exchange = f"ex_{number}"
            message = user_message(f"Request {number}.")
            bus.publish(ExchangeRequest(message))
            bus.publish(UserMessage(message))
            bus.publish(ExchangeResponse("completed", "end_turn", 1.0, 0, Usage(), 0.0))
            bus.exchange = None
        else:
            to = list(messages_at)[step % len(messages_at)]
            bus.publish(SessionRewound(to))
            assert state.messages == messages_at[to]
        messages_at[bus.seq] = list(state.messages)
    assert check_log(log) == []


async def test_what_a_client_brought_along_stays(store: SqliteStore) -> None:
    name = await fresh(store, history=[user_message("Long ago.")])
    session = await Session.open(store, name, model=model("One.", "Two."))
    await session.run("First.")
    await session.reset()
    assert texts(session.messages) == ["Long ago."]
    await session.run("Anew.")
    await session.close()
    again = await Session.open(store, name, model=model("Three."))
    assert texts(again.messages) == ["Long ago.", "Anew.", "Two."]
    await again.close()


async def test_a_session_of_before_still_omits_what_it_left_out(store: SqliteStore) -> None:
    """It was rewound when its settings said what was dropped."""
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two.", "Three."))
    await session.run("First.")
    after_first = session.last_seq
    await session.run("Second.")
    after_second = session.last_seq
    await session.run("Third.")
    await session.close()
    await store.configure(name, {"dropped": [[after_first, after_second]]})
    again = await Session.open(store, name, model=model("Four."))
    assert texts(again.messages) == ["First.", "One.", "Third.", "Three."]
    end = again.last_seq
    await again.run("Fourth.")
    await again.rewind(end)
    assert texts(again.messages) == ["First.", "One.", "Third.", "Three."]
    await again.close()
    sessions = Sessions(store)
    fork = await sessions.fork(name)
    copy = await sessions.import_from(io.BytesIO(b"".join([line async for line in sessions.export(name)])))
    for session_id in (fork.id, copy.id):
        last = await Session.open(store, session_id, model=model("Five."))
        assert texts(last.messages) == ["First.", "One.", "Third.", "Three."]
        await last.close()


async def test_copies_go_back_as_well(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two.", "Three."))
    await session.run("First.")
    after_first = session.last_seq
    await session.run("Second.")
    await session.rewind(after_first)
    await session.run("Third.")
    expected, end = texts(session.messages), session.last_seq
    await session.close()
    sessions = Sessions(store)
    archive = b"".join([line async for line in sessions.export(name)])
    for session_id in ((await sessions.fork(name)).id, (await sessions.import_from(io.BytesIO(archive))).id):
        copy = await Session.open(store, session_id, model=model("Four."))
        assert (texts(copy.messages), copy.last_seq) == (expected, end)
        await copy.close()
        assert check_log(await log_of(store, session_id)) == []


async def test_an_exchange_that_begins_meanwhile_is_not_cut(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=heald.testing.ScriptedModel(["One.", "word " * 5000], pause=0.002))
    await session.run("First.")
    going = asyncio.ensure_future(session.rewind(0))
    await asyncio.sleep(0)
    exchange = session.send("Second.")
    with pytest.raises(HealdError, match="exchange runs"):
        await going
    exchange.cancel()
    await exchange.result()
    assert texts(session.messages)[:3] == ["First.", "One.", "Second."]
    await session.close()
    assert "session_rewound" not in types_of(await log_of(store, name))
