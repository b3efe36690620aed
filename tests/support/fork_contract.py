"""The contract of forks and of signed exports, on any store.

The suite of each store runs them under a fixture `store`. A fork with a change has the log of its session up to the
event before the change, byte by byte, and nobody asks a model before it is opened.
"""

import asyncio
import io
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec

import heald
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ExchangeRequest,
    ExchangeResponse,
    MessageStart,
    SessionForked,
    ToolExecuting,
)
from heald.core.json import encode
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.sessions import ForkChange, Session, Sessions
from heald.sessions.fork_point import call_of
from heald.sessions.signed_archive import signed_lines, verify_archive
from heald.sessions.signing_key import read_or_create_key
from heald.sessions.store import Store
from heald.testing import ScriptedModel
from heald_check import check_log
from sessions_bench import call, log_of, look, model

__all__ = [
    "test_a_call_that_ran_at_the_event_keeps_its_recorded_result",
    "test_a_changed_approval_runs_or_refuses_the_call",
    "test_a_changed_model_is_asked_for_the_turn_of_the_event",
    "test_a_changed_prompt_runs_the_exchange_anew",
    "test_a_changed_result_is_what_the_next_turn_sees",
    "test_a_fork_of_a_random_event_shares_its_prefix_and_asks_no_model_before_it",
    "test_a_signed_export_of_a_fork_is_valid",
]

PROMPTS = ("What do you see?", "Write it down.", "And now?")


@heald.tool(effect="write")
async def send(text: str) -> str:
    """Send a text."""
    return f"sent {text}"


def allow(_: ApprovalRequested) -> bool:
    return True


def body_of(event: Event) -> bytes:
    """An event without what names its session: that is all in which a fork may differ."""
    prefix = f"{event.session}-"
    assert event.id.startswith(prefix)
    return encode(msgspec.structs.replace(event, session="", id=event.id.removeprefix(prefix)))


def seq_of(log: Sequence[Event], kind: type[Payload], nth: int = 0) -> int:
    return [event.seq for event in log if isinstance(event.data, kind)][nth]


async def shared_events(store: Store, session: str, fork: str) -> int:
    """The number of events that are byte-equal, which must be all up to the fork point."""
    info = await store.info(fork)
    assert info.parent == session
    assert info.parent_seq is not None
    source, copy = await log_of(store, session), await log_of(store, fork)
    assert [body_of(event) for event in copy[: info.parent_seq]] == [
        body_of(event) for event in source[: info.parent_seq]
    ]
    return info.parent_seq


async def asked_session(store: Store, *, turns: Sequence[object], decide: bool = True, prompts: int = 1) -> str:
    """A stored session with the tools `look` and `send`, the second of which needs an approval."""
    name = (await Sessions(store).create(tools=["files"], permissions="ask")).id
    session = await Session.open(
        store,
        name,
        model=model(*turns),
        tools=[look, send, "files"],
        permissions="ask",
        on_approval=lambda _: heald.Approval(decide, by="Anna"),  # pyright: ignore[reportUnknownLambdaType]
    )
    for prompt in PROMPTS[:prompts]:
        await session.run(prompt)
    await session.close()
    return name


async def continued(store: Store, fork: str, answer: ScriptedModel) -> list[Event]:
    """The log of a fork that was opened and continued to its end. All decisions of it are made already."""
    session = await Session.open(
        store, fork, model=answer, tools=[look, send, "files"], permissions="ask", on_approval=allow
    )
    for exchange in session.resumed:
        await exchange.result()
    await session.close()
    log = await log_of(store, fork)
    assert check_log(log) == []
    return log


async def test_a_changed_result_is_what_the_next_turn_sees(store: Store) -> None:
    name = await asked_session(store, turns=[call("look", n=1), "One."])
    log = await log_of(store, name)
    at = seq_of(log, ToolResult)
    fork = await Sessions(store).fork(name, at, change=ForkChange(result="saw a lion"), by="Anna")
    assert await shared_events(store, name, fork.id) < at
    forked = (await log_of(store, fork.id))[fork.parent_seq or 0].data
    called = next(event.data for event in log if isinstance(event.data, ToolCall))
    assert forked == SessionForked(name, fork.parent_seq or 0, ["result"], called.id, by="Anna")
    answer = model("A lion!")
    after = await continued(store, fork.id, answer)
    assert [block.text for block in answer.requests[0].messages[-1].content if isinstance(block, ToolResult)] == [
        "saw a lion"
    ]
    assert isinstance(after[-1].data, ExchangeResponse)
    assert after[-1].data.status == "completed"
    assert after[-1].exchange == log[-1].exchange
    failed = await Sessions(store).fork(name, at, change=ForkChange(result="no eyes", is_error=True))
    answer = model("Blind.")
    await continued(store, failed.id, answer)
    assert [block.status for block in answer.requests[0].messages[-1].content if isinstance(block, ToolResult)] == [
        "error"
    ]


