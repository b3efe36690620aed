"""The contract of a store, on the stores of heald-core."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from heald.sessions.memory import MemoryStore
from heald.sessions.one_node import OneNodeStore, as_shared
from heald.sessions.shared_store import SharedStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import SessionDirectory, SessionLogs, Store
from store_contract import *  # noqa: F403

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "one node": lambda _: OneNodeStore(MemoryStore()),
    "sqlite": lambda folder: SqliteStore(folder / "sessions.db"),
}


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = STORES[request.param](tmp_path)
    yield made
    await made.close()


def public_methods(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_a_store_is_nine_methods_for_the_log_and_nine_for_the_directory() -> None:
    assert len(public_methods(SessionLogs)) == len(public_methods(SessionDirectory)) == 9
    assert (
        public_methods(MemoryStore)
        == public_methods(Store)
        == public_methods(SessionLogs) | public_methods(SessionDirectory)
    )
    assert len(public_methods(SharedStore) - public_methods(Store)) == 21


async def test_a_store_of_one_process_is_shared_with_nobody(tmp_path: Path) -> None:
    plain, file = MemoryStore(), SqliteStore(tmp_path / "sessions.db")
    assert not isinstance(plain, SharedStore)
    shared = as_shared(plain)
    assert shared is not plain
    assert as_shared(shared) is shared
    assert as_shared(file) is file
    await file.close()
