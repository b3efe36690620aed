"""A compaction is an event of the log: it holds after a restart, and can be undone and rewound."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from heald.core.context_events import ConversationCompacted
from heald.core.errors import HealdError
from heald.core.messages import Message
from heald.sessions.session import Session
from heald.sessions.sqlite import SqliteStore
from heald_check import check_log
from sessions_bench import fresh, log_of, model

LONG = "and so on " * 60


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", patience=0.2)
    yield store
    await store.close()


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


async def filled(store: SqliteStore, name: str, *more: str) -> Session:
    session = await Session.open(store, name, model=model(*(f"Yes {n}. {LONG}" for n in range(6)), *more))
    for number in range(6):
        await session.run(f"Request {number}. {LONG}")
    return session


async def test_a_summary_replaces_the_beginning_and_holds_after_a_restart(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await filled(store, name, "Facts: there were requests.", "Fine.")
    before = session.messages
    compaction = await session.compact()
    assert compaction is not None
    assert (compaction.reason, compaction.written_by) == ("requested", "model")
    assert compaction.tokens_after < compaction.tokens_before
    assert "Facts: there were requests." in session.messages[0].text
    assert session.messages[1:] == before[compaction.removed :]
    await session.run("And now?")
    now = session.messages
    await session.close()
    again = await Session.open(store, name, model=model())
    assert again.messages == now
    await again.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert [event.exchange for event in log if isinstance(event.data, ConversationCompacted)] == [None]


async def test_it_can_be_undone(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await filled(store, name, "A summary.", "Fine.")
    before = session.messages
    assert await session.compact() is not None
    await session.run("And now?")
    assert await session.undo_compaction()
    assert texts(session.messages) == [*texts(before), "And now?", "Fine."]
    assert not await session.undo_compaction()
    now = session.messages
    await session.close()
    again = await Session.open(store, name, model=model())
    assert again.messages == now
    await again.close()
    assert check_log(await log_of(store, name)) == []


async def test_a_rewind_to_before_it_has_every_message(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await filled(store, name, "A summary.", "Fine.")
    mark, before = session.last_seq, session.messages
    await session.compact()
    compacted, then = session.last_seq, session.messages
    await session.run("And now?")
    await session.rewind(mark)
    assert session.messages == before
    await session.rewind(compacted)
    assert session.messages == then
    await session.close()
    assert check_log(await log_of(store, name)) == []


async def test_nothing_is_compacted_while_an_exchange_runs(store: SqliteStore) -> None:
    session = await filled(store, await fresh(store), "Fine.")
    exchange = session.send("Go.")
    with pytest.raises(HealdError, match="An exchange runs"):
        await session.compact()
    await exchange.result()
    await session.close()
