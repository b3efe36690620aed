"""What happens between two machines: stalls, cuts, retries, and a client that leaves.

F04, F08, F09, F12, F13, F14 and L01 to L03, on every wire where the wire matters.
"""

import asyncio
import gzip
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

import heald
from heald.core.errors import ProviderError
from heald.core.events import MessageDiscarded, MessageStart, MessageStop, RetryScheduled, TextDelta
from heald.core.messages import ToolCall, user_message
from heald.core.payload import Payload
from heald.core.turn import Settings
from heald.providers.base import ProviderSession, ProviderTurn
from heald.testing.server import Cut, Hang, Pause, Reply, Reset, ScriptedServer, Step
from heald.testing.streams import sse_event, wire_reply, wire_stream

from .endpoint import CONTENT_TYPES, model_of

WIRES = ["chat", "responses", "messages", "gemini", "ollama"]

HEARTBEATS: dict[str, bytes] = {
    "chat": b": keep-alive\n\n",
    "responses": sse_event({"type": "keepalive"}, "keepalive"),
    "messages": sse_event({"type": "ping"}, "ping"),
    "gemini": b": keep-alive\n\n",
    "ollama": b"\n",
}

ERRORS: dict[str, bytes] = {
    "chat": sse_event({"error": {"message": "overloaded", "code": 503}}),
    "responses": sse_event({"type": "error", "code": "server_error", "message": "failed"}, "error"),
    "messages": sse_event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error"),
    "gemini": sse_event({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}),
    "ollama": b'{"error":"the runner crashed"}\n',
}

FAST = heald.Retry(attempts=3, base=0.001, cap=0.002)


def body(wire: str, *steps: Step, **more: Any) -> Reply:
    return Reply(steps, content_type=CONTENT_TYPES.get(wire, "text/event-stream"), **more)


def half(wire: str) -> list[bytes]:
    """An answer that has begun and is not finished."""
    pieces = wire_stream(wire, text=["Half an ", "answer"])
    return pieces[: next(at for at, piece in enumerate(pieces) if b"Half" in piece) + 1]


def session_with(server: ScriptedServer, wire: str, **options: Any) -> ProviderSession:
    return heald.providers.open_provider_session(
        model_of(server, wire), messages=[user_message("Go.")], settings=Settings(), **options
    )


async def ask(server: ScriptedServer, wire: str, **options: Any) -> tuple[ProviderTurn | ProviderError, list[Payload]]:
    """One turn, and everything that was seen of it."""
    events: list[Payload] = []
    session = session_with(server, wire, **({"retry": FAST} | options))
    try:
        async with asyncio.timeout(60):
            return await session.stream_turn(events.append), events
    except ProviderError as error:
        return error, events
    finally:
        await session.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def streamed_text(events: list[Payload]) -> str:
    """The text that a client shows: a discarded attempt takes its own back."""
    text = ""
    for payload in events:
        if isinstance(payload, MessageStart):
            text = ""
        elif isinstance(payload, TextDelta):
            text += payload.text
        elif isinstance(payload, MessageDiscarded):
            text = ""
    return text


def ends(events: list[Payload]) -> list[str]:
    kinds = (MessageStart, MessageDiscarded, RetryScheduled, MessageStop)
    return [payload.type for payload in events if isinstance(payload, kinds)]


RETRIED = ["message_start", "message_discarded", "retry_scheduled", "message_start", "message_stop"]


# --- F04: a stream that lives and says nothing ------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_f04_heartbeats_are_no_progress(wire: str) -> None:
    beats: list[Step] = [step for _ in range(60) for step in (HEARTBEATS[wire], Pause(0.02))]
    async with ScriptedServer([body(wire, *half(wire), *beats)]) as server:
        timeouts = heald.Timeouts(content=0.15, socket=5)
        error, events = await ask(server, wire, timeouts=timeouts, retry=heald.Retry(attempts=1))
        assert isinstance(error, ProviderError)
        assert (error.code, error.retryable) == ("stalled", True)
        assert ends(events) == ["message_start", "message_discarded"]
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


@pytest.mark.parametrize("wire", WIRES)
async def test_f04_silence_is_a_timeout(wire: str) -> None:
    async with ScriptedServer([body(wire, *half(wire), Hang())]) as server:
        timeouts = heald.Timeouts(content=5, socket=0.1)
        error, _ = await ask(server, wire, timeouts=timeouts, retry=heald.Retry(attempts=1))
        assert isinstance(error, ProviderError)
        assert (error.code, error.retryable) == ("timeout", True)
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


@pytest.mark.parametrize("wire", WIRES)
async def test_f04_a_slow_answer_is_no_stall(wire: str) -> None:
    steps: list[Step] = []
    for piece in wire_stream(wire, text=list("Hello, this is a slow answer.")):
        steps += [piece, Pause(0.05)]
    async with ScriptedServer([body(wire, *steps)]) as server:
        turn, _ = await ask(
            server, wire, timeouts=heald.Timeouts(content=1.2, socket=1.2), retry=heald.Retry(attempts=1)
        )
        assert isinstance(turn, ProviderTurn)
        assert turn.message.text == "Hello, this is a slow answer."


