"""The open sessions of a server: opening one with what its caller has read of it, and counting those that work."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.errors import ConfigurationError
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald.sessions.store_errors import NoSuchSession
from heald_server.open_sessions import OpenSessions

SESSION = "ses_1"


def open_sessions(store: Store, refused: Sequence[str] = ()) -> OpenSessions:
    """Open sessions whose instructions are those of their settings. Settings with refused instructions fail."""

    async def options(_: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
        if settings.instructions in refused:
            raise ConfigurationError("No such instructions.")
        return {"model": heald.testing.ScriptedModel(["x"] * 9, pause=0.05), "instructions": settings.instructions}

    return OpenSessions(Sessions(store), options)


async def configured(store: Store, instructions: str) -> SessionInfo:
    """Store the instructions of the session. Returns the session."""
    await store.configure(SESSION, SessionSettings(instructions=instructions).data())
    return await store.info(SESSION)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "sessions.db")
    await opened.create(SessionInfo(id=SESSION))
    yield opened
    await opened.close()


async def test_a_session_that_was_changed_after_it_was_looked_up_opens_as_it_is_now(store: Store) -> None:
    sessions = open_sessions(store)
    info = await configured(store, "Old.")
    await configured(store, "New.")
    async with sessions.use(info) as session:
        assert session.settings.system == "New."
    await sessions.close(0.0)


async def test_what_is_refused_now_is_refused_and_the_session_stays_free(store: Store) -> None:
    sessions = open_sessions(store, refused=["New."])
    info = await configured(store, "Old.")
    await configured(store, "New.")
    with pytest.raises(ConfigurationError):
        async with sessions.use(info):
            pass
    lease = await store.acquire(SESSION, "another")  # nobody holds it
    await store.release(lease)
    assert sessions.count == 0


async def test_what_was_refused_then_and_is_not_now_opens(store: Store) -> None:
    sessions = open_sessions(store, refused=["Old."])
    info = await configured(store, "Old.")
    with pytest.raises(ConfigurationError):
        async with sessions.use(info):
            pass
    await configured(store, "New.")
    async with sessions.use(info) as session:
        assert session.settings.system == "New."
    await sessions.close(0.0)


async def test_a_session_that_was_deleted_after_it_was_looked_up_does_not_open(store: Store) -> None:
    sessions = open_sessions(store)
    info = await store.info(SESSION)
    await store.delete(SESSION)
    with pytest.raises(NoSuchSession):
        async with sessions.use(info):
            pass
    assert sessions.count == 0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_session_counts_as_busy_until_its_last_request_is_answered(store: Store) -> None:
    sessions = open_sessions(store)
    async with sessions.use(await store.info(SESSION)) as session:
        exchanges = [session.send("One."), session.send("Two.")]
        sessions.count_running(session)
        assert sessions.busy == 1
    for exchange in exchanges:
        assert sessions.busy == 1
        await exchange.result()
    await until(lambda: sessions.busy == 0)
    async with sessions.use(await store.info(SESSION)) as session:
        session.send("Three.")
    assert sessions.busy == 1
    await sessions.close(5.0)
    assert sessions.busy == 0


async def test_counting_those_that_are_busy_looks_at_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with many sessions counts them whenever a request starts."""
    memory = MemoryStore()
    sessions = open_sessions(memory)
    for number in range(20):
        await memory.create(info := SessionInfo(id=f"ses_{number}"))
        async with sessions.use(info):
            pass
    looks: list[Agent[Any]] = []
    current = Agent.current.fget
    assert current is not None

    def look(agent: Agent[Any]) -> object:
        looks.append(agent)
        return current(agent)

    monkeypatch.setattr(Session, "current", property(look))
    assert sessions.busy == 0
    assert looks == []
    await sessions.close(0.0)
