"""Connections: kept and shared, closed with their loop, and never followed to another place."""

import asyncio
import subprocess
import sys

import pytest
from http1_bench import read_request
from provider_bench import KEY, ask, error_of, session_at, turn_of, types, written
from provider_sockets import RawServer

import heald
from heald.core.errors import ProviderError
from heald.core.messages import ToolCall, ToolResult
from heald.providers.base import ProviderTurn
from heald.providers.session import WireSession
from heald.testing.server import Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

ANSWER = Reply([b"".join(wire_stream("chat", text="Hello"))], framing="length")


# --- redirects --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    async with ScriptedServer(lambda _: ANSWER) as other:
        away = Reply(status=status, headers={"location": f"{other.url}/v1/chat/completions"}, framing="length")
        async with ScriptedServer([away]) as server:
            error, events = await ask(session_at(server))
            assert len(server.requests) == 1
        assert other.requests == []
    assert isinstance(error, ProviderError)
    assert (error.code, error.retryable, error.status) == ("invalid_request", False, status)
    assert other.url in str(error)
    assert "Set the base URL" in str(error)
    assert types(events) == ["message_start", "message_discarded"]


@pytest.mark.parametrize("location", [f"https://thief.test/?key={KEY}", f"https://{KEY}@thief.test/", f"/{KEY}", ""])
async def test_a_redirect_that_repeats_the_key_reports_nobody(location: str) -> None:
    away = Reply(status=307, headers={"location": location}, framing="length")
    async with ScriptedServer([away]) as server:
        error, events = await ask(session_at(server))
    assert isinstance(error, ProviderError)
    assert KEY not in str(error) + written(events)
    assert "to ://" not in str(error)


# --- keeping connections ----------------------------------------------------------------------------------------


async def test_sessions_of_one_loop_share_connections() -> None:
    async with ScriptedServer(lambda _: ANSWER) as server:
        for _ in range(3):
            session = session_at(server)
            for _ in range(2):
                await session.stream_turn(lambda _: None)
            await session.close()
        assert [request.connection for request in server.requests] == [1] * 6


@pytest.mark.parametrize("wire", ["chat", "messages", "responses", "ollama"])
async def test_a_chunked_answer_gives_its_connection_back(wire: str) -> None:
    """The last chunk comes after the terminal event, when the turn is already over."""
    call = ToolCall(id="c1", name="look", input={})
    replies = [wire_reply(wire, calls=[call], after=[Pause(0.02)]), wire_reply(wire, text="Hello")]
    async with ScriptedServer(replies) as server:
        session = session_at(server, wire)
        turn = await session.stream_turn(lambda _: None)
        await asyncio.sleep(0.1)  # a tool runs
        session.append_tool_results(turn, [ToolResult(id=turn.tool_calls[0].id, status="ok", content="3")])
        await session.stream_turn(lambda _: None)
        assert [request.connection for request in server.requests] == [1, 1]


async def test_parallel_turns_have_connections_of_their_own() -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", Pause(0.1), text="Hello")) as server:
        turns = await asyncio.gather(*(turn_of(session_at(server)) for _ in range(4)))
        assert [turn.text for turn in turns] == ["Hello"] * 4
        assert {request.connection for request in server.requests} == {1, 2, 3, 4}


async def test_a_failed_answer_does_not_spoil_the_pool() -> None:
    refusal = Reply.json({"error": {"message": "no"}}, status=400)
    async with ScriptedServer([ANSWER, refusal, ANSWER]) as server:
        await turn_of(session_at(server))
        await error_of(session_at(server))
        assert (await turn_of(session_at(server))).text == "Hello"


async def test_a_connection_that_the_server_closed_meanwhile() -> None:
    """An idle connection may be gone when the next turn wants it: tried again, not told."""
    reply = Reply([b"".join(wire_stream("chat", text="Hello"))], framing="close")
    async with ScriptedServer([reply, reply]) as server:
        for _ in range(2):
            assert (await turn_of(session_at(server))).text == "Hello"
            await asyncio.sleep(0.02)
        assert [request.connection for request in server.requests] == [1, 2]


