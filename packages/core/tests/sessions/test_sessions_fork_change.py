"""Forks with a change: where they begin, what they refuse, and who continues them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import heald
from fork_contract import body_of, send, seq_of
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError, InvalidRequest
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    MessageStart,
    SessionForked,
)
from heald.core.messages import ToolResult
from heald.sessions import ForkChange, Session, Sessions, SqliteStore
from heald.sessions.session_comparison import compare_sessions
from heald.testing import ScriptedModel
from heald.tools.workspace.memory import MemoryWorkspace
from heald_check import check_log
from sessions_bench import call, fresh, log_of, look, model


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


async def finish(fork: Session) -> list[Event]:
    """Wait for the exchange of a fork, close it, and return its log."""
    for exchange in fork.resumed:
        await exchange.result()
    await fork.flush()
    log = await log_of(fork._store, fork.session)  # pyright: ignore[reportPrivateUsage]
    await fork.close()
    assert check_log(log) == []
    return log


@pytest.mark.parametrize("changed", ["model", "prompt"])
async def test_a_cancelled_exchange_is_continued_from_before_its_cancellation(store: SqliteStore, changed: str) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=ScriptedModel(["Many words. " * 50], pause=0.01))
    exchange = session.send("Talk.")
    session.subscribe(lambda _: exchange.cancel("Enough."), types=["text_delta"])
    await exchange.result()
    if changed == "prompt":
        fork = await session.fork(change=ForkChange(prompt="Talk less.", model=model("Yes.")))
    else:
        at = seq_of(await log_of(store, name), CancelRequested) + 1
        fork = await session.fork(at, change=ForkChange(model=model("Yes.")))
    after = await finish(fork)
    await session.close()
    assert not [event for event in after if isinstance(event.data, CancelRequested)]
    assert isinstance(after[-1].data, ExchangeResponse)
    assert after[-1].data.status == "completed"


async def test_a_failed_exchange_is_asked_of_another_model(store: SqliteStore) -> None:
    name = await fresh(store)
    broken = model([ScriptedModel.fail(InvalidRequest("No."))])
    session = await Session.open(store, name, model=broken)
    with pytest.raises(InvalidRequest):
        await session.run("Talk.")
    at = seq_of(await log_of(store, name), ErrorOccurred)
    answer = model("Yes.")
    after = await finish(await session.fork(at, change=ForkChange(model=answer)))
    await session.close()
    assert len(answer.requests) == 1
    assert [event.data.status for event in after if isinstance(event.data, ExchangeResponse)] == ["completed"]


async def test_a_running_session_is_forked_while_it_waits(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    session = await Session.open(store, name, model=model(call("send", text="a"), "Sent."), tools=[send])
    asked = asyncio.Event()
    session.subscribe(lambda _: asked.set(), types=["approval_requested"])
    exchange = session.send("Go.")
    await asked.wait()
    fork = await session.fork(change=ForkChange(approval=False, model=model("I did not.")))
    after = await finish(fork)
    assert [event.data.status for event in after if isinstance(event.data, ToolResult)] == ["denied"]
    session.approve(session.approvals[0].approval, by="Anna")
    assert (await exchange.result()).text == "Sent."
    await session.close()


async def test_another_process_continues_a_fork_also_where_crashes_are_closed(store: SqliteStore) -> None:
    name = await fresh(store, model="scripted/model")
    session = await Session.open(store, name, model=model(call("look", n=1), "One."), tools=[look])
    await session.run("Go.")
    await session.close()
    at = seq_of(await log_of(store, name), ToolResult)
    fork = await Sessions(store).fork(name, at, change=ForkChange(result="two"))
    assert fork.work == "running"
    assert await Sessions(store).recover() == []  # no process has crashed
    again = await Session.open(store, fork.id, model=model("Two."), tools=[look], after_crash="close")
    after = await finish(again)
    assert isinstance(after[-1].data, ExchangeResponse)
    assert after[-1].data.status == "completed"


async def test_files_of_a_fork_are_those_of_its_event(store: SqliteStore) -> None:
    name = await fresh(store)
    files = MemoryWorkspace({"kept.txt": "kept", "edited.txt": "before"})
    turns = [call("write_file", path="new.txt", content="new"), call("read_file", path="edited.txt")]
    last = [call("write_file", path="edited.txt", content="after"), "Done."]
    session = await Session.open(store, name, model=model(*turns, last[0], last[1]), tools=["files"], workspace=files)
    await session.run("Go.")
    at = seq_of(await log_of(store, name), MessageStart, 2)
    fork = await session.fork(at, change=ForkChange(model=model("Nothing more.")))
    await finish(fork)
    assert fork.workspace.files() == {"kept.txt": "kept", "edited.txt": "before", "new.txt": "new"}
    assert files.files()["edited.txt"] == "after"
    await session.close()


async def test_a_fork_of_a_fork_and_what_they_share(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model(call("look", n=1), "One."), tools=[look])
    await session.run("Go.")
    at = seq_of(await log_of(store, name), ToolResult)
    first = await session.fork(at, change=ForkChange(result="two", model=model("Two.")))
    await asyncio.gather(*(exchange.result() for exchange in first.resumed))
    forked = await log_of(store, first.session)
    second = await first.fork(change=ForkChange(prompt="Again?", model=model("Three.")))
    after = await finish(second)
    comparison = await compare_sessions(store, name, first.session)
    point = next(event.data for event in forked if isinstance(event.data, SessionForked))
    assert comparison.shared == point.seq
    assert (comparison.left.answer, comparison.right.answer) == ("One.", "Two.")
    assert comparison.right.fork == point
    assert (await compare_sessions(store, name, second.session)).shared == seq_of(forked, ExchangeRequest) - 1
    same = await compare_sessions(store, name, name)
    assert same.shared == len(await log_of(store, name))
    assert same.left.events == 0
    shared = seq_of(forked, ExchangeRequest) - 1
    assert [body_of(event) for event in after[:shared]] == [body_of(event) for event in forked[:shared]]
    await first.close()
    await session.close()


async def test_a_change_that_does_not_fit_is_refused_in_a_sentence(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model(call("look", n=1), "One."), tools=[look])
    await session.run("Go.")
    log = await log_of(store, name)
    result = seq_of(log, ToolResult)
    sessions = Sessions(store)
    with pytest.raises(HealdError, match="The event 1 belongs to no call"):
        await sessions.fork(name, 1, change=ForkChange(result="?"))
    with pytest.raises(HealdError, match="The log has no call 'call_x' up to event"):
        await sessions.fork(name, result, change=ForkChange(result="?", call="call_x"))
    with pytest.raises(HealdError, match=r"No approval of the call .* was requested"):
        await sessions.fork(name, result, change=ForkChange(approval=True))
    with pytest.raises(HealdError, match="there is no 9999 to fork at"):
        await sessions.fork(name, 9999, change=ForkChange())
    with pytest.raises(ConfigurationError, match="A stored session names its model"):
        await sessions.fork(name, 1, change=ForkChange(model=model()))
    with pytest.raises(ConfigurationError, match="prompt and result exclude each other"):
        ForkChange(prompt="a", result="b")
    with pytest.raises(ConfigurationError, match="give result= too"):
        ForkChange(is_error=True)
    with pytest.raises(ConfigurationError, match="call names the call"):
        ForkChange(model="a/b", call="call_x")
    assert len((await sessions.list()).sessions) == 1  # nothing was left behind
    await session.close()


async def test_who_decided_is_in_the_log(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")
    turns = model(call("send", text="a"), call("send", text="b"), "Done.")
    session = await Session.open(store, name, model=turns, tools=[send])

    def decide(event: Event) -> None:
        assert isinstance(event.data, ApprovalRequested)
        if event.data.input == {"text": "a"}:
            session.approve(event.data.approval, by="Anna")
        else:
            session.deny(event.data.approval, "No.", by="terminal")

    session.subscribe(decide, types=["approval_requested"])
    await session.run("Go.")
    await session.close()
    resolved = [event.data for event in await log_of(store, name) if isinstance(event.data, ApprovalResolved)]
    assert [(decision.decision, decision.by) for decision in resolved] == [("allowed", "Anna"), ("denied", "terminal")]


def test_a_program_decides_without_a_name() -> None:
    assert heald.Approval(True).by == ""