async def test_a_changed_approval_runs_or_refuses_the_call(store: Store) -> None:
    name = await asked_session(store, turns=[call("send", text="hello"), "Sent."])
    log = await log_of(store, name)
    assert next(event.data for event in log if isinstance(event.data, ApprovalResolved)).by == "Anna"
    for kind in (ApprovalRequested, ApprovalResolved, ToolExecuting, ToolResult):
        change = ForkChange(approval=heald.Approval(False, "Not today."))
        fork = await Sessions(store).fork(name, seq_of(log, kind), change=change, by="Ben")
        assert await shared_events(store, name, fork.id) == seq_of(log, ApprovalRequested)
        answer = model("I did not send it.")
        after = await continued(store, fork.id, answer)
        assert not [event for event in after if isinstance(event.data, ToolExecuting)]
        assert [event.data.by for event in after if isinstance(event.data, ApprovalResolved)] == ["Ben"]
        results = [block for block in answer.requests[0].messages[-1].content if isinstance(block, ToolResult)]
        assert [result.status for result in results] == ["denied"]
    denied = await asked_session(store, turns=[call("send", text="hello"), "Not sent."], decide=False)
    fork = await Sessions(store).fork(
        denied, change=ForkChange(approval=True, call=call_id(await log_of(store, denied)))
    )
    after = await continued(store, fork.id, model("Sent now."))
    assert [event.data.text for event in after if isinstance(event.data, ToolResult)] == ["sent hello"]


def call_id(log: Sequence[Event]) -> str:
    return next(event.data.id for event in log if isinstance(event.data, ToolCall))


async def test_a_changed_prompt_runs_the_exchange_anew(store: Store) -> None:
    name = await asked_session(store, turns=["One.", call("look", n=1), "Two."], prompts=2)
    log = await log_of(store, name)
    second = seq_of(log, ExchangeRequest, 1)
    for at in (second, seq_of(log, ToolResult), len(log)):
        fork = await Sessions(store).fork(name, at, change=ForkChange(prompt="Say it in French."))
        assert await shared_events(store, name, fork.id) == second - 1
        answer = model("Deux.")
        await continued(store, fork.id, answer)
        assert [message.text for message in answer.requests[0].messages] == [PROMPTS[0], "One.", "Say it in French."]


async def test_a_changed_model_is_asked_for_the_turn_of_the_event(store: Store) -> None:
    name = await asked_session(store, turns=[call("look", n=1), "One."])
    log = await log_of(store, name)
    last = seq_of(log, MessageStart, 1)
    for at in (last, last + 3, len(log) - 1):  # in the last message, and after it
        fork = await Sessions(store).fork(name, at, change=ForkChange(model="other/model"))
        assert await shared_events(store, name, fork.id) == last - 1
        assert (await store.info(fork.id)).settings["model"] == "other/model"
        answer = model("Uno.")
        after = await continued(store, fork.id, answer)
        assert len(answer.requests) == 1
        assert [event.data.message.text for event in after if isinstance(event.data, AssistantMessage)][-1] == "Uno."
    idle = await Sessions(store).fork(name, change=ForkChange(model="other/model"))
    assert idle.parent_seq == len(log)
    assert len(await continued(store, idle.id, model())) == len(log) + 1


