"""The pace of a node's commits."""

import asyncio

from heald.core.events import TextDelta
from heald_nodes.postgres.commit_pace import BURST, FEW_SESSIONS, PAUSE, CommitPace
from heald_nodes.postgres.store import PostgresStore
from sessions_bench import event, events, leased, log_of


def test_deltas_wait_for_a_pause_after_the_last_commit() -> None:
    pace = CommitPace()
    assert pace.seconds_left(100.0, deltas_only=True) <= 0
    pace.begin(100.0)
    assert pace.seconds_left(100.01, deltas_only=True) > 0
    assert pace.seconds_left(100.0 + PAUSE, deltas_only=True) <= 1e-9


def test_other_events_never_wait_while_few_sessions_stream() -> None:
    pace = CommitPace()
    for session in range(FEW_SESSIONS):
        pace.count(f"ses_{session}", 100.0)
    for _ in range(1000):
        assert pace.seconds_left(100.0, deltas_only=False) <= 0
        pace.begin(100.0)


def test_other_events_keep_the_pace_while_many_sessions_stream() -> None:
    pace = CommitPace()
    now, commits = 100.0, 0
    while now < 110.0:
        for session in range(FEW_SESSIONS + 1):
            pace.count(f"ses_{session}", now)
        if pace.seconds_left(now, deltas_only=False) <= 0:
            pace.begin(now)
            commits += 1
        now += 0.001
    assert 10 / PAUSE - 10 <= commits <= 10 / PAUSE + BURST + 1


def test_a_node_that_was_quiet_has_no_pace() -> None:
    pace = CommitPace()
    for session in range(FEW_SESSIONS + 1):
        pace.count(f"ses_{session}", 100.0)
    for _ in range(100):
        pace.begin(100.0)
    assert pace.seconds_left(100.0, deltas_only=False) > 0
    assert pace.seconds_left(110.0, deltas_only=False) <= 0


async def test_an_event_that_cannot_wait_takes_waiting_deltas_along(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    try:
        leases = [await leased(store, f"ses_{number}") for number in range(3)]
        done: list[str] = []
        for lease in leases[:2]:
            deltas = [event(lease.session, 1, TextDelta(0, "msg_a.0", "text"))]
            store.submit_deltas(lease, deltas, lambda _, error, name=lease.session: done.append(f"{name} {error}"))
        await store.append(leases[2], events("ses_2", 1, 1))
        async with asyncio.timeout(60):
            while len(done) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert sorted(done) == ["ses_0 None", "ses_1 None"]
        assert store.commits == 1
        assert [len(await log_of(store, lease.session)) for lease in leases] == [1, 1, 1]
    finally:
        await store.close()