# --- F08, F09, L01: errors inside the stream, and the attempt after them -----------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_f08_an_error_first_is_retried(wire: str) -> None:
    async with ScriptedServer([body(wire, ERRORS[wire]), wire_reply(wire, text="Hello")]) as server:
        turn, events = await ask(server, wire)
        assert isinstance(turn, ProviderTurn)
        assert (turn.message.text, turn.attempts) == ("Hello", 2)
        assert ends(events) == RETRIED
        first, second = server.requests
        assert first.content == second.content


FAULTS: dict[str, list[Step]] = {"cut": [Cut()], "reset": [Pause(0.02), Reset()], "clean end": []}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", ["error", *FAULTS])
async def test_f09_what_a_failed_attempt_sent_is_withdrawn(wire: str, fault: str) -> None:
    steps = FAULTS.get(fault, [ERRORS[wire]])
    async with ScriptedServer([body(wire, *half(wire), *steps), wire_reply(wire, text="Hello")]) as server:
        turn, events = await ask(server, wire)
        assert isinstance(turn, ProviderTurn)
        assert turn.message.text == "Hello"
        assert streamed_text(events) == "Hello"
        assert ends(events) == RETRIED


@pytest.mark.parametrize("wire", WIRES)
async def test_l01_a_call_of_a_failed_attempt_is_never_handed_out(wire: str) -> None:
    call = ToolCall(id="call_1", name="delete", input={"path": "/"})
    whole = wire_stream(wire, calls=[call])
    broken = whole[
        : next(at for at in reversed(range(len(whole))) if b"delete" in whole[at] or b"path" in whole[at]) + 1
    ]
    if broken == whole:  # the terminal event repeats the call
        broken = whole[:-1]
    async with ScriptedServer([body(wire, *broken, Cut()), wire_reply(wire, text="Hello")]) as server:
        turn, events = await ask(server, wire)
        assert isinstance(turn, ProviderTurn)
        assert turn.tool_calls == []
        assert not any(isinstance(payload, ToolCall) for payload in events)


async def test_u06_a_failed_attempt_is_counted() -> None:
    first = [*wire_stream("messages", text="Half", usage=(20, 3))[:3], Cut()]
    async with ScriptedServer([body("messages", *first), wire_reply("messages", text="Hello")]) as server:
        turn, _ = await ask(server, "messages")
        assert isinstance(turn, ProviderTurn)
        assert (turn.usage.input, turn.usage.output) == (11, 7)
        assert (turn.discarded.input, turn.discarded.output) == (20, 1)


async def test_attempts_run_out() -> None:
    async with ScriptedServer(lambda _: body("chat", ERRORS["chat"])) as server:
        error, events = await ask(server, "chat")
        assert isinstance(error, ProviderError)
        assert error.code == "overloaded"
        assert len(server.requests) == 3
        assert ends(events)[-2:] == ["message_start", "message_discarded"]


# --- F12: compressed bodies --------------------------------------------------------------------------------------


async def test_f12_gzip_is_read_as_it_comes() -> None:
    async with ScriptedServer([Reply(wire_stream("chat", text=["Hel", "lo"]), gzip=True)]) as server:
        turn, _ = await ask(server, "chat")
        assert isinstance(turn, ProviderTurn)
        assert turn.message.text == "Hello"


