"""Two clocks over a stream. Every limit here is far from what the other clock would allow."""

import asyncio
import gc
import weakref
from collections.abc import Callable

import pytest
from provider_bench import NOW, ONCE, WIRES, ask, attempts, body, half, session_at, streamed_text, types

import heald
from heald.core.errors import ProviderError, ProviderTimeout, Stalled
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.providers.base import ProviderTurn
from heald.providers.watchdog import Watchdog
from heald.testing.server import Hang, Pause, Reply, ScriptedServer, Step
from heald.testing.streams import sse_event, wire_reply, wire_stream


def beats(count: int, pause: float = 0.02) -> list[Step]:
    return [step for _ in range(count) for step in (b": keep-alive\n\n", Pause(pause))]


async def test_keep_alives_feed_the_sockets_clock() -> None:
    """Comments for longer than the socket's clock allows silence: no byte is missing, and the answer comes."""
    steps = [*half("chat"), *beats(30, 0.05), *wire_stream("chat", text="!")[1:]]
    async with ScriptedServer([body("chat", *steps)]) as server:
        turn, _ = await ask(session_at(server, retry=ONCE, timeouts=heald.Timeouts(socket=1, content=30)))
    assert isinstance(turn, ProviderTurn)
    assert turn.text == "Half an !"


async def test_keep_alives_do_not_feed_the_other() -> None:
    async with ScriptedServer([body("chat", *beats(200))]) as server:
        error, events = await ask(session_at(server, retry=ONCE, timeouts=heald.Timeouts(socket=30, content=0.2)))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
    assert isinstance(error, Stalled)
    assert "brought nothing for 0.2 s" in str(error)
    assert "Timeouts.content" in str(error)
    assert types(events) == ["message_start", "message_discarded"]


@pytest.mark.parametrize("wire", WIRES)
async def test_silence_before_the_first_event(wire: str) -> None:
    async with ScriptedServer([body(wire, Hang())]) as server:
        error, _ = await ask(session_at(server, wire, retry=ONCE, timeouts=heald.Timeouts(socket=0.1, content=30)))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
    assert isinstance(error, ProviderTimeout)
    assert "No byte came for 0.1 s" in str(error)


async def test_an_error_page_that_never_ends() -> None:
    async with ScriptedServer([Reply([b"<html>", Hang()], status=500)]) as server:
        error, _ = await ask(session_at(server, retry=ONCE, timeouts=heald.Timeouts(socket=0.1)))
    assert isinstance(error, ProviderTimeout)


async def test_a_stall_is_retried() -> None:
    replies = [body("chat", *half("chat"), Hang()), wire_reply("chat", text="Hello")]
    async with ScriptedServer(replies) as server:
        turn, events = await ask(session_at(server, timeouts=heald.Timeouts(socket=0.1)))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
    assert isinstance(turn, ProviderTurn)
    assert (turn.attempts, attempts(events), streamed_text(events)) == (2, [1, 2], "Hello")


@pytest.mark.parametrize("clock", ["socket", "content"])
async def test_each_turn_has_its_own_time(clock: str) -> None:
    """The pauses between turns, while tools run, are nobody's fault."""
    call = ToolCall(id="c", name="look", input={})
    replies = [wire_reply("chat", calls=[call]), wire_reply("chat", Pause(0.4), text="Hello")]
    async with ScriptedServer(replies) as server:
        session = session_at(server, retry=ONCE, timeouts=heald.Timeouts(**{clock: 0.8}))
        turn = await session.stream_turn(lambda _: None)
        session.append_tool_results(turn, [ToolResult(id=turn.tool_calls[0].id, status="ok", content="3")])
        await asyncio.sleep(0.6)
        assert (await session.stream_turn(lambda _: None)).text == "Hello"


async def test_the_clock_still_runs_in_a_later_turn() -> None:
    replies = [wire_reply("chat", text="Hello"), body("chat", *half("chat"), Hang())]
    async with ScriptedServer(replies) as server:
        session = session_at(server, retry=ONCE, timeouts=heald.Timeouts(socket=0.2))
        await session.stream_turn(lambda _: None)
        await asyncio.sleep(0.3)  # the first turn's timer has run out in between
        error, _ = await ask(session)
    assert isinstance(error, ProviderTimeout)


async def test_thinking_and_arguments_are_content() -> None:
    call = ToolCall(id="c", name="look", input={"path": "a" * 10})
    steps: list[Step] = []
    for piece in wire_stream("messages", thinking=list("thought"), calls=[call]):
        steps += [piece, Pause(0.05)]
    async with ScriptedServer([body("messages", *steps)]) as server:
        turn, _ = await ask(session_at(server, "messages", retry=ONCE, timeouts=heald.Timeouts(content=0.6)))
    assert isinstance(turn, ProviderTurn)
    assert turn.tool_calls[0].input == call.input


# --- the tail -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["chat", "gemini"])
async def test_a_finished_stream_that_stays_open(wire: str) -> None:
    steps = wire_stream(wire, text="Hello")
    if wire == "chat":
        steps = steps[:-1]  # no [DONE]
    async with ScriptedServer([body(wire, *steps, Hang())]) as server:
        timeouts = heald.Timeouts(socket=30, content=30, tail=0.1)
        turn, events = await ask(session_at(server, wire, retry=ONCE, timeouts=timeouts))
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
    assert isinstance(turn, ProviderTurn)
    assert (turn.text, turn.usage.output, turn.stop_reason) == ("Hello", 7, "end_turn")
    assert types(events)[-2:] == ["message_delta", "message_stop"]


