"""Calls that had started when their writer died: an idempotent one is run again, all others are left alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, ToolExecuting
from heald.core.messages import ToolResult
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import Fenced
from heald.sessions.unfinished_exchange import MAX_ATTEMPTS
from heald_check import check_log
from sessions_bench import call, fresh, log_of, model, types_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


class Desk:
    """Tools that hang at first, and note under which key they were run."""

    def __init__(self) -> None:
        self.hangs = True
        self.keys: list[tuple[str, str]] = []

    async def run(self, name: str, ctx: heald.ToolContext) -> str:
        self.keys.append((name, ctx.call.id))
        if self.hangs:
            await asyncio.sleep(3600)
        return f"{name} done"

    def tools(self) -> list[heald.Tool]:
        @heald.tool(effect="network", idempotent=True)
        async def pay(amount: int, ctx: heald.ToolContext) -> str:
            """Pay, once for each key."""
            return await self.run(f"pay {amount}", ctx)

        @heald.tool(effect="network")
        async def post(ctx: heald.ToolContext) -> str:
            """Post."""
            return await self.run("post", ctx)

        return [pay, post]


async def started(session: Session, calls: int) -> None:
    """Wait until that many calls have started, and that is stored."""
    session.send("Go.")
    while len([e for e in await log_of(session._store, session.session) if e.type == "tool_executing"]) < calls:  # pyright: ignore[reportPrivateUsage]  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def broken_off(store: SqliteStore, name: str, desk: Desk, *calls: Any, **options: Any) -> Session:
    """A session whose calls all run and do not end."""
    session = await Session.open(store, name, model=model(list(calls), "Done."), tools=desk.tools(), **options)
    await started(session, len(calls))
    desk.hangs = False
    return session


async def left(session: Session) -> None:
    with suppress(Fenced):
        await session.close()


def results_of(log: list[Event]) -> dict[str, tuple[str, str]]:
    return {
        event.data.name: (event.data.status, event.data.text) for event in log if isinstance(event.data, ToolResult)
    }


def attempts_of(log: list[Event], name: str) -> list[int]:
    return [event.data.attempt for event in log if isinstance(event.data, ToolExecuting) and event.data.name == name]


async def test_an_idempotent_call_is_rerun_under_its_key(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("pay", amount=3), call("post"))
    new = await Session.open(store, name, after_crash="close", model=model("I see."), tools=desk.tools(), force=True)
    log = await log_of(store, name)
    assert check_log(log) == []
    first, second = [key for tool, key in desk.keys if tool == "pay 3"]
    assert first == second
    assert len([tool for tool, _ in desk.keys if tool == "post"]) == 1
    assert results_of(log)["pay"] == ("ok", "pay 3 done")
    assert results_of(log)["post"][0] == "interrupted"
    assert (attempts_of(log, "pay"), attempts_of(log, "post")) == ([1, 2], [1])
    assert isinstance(log[-1].data, ExchangeResponse)
    assert log[-1].data.status == "failed"
    told = [block for block in new.messages[-1].content if isinstance(block, ToolResult)]
    assert [(result.name, result.status) for result in told] == [("pay", "ok"), ("post", "interrupted")]
    assert (await new.run("And?")).text == "I see."
    await new.close()
    await left(old)


async def test_its_second_start_is_stored_before_it_runs(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("pay", amount=3))
    stored: list[list[int]] = []

    @heald.tool(effect="network", idempotent=True)
    async def pay(amount: int) -> str:
        """Pay."""
        stored.append(attempts_of(await log_of(store, name), "pay"))
        return "paid"

    new = await Session.open(store, name, after_crash="close", model=model("I see."), tools=[pay], force=True)
    assert stored == [[1, 2]]
    await new.close()
    await left(old)


async def test_one_that_fails_twice_has_its_own_error(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("pay", amount=3))

    @heald.tool(effect="network", idempotent=True)
    async def pay(amount: int) -> str:
        """Pay."""
        raise heald.ToolFault("The till is closed.")

    new = await Session.open(store, name, after_crash="close", model=model("I see."), tools=[pay], force=True)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert results_of(log)["pay"] == ("error", "The till is closed.")
    await new.close()
    await left(old)


@pytest.mark.parametrize("why", ["gone", "no longer idempotent", "forbidden", "to be asked", "cancelled"])
async def test_one_that_may_not_run_is_interrupted(store: SqliteStore, why: str) -> None:
    name, desk = await fresh(store), Desk()
    options: dict[str, Any] = {"tools": desk.tools()}

    @heald.tool(effect="network")
    async def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    match why:
        case "gone":
            options["tools"] = []
        case "no longer idempotent":
            options["tools"] = [pay]
        case "forbidden":
            options["permissions"] = heald.Permissions("auto", ["deny pay"])
        case "to be asked":
            options["permissions"] = "ask"
        case _:
            pass
    old = await broken_off(store, name, desk, call("pay", amount=3))
    if why == "cancelled":
        log = await log_of(store, name)
        old.cancel()
        while "cancel_requested" not in types_of(log):
            log = await log_of(store, name)
        cut = types_of(log).index("cancel_requested") + 1
        await left(old)
        await store.delete(name)
        await Sessions(store).create(session=name)
        await store.append(await store.acquire(name, "x/1/1/x", seconds=0), log[:cut])
    new = await Session.open(store, name, after_crash="close", model=model("I see."), force=True, **options)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert results_of(log)["pay"][0] == "interrupted"
    assert len(desk.keys) == 1
    await new.close()
    await left(old)


async def test_one_that_is_idempotent_only_since_then_is_interrupted(store: SqliteStore) -> None:
    """Whether it took effect by the rules of before is not known to the tool of today."""
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("post"))

    @heald.tool(effect="network", idempotent=True)
    async def post() -> str:
        """Post."""
        raise AssertionError("run again")

    new = await Session.open(store, name, after_crash="close", model=model("I see."), tools=[post], force=True)
    assert results_of(await log_of(store, name))["post"][0] == "interrupted"
    await new.close()
    await left(old)


async def test_one_that_was_allowed_need_not_be_repeated_and_keeps_its_arguments(store: SqliteStore) -> None:
    name, desk = await fresh(store, permissions="ask"), Desk()

    async def cheaper(_: object) -> heald.Approval:
        return heald.Approval(True, arguments={"amount": 1})

    async def never(_: object) -> bool:
        raise AssertionError("asked again")

    old = await broken_off(store, name, desk, call("pay", amount=3), on_approval=cheaper)
    new = await Session.open(
        store,
        name,
        after_crash="close",
        model=model([call("pay", amount=1)]),
        tools=desk.tools(),
        force=True,
        on_approval=never,
    )
    log = await log_of(store, name)
    assert check_log(log) == []
    assert [tool for tool, _ in desk.keys] == ["pay 1", "pay 1"]
    status, said = results_of(log)["pay"]
    assert (status, said.endswith("pay 1 done")) == ("ok", True)
    assert 'The user changed the arguments to {"amount":1}' in said
    assert new.permissions.always == set()  # it was allowed once, and once more only for this
    await new.close()
    await left(old)


async def test_one_that_brings_every_process_down_is_given_up(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    writers = [await broken_off(store, name, desk, call("pay", amount=3))]
    opening: list[asyncio.Task[Session]] = []
    for attempt in range(2, MAX_ATTEMPTS + 1):
        desk.hangs = True
        task = asyncio.ensure_future(
            Session.open(store, name, after_crash="close", model=model("I see."), tools=desk.tools(), force=True)
        )
        opening.append(task)
        while attempts_of(await log_of(store, name), "pay")[-1] < attempt:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    desk.hangs = False
    last = await Session.open(store, name, after_crash="close", model=model("I see."), tools=desk.tools(), force=True)
    log = await log_of(store, name)
    assert check_log(log) == []
    assert attempts_of(log, "pay") == list(range(1, MAX_ATTEMPTS + 1))
    assert results_of(log)["pay"][0] == "interrupted"
    await last.close()
    for task in opening:
        task.cancel()
    assert all(isinstance(end, BaseException) for end in await asyncio.gather(*opening, return_exceptions=True))
    await left(writers[0])


async def test_recover_keeps_it_to_anyone_who_has_the_tools(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("pay", amount=3))
    log = await log_of(store, name)
    await left(old)
    await store.delete(name)
    sessions = Sessions(store)
    await sessions.create(session=name)
    await store.append(await store.acquire(name, "x/1/1/x", seconds=0), log)
    assert await sessions.recover() == []
    new = await sessions.open(name, after_crash="close", model=model("I see."), tools=desk.tools())
    assert results_of(await log_of(store, name))["pay"][0] == "ok"
    await new.close()


async def test_a_fork_runs_nothing_a_second_time(store: SqliteStore) -> None:
    name, desk = await fresh(store), Desk()
    old = await broken_off(store, name, desk, call("pay", amount=3))
    fork = await Sessions(store).fork(name)
    log = await log_of(store, fork.id)
    assert check_log(log) == []
    assert results_of(log)["pay"][0] == "interrupted"
    assert len(desk.keys) == 1
    await old.close()
