"""What went wrong while recording goes wrong again; what is asked differently is told, not guessed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from provider_bench import KEY, ONCE, body, half, session_at, until
from provider_sockets import Handle, RawServer, refused_port
from tape_bench import converse, exchanges

import heald
from heald.core.errors import ConfigurationError
from heald.core.messages import assistant, user_message
from heald.core.turn import Settings
from heald.testing.server import Cut, Hang, Pause, Reply, Reset, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "traffic.jsonl"


HELLO = wire_reply("chat", text="Hello")
FAULTS = {
    "status, then fine": [Reply.json({"error": {"message": "busy"}}, 503, {"retry-after": "0.01"}), HELLO],
    "refused": [Reply.json({"error": {"message": "no such model", "code": "model_not_found"}}, 404)],
    "out of money": [Reply.json({"error": {"message": "no", "code": "insufficient_quota"}}, 429)],
    "redirect": [Reply(status=307, headers={"location": "http://elsewhere.test"}, framing="length")],
    "page": [Reply([b"<html>"], content_type="text/html")],
    "cut, then fine": [body("chat", *half("chat"), Cut()), HELLO],
    "reset, then fine": [body("chat", *half("chat"), Pause(0.02), Reset()), HELLO],
    "short, then fine": [body("chat", *half("chat")), HELLO],
    "empty, then fine": [body("chat"), HELLO],
    "cut before anything, then fine": [body("chat", Cut()), HELLO],
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_plays_back(fault: str, tape: Path) -> None:
    async with ScriptedServer(FAULTS[fault]) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url, key=KEY)
        url = server.url
    assert len(exchanges(tape)) == len(FAULTS[fault])
    with heald.providers.replay(tape):
        assert await converse(url) == recorded


async def test_nobody_there_plays_back(tape: Path) -> None:
    url = f"http://127.0.0.1:{refused_port()}"
    with heald.providers.record(tape):
        recorded = await converse(url)
    assert (recorded.code, len(exchanges(tape))) == ("connection", 3)
    with heald.providers.replay(tape):
        assert await converse(url) == recorded


async def test_a_server_that_hung_up_often_plays_back(tape: Path) -> None:
    """It was reached, so it was tried more than three times; the replay must have as much patience."""
    served = 0

    async def moody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        if served > 4:
            stream = b"".join(wire_stream("chat", text="Hello"))
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n" + stream)
            await writer.drain()

    async with RawServer(moody) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url)
        url = server.url
    assert recorded.said == "Hello"
    with heald.providers.replay(tape):
        assert (await converse(url)).said == "Hello"


def late(silent: int) -> Handle:
    """A server that answers nothing to its first requests."""
    served = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        if served <= silent:
            while await reader.read(65536):
                pass
            return
        stream = b"".join(wire_stream("chat", text="Hello"))
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n" + stream)
        await writer.drain()

    return serve


async def test_a_server_that_did_not_answer_plays_back(tape: Path) -> None:
    async with RawServer(late(1)) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url, timeouts=heald.Timeouts(connect=0.2, socket=0.2))
        url = server.url
    assert recorded.said == "Hello"
    assert len(exchanges(tape)) == 2
    with heald.providers.replay(tape):
        assert await converse(url) == recorded


async def test_a_stall_plays_back(tape: Path) -> None:
    async with ScriptedServer([body("chat", *half("chat"), Hang())]) as server:
        with heald.providers.record(tape):
            recorded = await converse(server.url, retry=ONCE, timeouts=heald.Timeouts(socket=0.1))
        url = server.url
    assert recorded.code == "timeout"
    with heald.providers.replay(tape):
        replayed = await converse(url, retry=ONCE)
    assert replayed.code in ("timeout", "incomplete")
    assert replayed.events[:-1] == recorded.events[:-1]


async def test_a_cancelled_turn_is_recorded_as_far_as_it_went(tape: Path) -> None:
    async with ScriptedServer([body("chat", *half("chat"), Hang())]) as server:
        with heald.providers.record(tape):
            task = asyncio.create_task(session_at(server).stream_turn(lambda _: None))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
    (exchange,) = exchanges(tape)
    assert exchange["ended"] == "closed"
    assert "Half an" in "".join(piece["text"] for piece in exchange["pieces"])


async def test_a_turn_cancelled_before_its_answer_does_not_spoil_the_tape(tape: Path) -> None:
    async with RawServer(late(1)) as server:
        with heald.providers.record(tape):
            task = asyncio.create_task(converse(server.url))
            await until(lambda: server.connections == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await converse(server.url)).said == "Hello"
        url = server.url
    with heald.providers.replay(tape):
        assert (await converse(url)).said == "Hello"


# --- asked differently --------------------------------------------------------------------------------------------


async def recorded_hello(tape: Path) -> str:
    async with ScriptedServer([HELLO]) as server:
        with heald.providers.record(tape):
            await converse(server.url, messages=[user_message("One."), assistant("Two."), user_message("Three.")])
        return server.url


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (
            {"messages": [user_message("One."), assistant("Two."), user_message("Four.")]},
            "messages: [2] content: 'Three.' recorded, 'Four.'",
        ),
        ({"messages": [user_message("One.")]}, "messages: 3 items recorded, 1 requested"),
        ({"settings": Settings(temperature=0.5)}, "temperature: 'None' recorded, '0.5' requested"),
    ],
)
async def test_a_changed_request_names_the_difference(change: dict[str, Any], difference: str, tape: Path) -> None:
    url = await recorded_hello(tape)
    options: dict[str, Any] = {"messages": [user_message("One."), assistant("Two."), user_message("Three.")]} | change
    with heald.providers.replay(tape), pytest.raises(ConfigurationError) as raised:
        await converse(url, **options)
    told = str(raised.value)
    assert told.startswith(f"{tape}, line 1 was recorded for another request: ")
    assert difference in told
    assert "\n" not in told


async def test_another_wire(tape: Path) -> None:
    url = await recorded_hello(tape)
    with (
        heald.providers.replay(tape),
        pytest.raises(ConfigurationError, match=r"line 1 was recorded for .*/chat/completions, but"),
    ):
        await converse(url, "messages")


async def test_another_host_is_no_difference(tape: Path) -> None:
    await recorded_hello(tape)
    with heald.providers.replay(tape):
        messages = [user_message("One."), assistant("Two."), user_message("Three.")]
        assert (await converse("http://elsewhere.test", messages=messages)).said == "Hello"


async def test_more_turns_than_were_recorded(tape: Path) -> None:
    url = await recorded_hello(tape)
    messages = [user_message("One."), assistant("Two."), user_message("Three.")]
    with heald.providers.replay(tape):
        await converse(url, messages=messages)
        with pytest.raises(ConfigurationError, match="holds 1 exchanges and all were played"):
            await converse(url, messages=messages)


def test_a_file_that_is_not_there(tape: Path) -> None:
    with (
        pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"),
        heald.providers.replay(tape),
    ):
        pass


@pytest.mark.parametrize("content", [b"hello\n", b'{"url": 1}\n', b"[]\n", b"\xff\xfe\n"])
def test_a_file_that_is_no_recording(content: bytes, tape: Path) -> None:
    tape.write_bytes(content)
    with pytest.raises(ConfigurationError, match="line 1 is not a recorded exchange"), heald.providers.replay(tape):
        pass


def test_a_file_that_cannot_be_written(tape: Path) -> None:
    tape.write_text("a file, not a folder")
    with pytest.raises(ConfigurationError), heald.providers.record(tape / "below.jsonl"):
        pass


async def test_the_pace_can_be_kept(tape: Path) -> None:
    steps = [step for piece in wire_stream("chat", text=list("Hello")) for step in (piece, Pause(0.05))]
    async with ScriptedServer([body("chat", *steps)]) as server:
        with heald.providers.record(tape):
            await converse(server.url)
        url = server.url
    loop = asyncio.get_running_loop()
    took: dict[float, float] = {}
    for speed in (0.0, 1.0, 4.0):
        start = loop.time()
        with heald.providers.replay(tape, speed=speed):
            assert (await converse(url)).said == "Hello"
        took[speed] = loop.time() - start
    assert took[1.0] > 0.2
    assert took[0.0] < took[1.0] / 2
    assert took[4.0] < took[1.0]
