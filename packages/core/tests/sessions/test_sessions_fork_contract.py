"""The contract of forks and signed exports, on the stores of heald-core."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import pytest

from example_counts import IS_LONG
from fork_contract import *  # noqa: F403
from fork_contract import fork_random_event
from heald.sessions.memory import MemoryStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "sessions.db", durable=False),
}
SESSIONS = 100 if IS_LONG else 40


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = STORES[request.param](tmp_path)
    yield made
    await made.close()


async def test_many_sessions_fork_at_a_random_event(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db", durable=False)
    random = Random(35)
    kinds: Counter[str] = Counter()
    while kinds.total() - kinds["refused"] < SESSIONS:  # a change of a call is refused where there is none
        kinds[await fork_random_event(store, random)] += 1
    await store.close()
    assert kinds.keys() >= {"prompt", "model", "result", "approval", "again"}
    assert kinds["refused"] < SESSIONS / 2
