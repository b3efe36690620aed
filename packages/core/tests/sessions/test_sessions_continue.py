"""An exchange whose writer ended is continued by the next one, from any event at which the log may end."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    ConversationSteered,
    ExchangeResponse,
    MessageDiscarded,
    MessageStart,
    QuestionAsked,
    RetryScheduled,
    SessionResumed,
    ToolExecuting,
    UserMessage,
)
from heald.core.messages import ToolResult
from heald.core.payload import Payload
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.unfinished_exchange import MAX_LOST_TURNS, UnfinishedExchange
from heald.tools.approvals import NotPending
from heald_check import check_log
from sessions_bench import call, log_of, types_of

S = heald.testing.ScriptedModel
SESSION = "ses_continued"

effects: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def no_effects() -> None:
    effects.clear()


@heald.tool(effect="write")
async def mark(n: int, ctx: heald.ToolContext) -> str:
    """Leave a mark."""
    effects[ctx.call.id] += 1
    ctx.output("marking")
    await asyncio.sleep(0)
    return f"marked {n}"


@heald.tool(effect="read", idempotent=True)
async def look(n: int, ctx: heald.ToolContext) -> str:
    """Look."""
    effects[ctx.call.id] += 1
    await asyncio.sleep(0)
    return f"saw {n}"


CLIENT_TOOL = heald.providers.ToolDefinition(name="locate", description="Locate.", input_schema={"type": "object"})
RICH: list[Script] = [
    [S.think("Hm."), "I start. ", call("mark", n=1), call("mark", n=3), call("look", n=5)],
    [call("create_file", path="a.html", content="<p>hello</p>\n" * 5), S.raw_call("mark", '{"n": tru'), call("nix")],
    [call("locate"), call("look", n=6)],
    [call("ask_user", question="Really?", suggestions=["yes", "no"])],
    "It is done.",
]


def reply(request: ScriptedRequest) -> Script:
    """The turn that follows those which the conversation has."""
    return RICH[sum(message.role == "assistant" for message in request.messages)]


def a_model(turns: Sequence[object] = (reply,) * 40) -> heald.testing.ScriptedModel:
    return heald.testing.ScriptedModel(turns)  # pyright: ignore[reportArgumentType]


def attend(session: Session, *, waiting: bool = True) -> None:
    """Decide, answer and send results, like a person at a client."""

    def on_event(event: Event) -> None:
        match event.data:
            case ApprovalRequested(approval=approval):
                session.approve(approval)
            case QuestionAsked(question=question):
                session.answer(question, "yes")
            case ClientToolRequested(id=name):
                session.send_tool_result(name, "here")
            case _:
                pass

    session.subscribe(on_event)
    for event in session.waiting_events if waiting else ():
        on_event(event)


async def open_it(store: MemoryStore, model: heald.testing.ScriptedModel | None = None, **options: Any) -> Session:
    permissions = heald.Permissions("auto", ["ask mark(*3*)"])
    settings: dict[str, Any] = {"permissions": permissions, "after_crash": "continue"} | options
    return await Session.open(
        store,
        SESSION,
        model=model or a_model(),
        tools=["files", "ask_user", mark, look],
        client_tools=[CLIENT_TOOL],
        **settings,
    )


async def rich_log() -> list[Event]:
    """The log of an exchange in which a lot happens."""
    store = MemoryStore()
    await Sessions(store).create(session=SESSION)
    session = await open_it(store)
    attend(session)
    await session.send("Go.").result()
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    return log


def whole(log: Sequence[Event]) -> list[Event]:
    """The beginning of a log that a store may hold: no half turn."""
    unfinished = UnfinishedExchange()
    for event in log:
        unfinished.feed(event)
    return list(log[: unfinished.last_whole_seq])


async def stored(log: Sequence[Event]) -> MemoryStore:
    store = MemoryStore()
    await store.create(SessionInfo(id=SESSION))
    lease = await store.acquire(SESSION, "dead")
    await store.append(lease, [msgspec.structs.replace(event, epoch=lease.epoch) for event in log])
    await store.release(lease)
    return store


P = TypeVar("P", bound=Payload)


def all_of(log: Sequence[Event], kind: type[P]) -> list[P]:
    return [event.data for event in log if isinstance(event.data, kind)]


async def until(session: Session, kind: str) -> None:
    """Wait for an event of a type."""
    seen = asyncio.Event()
    with_it = session.subscribe(lambda _: seen.set(), types=[kind])
    await seen.wait()
    with_it.close()


async def finish(store: MemoryStore, **options: Any) -> list[Event]:
    """Open the session as the next process does, and wait for the end of what it continues."""
    session = await open_it(store, **options)
    attend(session)
    for exchange in session.resumed:
        await exchange.result()
    await session.close()
    return await log_of(store, SESSION)


async def test_cut_at_every_event() -> None:
    log = await rich_log()
    seen: set[int] = set()
    for cut in range(1, len(log)):
        beginning = whole(log[:cut])
        if len(beginning) in seen or not beginning:
            continue
        seen.add(len(beginning))
        effects.clear()
        done = await finish(await stored(beginning))
        where = f"cut at {len(beginning)} behind {beginning[-1].type}"
        assert not (violations := check_log(done)), f"{where}:\n" + "\n".join(map(str, violations))
        last = done[-1].data
        assert isinstance(last, ExchangeResponse), where
        assert last.status == "completed", where
        assert last.turns == len(RICH), where
        assert types_of(done).count("exchange_request") == types_of(done).count("user_message") == 1, where
        assert max(effects.values(), default=1) == 1, f"{where}: something was done twice here"


async def test_a_message_is_discarded_and_asked_for_again() -> None:
    log = await rich_log()
    cut = types_of(log).index("text_delta") + 1
    model = a_model()
    done = await finish(await stored(log[:cut]), model=model)
    (resumed,), (discarded,), (retry,) = (
        all_of(done, SessionResumed),
        all_of(done, MessageDiscarded),
        all_of(done, RetryScheduled),
    )
    assert (resumed.from_seq, resumed.continues, resumed.crashed) == (cut, log[0].exchange, True)
    assert (discarded.error.code, discarded.estimated, (discarded.usage.output or 0) > 0) == ("node_lost", True, True)
    assert (retry.error.code, retry.attempt, retry.message_id) == ("node_lost", 2, discarded.message_id)
    starts = [start.attempt for start in all_of(done, MessageStart)]
    assert starts == [1, 2, 1, 1, 1, 1]
    assert len(model.requests) == len(RICH)
    last = done[-1].data
    assert isinstance(last, ExchangeResponse)
    plain = log[-1].data
    assert isinstance(plain, ExchangeResponse)
    assert last.usage == plain.usage + discarded.usage


async def test_a_started_call_is_interrupted_and_an_idempotent_one_runs_again() -> None:
    log = await rich_log()
    started = [at for at, event in enumerate(log, 1) if isinstance(event.data, ToolExecuting) and event.data.attempt]
    first_two = next(at for at in started if len([s for s in started if s <= at]) == 2)
    done = await finish(await stored(log[:first_two]))
    names = [event.data.name for event in log[:first_two] if isinstance(event.data, ToolExecuting)]
    results = {event.data.id: event.data for event in done if isinstance(event.data, ToolResult)}
    again = [event.data for event in done if isinstance(event.data, ToolExecuting) and event.data.attempt == 2]
    assert set(names) == {"mark", "look"}
    assert [start.name for start in again] == ["look"]
    by_name = [(result.name, result.status) for result in results.values()]
    assert Counter(by_name)[("mark", "interrupted")] == 1
    assert Counter(by_name)[("look", "ok")] == 2


async def test_a_file_write_in_the_log_has_happened() -> None:
    log = await rich_log()
    cut = types_of(log).index("file_changed") + 1
    done = await finish(await stored(log[:cut]))
    (result,) = [e.data for e in done if isinstance(e.data, ToolResult) and e.data.name == "create_file"]
    assert (result.status, result.text) == ("ok", "Done: a.html was written.")
    assert types_of(done).count("file_changed") == 1


async def waiting_store(kind: type[ApprovalRequested] | type[QuestionAsked] | type[ClientToolRequested]) -> MemoryStore:
    log = await rich_log()
    return await stored(log[: next(at for at, event in enumerate(log, 1) if isinstance(event.data, kind))])


async def test_an_approval_waits_on_under_its_id() -> None:
    store = await waiting_store(ApprovalRequested)
    session = await open_it(store)
    (waiting,) = session.approvals
    assert waiting == all_of(await log_of(store, SESSION), ApprovalRequested)[0]
    with pytest.raises(NotPending):
        session.approve(waiting.approval, digest="of another call")
    session.deny(waiting.approval, "No.")
    with pytest.raises(NotPending):
        session.approve(waiting.approval)
    attend(session, waiting=False)
    await session.resumed[0].result()
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    assert types_of(log).count("approval_requested") == 1
    assert [e.data.status for e in log if isinstance(e.data, ToolResult)].count("denied") == 1


async def test_the_callback_of_the_application_is_asked_for_what_waits() -> None:
    asked: list[str] = []

    async def decide(request: ApprovalRequested) -> bool:
        asked.append(request.approval)
        return True

    store = await waiting_store(ApprovalRequested)
    done = await finish_with_clients(store, on_approval=decide)
    assert len(asked) == 1
    assert check_log(done) == []


async def finish_with_clients(store: MemoryStore, **options: Any) -> list[Event]:
    session = await open_it(store, **options)

    def on_event(event: Event) -> None:
        if isinstance(event.data, QuestionAsked):
            session.answer(event.data.question, "yes")
        if isinstance(event.data, ClientToolRequested):
            session.send_tool_result(event.data.id, "here")

    session.subscribe(on_event)
    await session.resumed[0].result()
    await session.close()
    return await log_of(store, SESSION)


async def test_a_call_of_a_client_takes_its_late_result() -> None:
    store = await waiting_store(ClientToolRequested)
    session = await open_it(store)
    (waiting,) = session.client_calls
    session.send_tool_result(waiting.id, "late")
    attend(session, waiting=False)
    assert (await session.resumed[0].result()).completed
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    assert types_of(log).count("client_tool_requested") == 1
    assert [e.data.text for e in log if isinstance(e.data, ToolResult) and e.data.name == "locate"] == ["late"]


async def started_call_store() -> MemoryStore:
    """A call for a client had started, and the process ended before the log had that a client was asked."""
    log = await rich_log()
    (call,) = (event.data.id for event in log if isinstance(event.data, ClientToolRequested))
    started = next(n for n, event in enumerate(log) if isinstance(event.data, ToolExecuting) and event.data.id == call)
    return await stored(whole(log[: started + 1]))


async def test_a_client_is_asked_if_the_log_does_not_have_that_it_was() -> None:
    done = await finish(await started_call_store())
    assert check_log(done) == []
    assert [result.text for result in all_of(done, ToolResult) if result.name == "locate"] == ["here"]


async def test_a_call_that_no_client_was_asked_for_is_closed_with_its_exchange() -> None:
    store = await started_call_store()
    async with asyncio.timeout(60):
        session = await open_it(store, after_crash="close")
    await session.close()
    done = await log_of(store, SESSION)
    assert check_log(done) == []
    assert [result.status for result in all_of(done, ToolResult) if result.name == "locate"] == ["interrupted"]


async def test_a_call_of_a_tool_that_no_client_offers_any_more_is_interrupted() -> None:
    store = await waiting_store(ClientToolRequested)
    session = await Session.open(
        store, SESSION, model=a_model(), tools=["files", "ask_user", mark, look], after_crash="continue"
    )
    attend(session)
    await session.resumed[0].result()
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    assert [e.data.status for e in log if isinstance(e.data, ToolResult) and e.data.name == "locate"] == ["interrupted"]


async def test_a_question_waits_on() -> None:
    store = await waiting_store(QuestionAsked)
    session = await open_it(store)
    (waiting,) = session.questions
    session.answer(waiting.question, "no")
    assert (await session.resumed[0].result()).completed
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    assert types_of(log).count("question_asked") == 1


async def test_rules_that_changed_decide_on_what_waited() -> None:
    for mode, status in (("auto", "ok"), (heald.Permissions("auto", ["deny mark(*3*)"]), "denied")):
        store = await waiting_store(ApprovalRequested)
        done = await finish_with_clients(store, permissions=mode)
        assert check_log(done) == []
        statuses = [e.data.status for e in done if isinstance(e.data, ToolResult) and e.data.name == "mark"]
        assert statuses.count(status) == 1


@pytest.mark.parametrize("kind", [ApprovalRequested, QuestionAsked, ClientToolRequested])
@pytest.mark.parametrize("wait", [0, 3])
async def test_what_is_continued_can_be_cancelled(
    kind: type[ApprovalRequested] | type[QuestionAsked] | type[ClientToolRequested], wait: int
) -> None:
    store = await waiting_store(kind)
    session = await open_it(store)
    for _ in range(wait):
        await asyncio.sleep(0)
    assert session.cancel("Enough.")
    assert (await session.resumed[0].result()).status == "cancelled"
    await session.close()
    log = await log_of(store, SESSION)
    assert check_log(log) == []
    assert isinstance(log[-1].data, ExchangeResponse)


async def test_the_third_crash_in_a_call_ends_the_exchange() -> None:
    log = await rich_log()
    beginning = log[: types_of(log).index("tool_executing") + 1]
    for _ in range(2):
        store = await stored(beginning)
        session = await open_it(store)
        assert len(session.resumed) == 1
        await until(session, "tool_executing")
        beginning = whole(await log_of(store, SESSION))
        beginning = beginning[: len(beginning) - types_of(beginning)[::-1].index("tool_executing")]
        await session.close()
    done = await finish(await stored(beginning))
    assert check_log(done) == []
    check_failed(done, "The process ended three times while the exchange ran")


def check_failed(log: Sequence[Event], reason: str) -> None:
    last = log[-1].data
    assert isinstance(last, ExchangeResponse)
    assert last.status == "failed"
    assert last.error is not None
    assert last.error.message.startswith(reason)


async def lose_turns(count: int) -> list[Event]:
    """The log of an exchange whose process ends this often while a message arrives, and of the process after that."""
    log = await rich_log()
    beginning = log[: types_of(log).index("text_delta") + 1]
    for _ in range(count - 1):
        store = await stored(beginning)
        session = await open_it(store, heald.testing.ScriptedModel([["I hang. " * 100]], piece=2, pause=0.01))
        assert len(session.resumed) == 1
        await until(session, "message_start")
        beginning = whole(await log_of(store, SESSION))
        beginning = beginning[: len(beginning) - types_of(beginning)[::-1].index("message_start")]
        await session.close()
    done = await finish(await stored(beginning))
    assert check_log(done) == []
    return done


async def test_a_message_that_is_lost_nine_times_is_still_finished() -> None:
    last = (await lose_turns(MAX_LOST_TURNS - 1))[-1].data
    assert isinstance(last, ExchangeResponse)
    assert last.status == "completed"


async def test_a_message_that_is_lost_ten_times_ends_the_exchange() -> None:
    check_failed(await lose_turns(MAX_LOST_TURNS), "The process ended ten times while the exchange ran")


async def test_a_session_that_was_handed_over_has_not_crashed() -> None:
    store = await stored((await rich_log())[:1])
    for _ in range(5):
        session = await open_it(store, heald.testing.ScriptedModel([["I take my time. " * 40]], piece=4, pause=0.01))
        (exchange,) = session.resumed
        await until(session, "text_delta")
        await session.hand_over()
        with pytest.raises(heald.HealdError, match="handed over"):
            await exchange.result()
    done = await finish(store)
    assert check_log(done) == []
    assert [e.data.crashed for e in done if isinstance(e.data, SessionResumed)] == [True, *[False] * 5]
    last = done[-1].data
    assert isinstance(last, ExchangeResponse)
    assert last.status == "completed"


async def test_a_steering_message_survives() -> None:
    store = MemoryStore()
    await Sessions(store).create(session=SESSION)
    session = await open_it(store, heald.testing.ScriptedModel([["I take my time. " * 40]], piece=4, pause=0.01))
    session.send("Go.")
    await until(session, "text_delta")
    steered = session.send("Be quick.", when_busy="steer")
    await session.accepted(steered)
    queued = session.send("And then this.")
    await session.accepted(queued)
    crashed = whole(await log_of(store, SESSION))
    await session.hand_over()

    model = heald.testing.ScriptedModel(["Yes.", "That too."])
    again = await stored(crashed)
    session = await open_it(again, model)
    assert [exchange.id for exchange in session.resumed] == [steered.id, queued.id]
    for exchange in session.resumed:
        assert (await exchange.result()).completed
    await session.close()
    texts = [message.text for message in model.requests[0].messages]
    assert texts == ["Go.", "Be quick."]
    log = await log_of(again, SESSION)
    assert check_log(log) == []
    assert types_of(log).count("conversation_steered") == 1

    closed = await stored(crashed)
    session = await open_it(closed, heald.testing.ScriptedModel(["That."]), after_crash="close")
    await session.resumed[0].result()
    await session.close()
    log = await log_of(closed, SESSION)
    assert check_log(log) == []
    user_texts = [event.message.text for event in all_of(log, UserMessage)]
    assert user_texts == ["Go.", "Be quick.", "And then this."]


async def test_a_request_for_typed_output_stays_one() -> None:
    store = MemoryStore()
    await Sessions(store).create(session=SESSION)
    session = await open_it(store, heald.testing.ScriptedModel([["{ " * 100]], piece=2, pause=0.01))
    session.send("Give me a number.", output=dict[str, int])
    await until(session, "text_delta")
    await session.hand_over()
    session = await open_it(store, heald.testing.ScriptedModel(['{"a": "b"}', '{"a": 1}']))
    result = await session.resumed[0].result()
    await session.close()
    assert result.output == {"a": 1}


async def test_a_repeated_request_is_the_continued_one() -> None:
    store = MemoryStore()
    await Sessions(store).create(session=SESSION)
    session = await open_it(store, heald.testing.ScriptedModel([["I take my time. " * 40]], piece=4, pause=0.01))
    exchange = session.send("Go.", client_request_id="once")
    await session.accepted(exchange)
    await session.hand_over()
    model = heald.testing.ScriptedModel(["Yes."])
    session = await open_it(store, model)
    repeated = session.send("Go.", client_request_id="once")
    assert (repeated.id, (await repeated.result()).text) == (exchange.id, "Yes.")
    await session.close()
    assert len(model.requests) == 1
    assert [message.text for message in model.requests[0].messages] == ["Go."]


async def test_a_message_that_steers_an_exchange_before_it_continues_is_stored_with_its_id() -> None:
    store = MemoryStore()
    await Sessions(store).create(session=SESSION)
    session = await open_it(store, heald.testing.ScriptedModel([["I take my time. " * 40]], piece=4, pause=0.01))
    session.send("Go.")
    await until(session, "text_delta")
    crashed = whole(await log_of(store, SESSION))
    await session.hand_over()

    again = await stored(crashed)
    session = await open_it(again, heald.testing.ScriptedModel(["Yes.", "And quick."]))
    (exchange,) = session.resumed
    assert session.send("Be quick.", when_busy="steer", client_request_id="steer-1") is exchange
    await session.accepted(exchange)
    log = await log_of(again, SESSION)
    assert [e.data.client_request_id for e in log if isinstance(e.data, ConversationSteered)] == ["steer-1"]
    assert (await exchange.result()).completed
    await session.close()
    assert check_log(await log_of(again, SESSION)) == []
