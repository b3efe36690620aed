"""Opening a session of a SQLite file: one transaction acquires it and reads what its writer begins with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.sessions.acquired_log import SHORT_LOG, acquire_log
from heald.sessions.database_thread import DatabaseThread
from heald.sessions.session import open_acquired
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events, list_delegates
from heald.sessions.store_errors import NoSuchSession, SessionBusy

S = heald.testing.ScriptedModel
SESSION = "ses_1"


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Callable[..., object]]:
    """The jobs that the threads of the database were given."""
    jobs: list[Callable[..., object]] = []
    submit = DatabaseThread.submit

    def count(self: DatabaseThread, job: Callable[..., Any], *, is_synced: bool = True) -> Any:
        jobs.append(job)
        return submit(self, job, is_synced=is_synced)

    monkeypatch.setattr(DatabaseThread, "submit", count)
    return jobs


async def run_once(store: SqliteStore, text: str) -> None:
    session = await Sessions(store).open(SESSION, model=S([text], piece=4))
    await session.run("Go.")
    await session.close()


async def test_opening_a_session_is_one_job(tmp_path: Path, jobs: list[Callable[..., object]]) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    await Sessions(store).create(session=SESSION)
    jobs.clear()
    session = await Sessions(store).open(SESSION, model=S(["Done."]))
    assert len(jobs) == 1
    await session.run("Go.")
    await session.close()
    jobs.clear()
    session = await Sessions(store).open(SESSION, model=S(["Done."]))
    assert len(jobs) == 1
    assert [message.text for message in session.messages] == ["Go.", "Done."]
    await session.close()
    await store.close()


async def test_a_long_log_is_not_read_where_others_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    await Sessions(store).create(session=SESSION)
    await run_once(store, "four" * 2 * SHORT_LOG)
    acquired = await acquire_log(store, SESSION)
    assert acquired.info.last_seq > SHORT_LOG
    assert acquired.events is None
    session = await open_acquired(store, acquired, model=S(["x"]))
    assert [message.text for message in session.messages] == ["Go.", "four" * 2 * SHORT_LOG]
    await session.close()
    await store.close()


async def test_what_is_acquired_is_what_the_store_has(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    await Sessions(store).create(session=SESSION, title="A title")
    await run_once(store, "Done.")
    acquired = await acquire_log(store, SESSION)
    assert acquired.info == await store.info(SESSION)
    assert acquired.info.epoch == acquired.lease.epoch
    assert acquired.events == [event async for event in iterate_events(store, SESSION)]
    assert list(acquired.delegates) == list(await list_delegates(store, SESSION))
    with pytest.raises(SessionBusy):
        await acquire_log(store, SESSION)
    assert (await acquire_log(store, SESSION, force=True)).lease.epoch == acquired.lease.epoch + 1
    with pytest.raises(NoSuchSession):
        await acquire_log(store, "ses_2")
    await store.close()
