"""Rows of the SQLite log that hold runs of deltas: every event comes back as it was, from every cursor."""

import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.envelope import Event
from heald.core.events import InputJsonDelta, MessageStop, TextDelta, ThinkingDelta
from heald.core.payload import Payload
from heald.sessions.event_rows import MAX_RUN, EventRow, RowPacker, RowReader
from heald.sessions.leases import Lease
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import EncodedEvents
from heald.sessions.store_errors import Fenced, StoreCorrupt, StoreError
from sessions_bench import event, leased, log_of

BLOCK = "msg_0123456789abcdef0123.0"
TIME = 1_790_000_000.0


def delta(seq: int, text: str = "12345678", *, block: str = BLOCK, session: str = "ses_a", epoch: int = 1) -> Event:
    made = event(session, seq, TextDelta(0, block, text), epoch=epoch)
    return msgspec.structs.replace(made, time=round(TIME + seq / 50 + seq % 7 / 1e6, 6), exchange="ex_1")


def deltas(first: int, count: int, *, session: str = "ses_a") -> list[Event]:
    return [delta(seq, f"{seq:>8}", session=session) for seq in range(first, first + count)]


async def store_deltas(store: SqliteStore, *appends: tuple[Lease, Sequence[Event]]) -> list[object]:
    """Append groups of deltas at one moment. Returns the outcome of each, as far as it has one."""
    outcomes: list[object] = [None] * len(appends)

    def keep(number: int, _: EncodedEvents, error: Exception | None) -> None:
        outcomes[number] = error or "stored"

    for number, (lease, log) in enumerate(appends):
        store.submit_events(lease, log, partial(keep, number))
    await store.info(appends[0][0].session)
    for _ in range(100):
        await store.rename(appends[0][0].session, "wait")
        if None not in outcomes:
            break
    return outcomes


async def test_a_delta_takes_few_bytes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    leases = [await leased(store, f"ses_{number}") for number in range(10)]
    count = 2000
    for first in range(1, count, 2):
        group = [(lease, deltas(first, 2, session=lease.session)) for lease in leases]
        assert await store_deltas(store, *group) == ["stored"] * 10
    await store.close()
    assert (tmp_path / "s.db").stat().st_size / (10 * count) < 60


async def test_events_come_back_from_every_cursor(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    log = [*deltas(1, 7), event("ses_a", 8, MessageStop("msg_1")), *deltas(9, MAX_RUN + 5)]
    await store.append(lease, log[:4])
    await store.append(lease, log[4:])
    assert await log_of(store, "ses_a") == log
    for after in range(len(log)):
        assert await store.read("ses_a", after=after, limit=3) == log[after : after + 3]
        assert await store.read("ses_a", after=after, upto=after + 2) == log[after : after + 2]
        assert await store.read("ses_a", after=after, upto=after) == []
    await store.close()


_texts = st.text(max_size=20)
_payloads: st.SearchStrategy[Payload] = st.one_of(
    st.builds(TextDelta, st.integers(0, 1), st.sampled_from(["a.0", "a.1"]), _texts),
    st.builds(ThinkingDelta, st.just(0), st.sampled_from(["a.0", "a.1"]), _texts),
    st.builds(InputJsonDelta, st.just(0), st.just("a.0"), _texts),
    st.just(MessageStop("msg_1")),
)


@settings(max_examples=scaled(100))
@given(
    st.lists(
        st.tuples(
            _payloads,
            st.floats(0, 2e9),
            st.sampled_from(["ex_1", None]),
            st.booleans(),
            st.sampled_from(["ses_a-1-", "elsewhere "]),
        ),
        max_size=30,
    )
)
def test_any_log_comes_back_as_it_was(parts: list[tuple[Payload, float, str | None, bool, str]]) -> None:
    packer, rows, log = RowPacker(), list[EventRow](), list[Event]()
    for seq, (payload, time, exchange, cut, name) in enumerate(parts, 1):
        made = event("ses_a", seq, payload)
        log.append(msgspec.structs.replace(made, time=time, exchange=exchange, id=f"{name}{seq}"))
        if cut:
            rows += packer.pack("ses_a", log[rows[-1][0] if rows else 0 :]).rows
    rows += packer.pack("ses_a", log[rows[-1][0] if rows else 0 :]).rows
    by_seq = {row[0]: row for row in rows}
    reader = RowReader(by_seq.get, lambda _: b"")
    assert reader.read(rows, after=0, upto=None, limit=1000) == log


async def test_a_lone_surrogate_in_a_run(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    log = [delta(1), delta(2, "\ud83d"), delta(3, 'a "quoted" line\n')]
    await store.append(lease, log)
    assert await log_of(store, "ses_a") == log
    await store.close()


async def test_one_refused_writer_does_not_stop_the_others_of_its_group(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease_one, lease_two, lease_three = [await leased(store, name) for name in ("ses_1", "ses_2", "ses_3")]
    await store.acquire("ses_2", "another", force=True)
    outcomes = await store_deltas(
        store,
        (lease_one, deltas(1, 2, session="ses_1")),
        (lease_two, deltas(1, 2, session="ses_2")),
        (lease_three, deltas(5, 1, session="ses_3")),  # the log goes on with 1
        (lease_one, deltas(3, 1, session="ses_1")),
    )
    assert outcomes[0] == outcomes[3] == "stored"
    assert isinstance(outcomes[1], Fenced)
    assert isinstance(outcomes[2], StoreError)
    assert await log_of(store, "ses_1") == deltas(1, 3, session="ses_1")
    assert await log_of(store, "ses_2") == await log_of(store, "ses_3") == []
    assert [(await store.info(name)).last_seq for name in ("ses_1", "ses_2", "ses_3")] == [3, 0, 0]
    await store.close()


async def test_a_rolled_back_append_is_no_anchor(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = SqliteStore(path)
    lease = await leased(store)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END")
        (outcome,) = await store_deltas(store, (lease, deltas(1, 3)))
        assert isinstance(outcome, StoreError)
        connection.execute("DROP TRIGGER no")
    connection.close()
    log = [event("ses_a", 1, MessageStop("msg_1")), *deltas(2, 3)]
    await store.append(lease, log)
    assert await log_of(store, "ses_a") == log
    await store.close()


async def test_a_session_that_was_deleted_leaves_no_anchor(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    await store.append(lease, deltas(1, 3))
    await store.delete("ses_a")
    lease = await leased(store)
    log = [event("ses_a", 1, MessageStop("msg_1")), *deltas(2, 3)]
    await store.append(lease, log)
    assert await log_of(store, "ses_a") == log
    await store.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = CAST('[1,20' AS BLOB) WHERE seq = 3",
        "UPDATE events SET body = CAST('[2,20,\"x\"]' AS BLOB) WHERE seq = 3",
        'UPDATE events SET body = CAST(\'[1,"x","x",5,5]\' AS BLOB) WHERE seq = 3',
        "UPDATE events SET body = CAST('[]' AS BLOB) WHERE seq = 3",
        "DELETE FROM events WHERE seq = 1",
        "DELETE FROM events WHERE seq = 3",
    ],
)
async def test_a_damaged_run_is_reported(tmp_path: Path, damage: str) -> None:
    store = SqliteStore(tmp_path / "s.db")
    lease = await leased(store)
    await store.append(lease, deltas(1, 3))
    await store.append(lease, [event("ses_a", 4)])
    with sqlite3.connect(tmp_path / "s.db", isolation_level=None) as connection:
        assert connection.execute(damage).rowcount == 1
    connection.close()
    with pytest.raises(StoreCorrupt, match="damaged at event"):
        await log_of(store, "ses_a")
    await store.close()
