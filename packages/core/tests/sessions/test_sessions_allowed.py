"""What is allowed for the rest of a session is allowed after a restart: exactly that, and only there."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.events import ApprovalRequested
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_check import check_log
from sessions_bench import call, fresh, log_of, model, types_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


@heald.tool(effect="write")
async def change(what: str, times: int = 1) -> str:
    """Change it."""
    return f"changed {what}"


class Person:
    def __init__(self, answer: heald.Approval) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def decide(self, request: ApprovalRequested) -> heald.Approval:
        self.asked.append(request.summary)
        return self.answer


async def asked(store: SqliteStore, name: str, answer: heald.Approval, *what: str, **options: Any) -> int:
    """How often a person was asked."""
    person = Person(answer)
    calls = [call("change", what=word) for word in what]
    session = await Session.open(
        store, name, model=model(calls, "Done."), tools=[change], on_approval=person.decide, **options
    )
    await session.run("Go.")
    await session.close()
    assert check_log(await log_of(store, name)) == []
    return len(person.asked)


ALWAYS = heald.Approval(True, always=True)
ONCE = heald.Approval(True)


async def test_always_is_in_force_after_a_restart(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    assert await asked(store, name, ALWAYS, "a") == 1
    assert await asked(store, name, ONCE, "a") == 0
    assert await asked(store, name, ONCE, "a", "b") == 1
    assert await asked(store, name, ONCE, "b") == 1, "once is not always"
    assert len((await store.info(name)).settings["always"]) == 1


async def test_several_at_once_are_all_kept(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    assert await asked(store, name, ALWAYS, "a", "b", "c") == 3
    assert await asked(store, name, ALWAYS, "a", "b", "c", "d") == 1
    assert await asked(store, name, ONCE, "d", "c", "b", "a") == 0


async def test_it_is_the_changed_call_that_is_allowed(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    assert await asked(store, name, heald.Approval(True, arguments={"what": "z"}, always=True), "a") == 1
    assert await asked(store, name, ONCE, "z") == 0
    assert await asked(store, name, ONCE, "a") == 1


async def test_arguments_that_do_not_fit_allow_nothing(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    assert await asked(store, name, heald.Approval(True, arguments={"where": "z"}, always=True), "a") == 1
    assert "always" not in (await store.info(name)).settings


async def test_a_rule_that_forbids_is_stronger(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    assert await asked(store, name, ALWAYS, "a") == 1
    await asked(store, name, ALWAYS, "a", permissions=heald.Permissions("ask", ["deny change"]))
    log = await log_of(store, name)
    assert types_of(log).count("tool_executing") == 1


async def test_it_is_not_for_others(store: SqliteStore) -> None:
    """Neither for a fork, nor for an import, nor for sessions that share one Permissions."""
    shared = heald.Permissions("ask")
    name, other = await fresh(store), await fresh(store)
    assert await asked(store, name, ALWAYS, "a", permissions=shared) == 1
    assert await asked(store, name, ONCE, "a", permissions=shared) == 0
    assert await asked(store, other, ONCE, "a", permissions=shared) == 1
    assert shared.always == set()
    fork = await Sessions(store).fork(name)
    assert await asked(store, fork.id, ONCE, "a", permissions=shared) == 1
