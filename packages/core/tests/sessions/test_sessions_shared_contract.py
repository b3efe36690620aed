"""The contract of a store that nodes share, on the stores of heald-core."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from heald.sessions.memory import MemoryStore
from heald.sessions.one_node import OneNodeStore, as_shared
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.work import Work
from sessions_bench import events
from shared_store_contract import *  # noqa: F403

STORES: dict[str, Callable[[Path], SharedStore]] = {
    "one node": lambda _: OneNodeStore(MemoryStore()),
    "sqlite": lambda folder: SqliteStore(folder / "sessions.db"),
}


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SharedStore]:
    made = STORES[request.param](tmp_path)
    yield made
    await made.close()


async def test_work_of_an_earlier_process_is_claimed_in_a_plain_store() -> None:
    plain = MemoryStore()
    sessions: dict[str, Work] = {"ses_open": "running", "ses_idle": "idle"}
    for name, work in sessions.items():
        await plain.create(SessionInfo(id=name, owner="ann"))
        lease = await plain.acquire(name, "test")
        await plain.append(lease, events(name, 1, 2), work=work)
        await plain.release(lease)
    shared = as_shared(plain)
    assert await shared.count_running("ann") == 1
    assert await shared.claim_work(10) == ["ses_open"]
    await shared.unclaim_work("ses_open", seconds=0.0)
    assert await shared.claim_work(10) == ["ses_open"]
    await shared.unclaim_work("ses_open", forget=True)
    assert (await plain.info("ses_open")).work == "idle"
    assert await shared.claim_work(10) == []