async def test_cookies_are_not_kept() -> None:
    baked = Reply(ANSWER.body, headers={"set-cookie": "id=1"}, framing="length")
    async with ScriptedServer([baked, ANSWER]) as server:
        for _ in range(2):
            await turn_of(session_at(server.url.replace("127.0.0.1", "localhost")))
        assert "cookie" not in server.requests[1].headers


# --- the end of a loop ------------------------------------------------------------------------------------------

TWO_LOOPS = """
import asyncio, gc, sys, weakref
import heald
from heald.core.messages import user_message
from heald.testing.server import ScriptedServer
from heald.testing.server import Hang
from heald.testing.streams import wire_reply

async def main(after):
    LOOPS.add(asyncio.get_running_loop())
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello", after=after)) as server:
        model = heald.Model("m", base_url=server.url + "/v1")
        first, second = (heald.providers.open_provider_session(model, messages=[user_message("Go.")]) for _ in range(2))
        for session in (first, second, first):
            print((await session.stream_turn(lambda _: None)).text)

LOOPS = weakref.WeakSet()
if __name__ == "__main__":
    asyncio.run(main([]))
    asyncio.run(main([Hang()]))
    gc.collect()
"""


def run_python(code: str, *options: str) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, *options, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


def test_a_loop_closes_everything() -> None:
    done = run_python(TWO_LOOPS, "-W", "error")
    assert done.stderr == ""
    assert (done.returncode, done.stdout.split()) == (0, ["Hello"] * 6)


def test_not_even_in_asyncios_debug_mode() -> None:
    """There asyncio tells of connections that were dropped without being closed."""
    done = run_python(TWO_LOOPS, "-W", "error", "-X", "dev")
    assert "Unclosed" not in done.stderr
    assert (done.returncode, done.stdout.split()) == (0, ["Hello"] * 6)


def test_a_loop_that_ended_is_let_go() -> None:
    done = run_python(TWO_LOOPS + "    print('kept', len(LOOPS))\n")
    assert done.stdout.splitlines()[-1] == "kept 0"


def test_a_session_goes_on_in_another_loop() -> None:
    """Its connections and its timers are those of the loop that runs."""
    limits = heald.Timeouts(socket=0.3, content=0.3, first=0.3)
    session: list[WireSession] = []

    async def ask_once(reply: Reply) -> str:
        async with ScriptedServer([reply]) as server:
            opened = session_at(server, timeouts=limits, retry=heald.Retry(attempts=1))
            assert isinstance(opened, WireSession)
            session.append(opened)
            session[0].model = opened.model  # the server of this loop
            return type((await ask(session[0]))[0]).__name__

    silent = Reply([b": hello\n\n", Pause(30.0)])
    assert [asyncio.run(ask_once(reply)) for reply in (ANSWER, ANSWER, silent)] == [
        *("ProviderTurn", "ProviderTurn"),
        "ProviderTimeout",
    ]


# --- a kept connection that the server closes without a byte ------------------------------------------------------


class _LeavingServer(RawServer):
    """Answers the first request of the first connection, then closes it after it has read another one."""

    def __init__(self) -> None:
        super().__init__(self._serve)
        self.requests = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = b"".join(wire_stream("chat", text="Hello"))
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(answer)
        first = self.connections == 1
        while await read_request(reader):
            self.requests += 1
            if first and self.requests > 1:
                break
            writer.write(head + answer)
            await writer.drain()
        writer.close()


@pytest.mark.parametrize("attempts", [1, 2])
async def test_a_request_is_never_sent_twice_in_silence(attempts: int) -> None:
    async with _LeavingServer() as server:
        model = heald.Model("m", base_url=f"{server.url}/v1")
        session = heald.providers.open_provider_session(
            model, messages=[heald.user_message("Hi")], retry=heald.Retry(attempts=attempts, base=0)
        )
        await turn_of(session)
        outcome, events = await ask(session)
        assert server.requests == 1 + attempts
    if attempts == 1:
        assert isinstance(outcome, ProviderError)
        assert "before an answer came" in str(outcome)
    else:
        assert types(events)[:4] == ["message_start", "message_discarded", "retry_scheduled", "message_start"]
        assert isinstance(outcome, ProviderTurn)
        assert outcome.attempts == 2