async def test_keep_alives_do_not_lengthen_the_tail() -> None:
    steps = wire_stream("chat", text="Hello")[:-1]
    async with ScriptedServer([body("chat", *steps, *beats(400))]) as server:
        timeouts = heald.Timeouts(socket=30, content=30, tail=0.1)
        async with asyncio.timeout(60):
            turn, _ = await ask(session_at(server, retry=ONCE, timeouts=timeouts))
        assert not server.requests[1:]
    assert isinstance(turn, ProviderTurn)


async def test_usage_that_comes_late_is_waited_for() -> None:
    pieces = wire_stream("chat", text="Hello")
    steps: list[Step] = [*pieces[:-2], Pause(0.1), *pieces[-2:]]
    async with ScriptedServer([body("chat", *steps)]) as server:
        turn, _ = await ask(session_at(server, retry=ONCE, timeouts=heald.Timeouts(tail=5)))
    assert isinstance(turn, ProviderTurn)
    assert (turn.usage.input, turn.usage.output) == (11, 7)


async def test_a_finished_stream_that_breaks_is_finished() -> None:
    finish = sse_event({"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]})
    reply = Reply([finish], headers={"content-length": "5000"}, framing="close")
    async with ScriptedServer([reply]) as server:
        turn, _ = await ask(session_at(server, retry=ONCE))
    assert isinstance(turn, ProviderTurn)
    assert turn.text == "Hello"


async def test_both_clocks_stop_with_the_turn() -> None:
    """Nothing fires after a turn: no late abort, no error from a callback."""
    trouble: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: trouble.append(context))
    events: list[Payload] = []
    async with ScriptedServer([wire_reply("gemini", text="Hello")] * 2) as server:
        timeouts = heald.Timeouts(socket=0.1, content=0.1, tail=0.1)
        session = session_at(server, "gemini", retry=NOW, timeouts=timeouts)
        for _ in range(2):
            await session.stream_turn(events.append)
            await asyncio.sleep(0.25)
    assert types(events).count("message_stop") == 2
    assert not any(isinstance(payload, ProviderError) for payload in events)
    assert trouble == []


async def test_reading_a_long_prompt_is_no_stall() -> None:
    """A server that sends nothing while it reads the prompt has `first` seconds; then the usual limits count."""
    limits = heald.Timeouts(socket=0.2, content=0.2, first=30.0)
    async with ScriptedServer([body("chat", Pause(0.6), *wire_stream("chat", text="Read."))]) as server:
        turn, _ = await ask(session_at(server, retry=ONCE, timeouts=limits))
    assert isinstance(turn, ProviderTurn)
    assert turn.text == "Read."
    for pauses in ([], [Pause(0.6)]):  # the first content comes before the clocks are looked at, or after
        async with ScriptedServer([body("chat", *pauses, *half("chat"), Hang())]) as server:
            error, _ = await ask(session_at(server, retry=ONCE, timeouts=limits))
        assert isinstance(error, ProviderTimeout)
        assert "No byte came for 0.2 s" in str(error)


async def test_a_server_of_ones_own_may_read_for_minutes() -> None:
    async with ScriptedServer([]) as server:
        patient, strict = session_at(server), session_at(server, timeouts=heald.Timeouts(socket=5.0))
    patience = [session._patience for session in (patient, strict)]  # pyright: ignore
    assert patience == [1800.0, 0.0]


async def test_one_timer_serves_the_wait_and_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait for a response has more time than the stream, which begins while the timer still runs."""
    loop = asyncio.get_running_loop()
    call_later = loop.call_later
    delays: list[float] = []

    def count(delay: float, callback: Callable[..., object], *arguments: object) -> asyncio.TimerHandle:
        delays.append(round(delay, 2))
        return call_later(delay, callback, *arguments)

    monkeypatch.setattr(loop, "call_later", count)
    for _ in range(3):
        watchdog = Watchdog(heald.Timeouts(connect=15.0, socket=120.0))
        watchdog.start(list, grace=15.0)
        watchdog.stop()
        watchdog.start(list)
        watchdog.stop()
    assert delays == [120.0]


async def test_streams_that_share_a_timer_have_their_own_limits() -> None:
    """A stream with shorter limits than those before it is aborted in time, and its end does not end their watch."""
    aborted: list[str] = []
    ended = asyncio.Event()
    long, middle, short = (Watchdog(heald.Timeouts(socket=seconds)) for seconds in (600.0, 0.2, 0.05))
    long.start(lambda: aborted.append("long"))
    middle.start(lambda: (aborted.append("middle"), ended.set()))
    short.start(lambda: aborted.append("short"))
    await asyncio.wait_for(ended.wait(), 60)
    assert aborted == ["short", "middle"]
    assert isinstance(short.error, ProviderTimeout)
    assert long.error is None
    long.stop()


def test_a_closed_loop_is_not_kept() -> None:
    loop = asyncio.new_event_loop()

    async def watch() -> None:
        abort = asyncio.get_running_loop().stop  # refers to the loop, as what aborts a stream does
        Watchdog(heald.Timeouts()).start(abort)

    loop.run_until_complete(watch())
    loop.close()
    reference = weakref.ref(loop)
    del loop
    gc.collect()
    assert reference() is None