async def test_a_call_that_ran_at_the_event_keeps_its_recorded_result(store: Store) -> None:
    both, is_free, runs = asyncio.Event(), asyncio.Event(), list[str]()

    @heald.tool(effect="read")
    async def quick() -> str:
        """Ends first."""
        await both.wait()
        return "quick"

    @heald.tool(effect="write")
    async def slow() -> str:
        """Ends last."""
        runs.append("slow")
        both.set()
        await is_free.wait()
        return "slow"

    name = (await Sessions(store).create()).id
    turns = model([call("quick"), call("slow")], "Done.")
    session = await Session.open(store, name, model=turns, tools=[quick, slow])
    session.subscribe(lambda event: is_free.set() if isinstance(event.data, ToolResult) else None)
    await session.run("Go.")
    at = seq_of(await log_of(store, name), ToolResult)
    answer = model("Changed.")
    fork = await session.fork(at, change=ForkChange(result="quicker", model=answer))
    await asyncio.gather(*(exchange.result() for exchange in fork.resumed))
    await fork.close()
    await session.close()
    results = [block.text for block in answer.requests[0].messages[-1].content if isinstance(block, ToolResult)]
    assert results == ["quicker", "slow"]
    assert runs == ["slow"]
    assert check_log(await log_of(store, fork.session)) == []


async def test_a_signed_export_of_a_fork_is_valid(store: Store, tmp_path: Path) -> None:
    key = read_or_create_key(tmp_path / "signing.key")
    name = await asked_session(store, turns=[call("send", text="hello"), "Sent."])
    fork = await Sessions(store).fork(
        name, seq_of(await log_of(store, name), ToolResult), change=ForkChange(result="?")
    )
    await continued(store, fork.id, model("Well."))
    for session in (name, fork.id):
        archive = b"".join([line async for line in signed_lines(store, session, key)])
        verified = verify_archive(io.BytesIO(archive))
        assert verified.signed.last_seq == len(await log_of(store, session))


# --- random sessions and events ---------------------------------------------------------------------------------------


def random_turns(random: Random) -> list[object]:
    """The script of three exchanges: words, calls that are allowed, and calls that are asked for."""
    turns: list[object] = []
    for _ in PROMPTS:
        for _ in range(random.randrange(3)):
            calls = [
                random.choice(
                    [
                        call("look", n=random.randrange(9)),
                        call("send", text=f"letter {random.randrange(9)}"),
                        call("write_file", path=f"{random.choice('ab')}.txt", content="x" * random.randrange(1, 60)),
                    ]
                )
                for _ in range(random.randrange(1, 4))
            ]
            turns.append(["I look. ", *calls])
        turns.append("The end of it. " * random.randrange(1, 4))
    return turns


def random_changes(random: Random, event: Event | None) -> list[ForkChange]:
    """All kinds of changes, those that fit only some events included."""
    changes = [ForkChange(prompt="Something else?"), ForkChange(model="other/model"), ForkChange()]
    if event is not None and call_of(event.data) is not None:
        is_error = random.random() < 0.5
        changes += [ForkChange(result="another result", is_error=is_error), ForkChange(approval=is_error)] * 3
    return changes


async def fork_random_event(store: Store, random: Random) -> str:
    """Fork a new session at a random event, and continue the fork. Returns the kind of change."""
    name = await asked_session(store, turns=random_turns(random), decide=random.random() < 0.7, prompts=3)
    log = await log_of(store, name)
    of_calls = [event.seq for event in log if call_of(event.data) is not None]
    at = random.choice(of_calls) if of_calls and random.random() < 0.5 else random.randrange(len(log) + 1)
    changes = random_changes(random, log[at - 1] if at else None)
    change = random.choice(changes)
    try:
        fork = await Sessions(store).fork(name, at, change=change)
    except HealdError:
        return "refused"
    shared = await shared_events(store, name, fork.id)
    written = await log_of(store, fork.id)
    assert not [event for event in written[shared:] if isinstance(event.data, MessageStart)]
    answer = ScriptedModel(["And so it ends."] * 9, name="other/model")
    after = await continued(store, fork.id, answer)
    asked = [event.seq for event in after if isinstance(event.data, MessageStart) and event.seq > shared]
    assert len(asked) == len(answer.requests)  # no request was made for the prefix
    assert [body_of(event) for event in after[: len(written)]] == [body_of(event) for event in written]
    assert await log_of(store, name) == log
    return "+".join(change.changed) or "again"


async def test_a_fork_of_a_random_event_shares_its_prefix_and_asks_no_model_before_it(store: Store) -> None:
    random = Random(14)
    kinds = [await fork_random_event(store, random) for _ in range(8)]
    assert len(set(kinds)) > 1
