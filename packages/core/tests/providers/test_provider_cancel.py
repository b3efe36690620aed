"""A turn that nobody wants any more: the connection is closed within a second, and nothing runs on."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
from provider_bench import WIRES, body, half, session_at, until
from provider_sockets import RawServer, never_answer

import heald
from heald.core.events import (
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    RetryScheduled,
    TextContentBlockStart,
    TextDelta,
    ThinkingDelta,
)
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.providers.base import ProviderSession
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream


@contextmanager
def no_task_left() -> Generator[None]:
    before = asyncio.all_tasks()
    yield
    assert asyncio.all_tasks() <= before


async def cancel_when(session: ProviderSession, condition: Callable[[list[Payload]], bool]) -> list[Payload]:
    """Run a turn until something has been seen, then cancel it."""
    events: list[Payload] = []
    task = asyncio.create_task(session.stream_turn(events.append))
    await until(lambda: condition(events))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    await session.close()
    return events


async def test_while_connecting() -> None:
    with no_task_left():
        async with RawServer(never_answer) as server:
            url = server.url.replace("http:", "https:")  # a handshake that never ends
            events = await cancel_when(session_at(url), lambda _: server.connections == 1)
    assert [payload.type for payload in events] == ["message_start"]


async def test_before_the_status_line() -> None:
    left = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await never_answer(reader, writer)
        left.set()

    with no_task_left():
        async with RawServer(wait) as server:
            await cancel_when(session_at(server.url), lambda _: server.connections == 1)
            await asyncio.wait_for(left.wait(), 60)


@pytest.mark.parametrize("wire", WIRES)
async def test_before_the_first_event(wire: str) -> None:
    async with ScriptedServer([body(wire, Hang())]) as server:
        await cancel_when(session_at(server, wire), lambda _: bool(server.requests))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


@pytest.mark.parametrize(
    ("kind", "mark"),
    [(TextDelta, b"text_delta"), (ThinkingDelta, b"thinking_delta"), (InputJsonDelta, b"input_json_delta")],
)
async def test_in_the_middle_of_a_block(kind: type[Payload], mark: bytes) -> None:
    call = ToolCall(id="c", name="look", input={"path": "a"})
    pieces = wire_stream("messages", thinking="Hm.", text="Let me look.", calls=[call])
    cut = next(at for at, piece in enumerate(pieces) if mark in piece) + 1
    with no_task_left():
        async with ScriptedServer([body("messages", *pieces[:cut], Hang())]) as server:
            session = session_at(server, "messages")
            events = await cancel_when(session, lambda seen: isinstance(seen[-1] if seen else None, kind))
            await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
            assert len(server.requests) == 1
    assert not any(isinstance(payload, MessageDiscarded | MessageDelta) for payload in events)


async def test_while_an_error_page_is_read() -> None:
    async with ScriptedServer([Reply([b"<html>", Hang()], status=500)]) as server:
        await cancel_when(session_at(server), lambda _: bool(server.requests))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


async def test_while_waiting_to_retry() -> None:
    with no_task_left():
        async with ScriptedServer(lambda _: Reply.json({"error": {"message": "busy"}}, 503)) as server:
            session = session_at(server, retry=heald.Retry(base=60, cap=60))
            events = await cancel_when(session, lambda seen: bool(seen) and isinstance(seen[-1], RetryScheduled))
            await asyncio.sleep(0.05)
            assert len(server.requests) == 1
    assert [payload.type for payload in events][-1] == "retry_scheduled"


async def test_while_the_tail_is_waited_for() -> None:
    steps = wire_stream("chat", text="Hello")[:-1]
    async with ScriptedServer([body("chat", *steps, Hang())]) as server:
        session = session_at(server)
        await cancel_when(session, lambda seen: any(isinstance(payload, TextDelta) for payload in seen))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)


async def test_a_cancelled_session_can_go_on() -> None:
    replies = [body("chat", *half("chat"), Hang()), wire_reply("chat", text="Hello")]
    async with ScriptedServer(replies) as server:
        session = session_at(server)
        await cancel_when(session, lambda seen: any(isinstance(payload, TextDelta) for payload in seen))
        turn = await session.stream_turn(lambda _: None)
        assert turn.text == "Hello"
        assert server.requests[0].content == server.requests[1].content


async def test_a_callers_own_deadline_is_reported_as_such() -> None:
    deadline = asyncio.timeout(60)

    def expire(payload: object) -> None:
        if isinstance(payload, TextDelta) and not deadline.expired():
            deadline.reschedule(0)

    async with ScriptedServer([body("chat", *half("chat"), Hang())]) as server:
        with pytest.raises(TimeoutError):
            async with deadline:
                await session_at(server).stream_turn(expire)
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        assert len(server.requests) == 1


# --- a listener that fails ------------------------------------------------------------------------------------------


class Broken(Exception):
    pass


FAILURES = [Broken(), OSError("disk full"), BrokenPipeError(), ConnectionResetError(), TimeoutError(), KeyError("x")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("kind", [MessageStart, TextContentBlockStart, TextDelta])
async def test_a_listeners_error_is_the_callers(kind: type[Payload], failure: Exception) -> None:
    """Whatever it is, even one that a network could have raised: it is not tried again and not renamed."""

    def on_event(payload: Payload) -> None:
        if isinstance(payload, kind):
            raise failure

    async with ScriptedServer(lambda _: body("chat", *half("chat"), Hang())) as server:
        with pytest.raises(type(failure)) as raised:
            async with asyncio.timeout(60):
                await session_at(server).stream_turn(on_event)
        assert raised.value is failure
        assert len(server.requests) <= 1
        for request in server.requests:
            await asyncio.wait_for(request.closed_early.wait(), 60)


@pytest.mark.parametrize("kind", [MessageDiscarded, RetryScheduled])
async def test_a_listener_that_fails_after_an_attempt(kind: type[Payload]) -> None:
    def on_event(payload: Payload) -> None:
        if isinstance(payload, kind):
            raise Broken

    async with ScriptedServer(lambda _: Reply.json({"error": {"message": "busy"}}, 503)) as server:
        with pytest.raises(Broken):
            await session_at(server).stream_turn(on_event)
        assert len(server.requests) == 1