@pytest.mark.parametrize("wire", WIRES)
async def test_f12_gzip_cut_short_is_no_success(wire: str) -> None:
    packed = gzip.compress(b"".join(wire_stream(wire, text=["Half an answer, ", "and the rest of it."])))
    reply = body(wire, packed[: len(packed) // 2], headers={"content-encoding": "gzip"})
    async with ScriptedServer([reply]) as server:
        error, events = await ask(server, wire, retry=heald.Retry(attempts=1))
        assert isinstance(error, ProviderError)
        assert error.code in ("incomplete", "connection")
        assert error.retryable
        assert ends(events) == ["message_start", "message_discarded"]


# --- F13: the end is the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "ollama"])
async def test_f13_reading_stops_at_the_terminal_event(wire: str) -> None:
    async with ScriptedServer([wire_reply(wire, text="Hello", after=[Hang()])]) as server:
        started = asyncio.get_running_loop().time()
        turn, _ = await ask(server, wire)
        assert isinstance(turn, ProviderTurn)
        assert turn.usage.output == 7
        assert asyncio.get_running_loop().time() - started < 2
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


async def test_f13_after_the_stop_reason_silence_is_the_end() -> None:
    """Gemini has no terminal event, and some chat servers send no `[DONE]`."""
    for wire, steps in {
        "gemini": wire_stream("gemini", text="Hello"),
        "chat": wire_stream("chat", text="Hello")[:-1],
    }.items():
        async with ScriptedServer([body(wire, *steps, Hang())]) as server:
            turn, _ = await ask(server, wire, timeouts=heald.Timeouts(tail=0.1))
            assert isinstance(turn, ProviderTurn)
            assert turn.message.text == "Hello"


# --- F14: a client that leaves ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_f14_cancel_closes_the_response_at_once(wire: str) -> None:
    before = asyncio.all_tasks()
    async with ScriptedServer([body(wire, *half(wire), Hang())]) as server:
        session = session_with(server, wire)
        arrived = asyncio.Event()

        def on_event(payload: Payload) -> None:
            if isinstance(payload, TextDelta):
                arrived.set()

        task = asyncio.create_task(session.stream_turn(on_event))
        await asyncio.wait_for(arrived.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        await session.close()
    assert asyncio.all_tasks() == before


async def test_f14_cancel_before_the_first_byte() -> None:
    async with ScriptedServer([body("chat", Hang())]) as server:
        session = session_with(server, "chat")
        task = asyncio.create_task(session.stream_turn(lambda _: None))
        await until(lambda: bool(server.requests))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        await session.close()


async def test_f14_cancel_while_waiting_to_retry() -> None:
    async with ScriptedServer(lambda _: body("chat", ERRORS["chat"])) as server:
        session = session_with(server, "chat", retry=heald.Retry(base=60, cap=60))
        events: list[Payload] = []
        task = asyncio.create_task(session.stream_turn(events.append))
        await until(lambda: any(isinstance(payload, RetryScheduled) for payload in events))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(server.requests) == 1
        await session.close()


async def test_f14_a_reader_that_fails_closes_the_response() -> None:
    class Stop(Exception):
        pass

    def on_event(payload: Payload) -> None:
        if isinstance(payload, TextDelta):
            raise Stop

    async with ScriptedServer([body("chat", *half("chat"), Hang())]) as server:
        session = session_with(server, "chat")
        with pytest.raises(Stop):
            await session.stream_turn(on_event)
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        await session.close()


# --- L02, L03: which answers are tried again, and when -------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_l03_retried(status: int) -> None:
    refusal = Reply.json({"error": {"message": "not now"}}, status=status)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        turn, events = await ask(server, "chat")
        assert isinstance(turn, ProviderTurn)
        assert turn.message.text == "Hello"
        assert ends(events) == RETRIED


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 301, 307])
async def test_l03_not_retried(status: int) -> None:
    refusal = Reply.json({"error": {"message": "no"}}, status=status, headers={"location": "/elsewhere"})
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        error, events = await ask(server, "chat")
        assert isinstance(error, ProviderError)
        assert not error.retryable
        assert error.status == status
        assert len(server.requests) == 1
        assert ends(events) == ["message_start", "message_discarded"]


@pytest.mark.parametrize(
    ("header", "value", "wait"),
    [
        ("retry-after", "0.2", 0.2),
        ("retry-after-ms", "150", 0.15),
        ("retry-after", "-5", 0.0),
        ("retry-after", "soon", 0.0),
        ("retry-after", "0", 0.0),
    ],
)
async def test_l02_the_servers_word_on_waiting(header: str, value: str, wait: float) -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, status=429, headers={header: value})
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        _, events = await ask(server, "chat")
        (scheduled,) = (payload for payload in events if isinstance(payload, RetryScheduled))
        assert scheduled.delay_s == pytest.approx(wait, abs=0.01)


@pytest.mark.parametrize(
    "value", ["999999", format_datetime(datetime.now(UTC) + timedelta(days=3), usegmt=True)], ids=["seconds", "date"]
)
async def test_l02_a_long_wait_fails_at_once(value: str) -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, status=429, headers={"retry-after": value})
    async with ScriptedServer([refusal]) as server:
        error, events = await ask(server, "chat", retry=heald.Retry())
        assert len(server.requests) == 1
    assert isinstance(error, ProviderError)
    assert re.search(
        r"come back in \d{6} s, at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC; a wait of more than 60 s", str(error)
    )
    assert not any(isinstance(payload, RetryScheduled) for payload in events)


async def test_l02_the_longest_wait_is_a_setting() -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "0.2"})
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        error, _ = await ask(server, "chat", retry=heald.Retry(max_wait=0.1))
        assert isinstance(error, ProviderError)
        assert len(server.requests) == 1


async def test_a_connection_is_kept_for_the_next_turn() -> None:
    answer = Reply([b"".join(wire_stream("chat", text="Hello"))], framing="length")
    async with ScriptedServer([answer, answer]) as server:
        session = session_with(server, "chat")
        for _ in range(2):
            await session.stream_turn(lambda _: None)
        await session.close()
        assert [request.connection for request in server.requests] == [1, 1]
