"""The scripted server does what its script says, on a real socket, and leaves nothing behind."""

import asyncio
import gzip
import zlib
from collections.abc import Callable

import aiohttp
import pytest

from heald.testing.server import Cut, Hang, Pause, ReceivedRequest, Reply, Reset, ScriptedServer


async def ask(url: str, path: str = "/v1/x", body: object = None) -> tuple[int, bytes]:
    async with aiohttp.ClientSession() as client, client.post(url + path, json=body) as response:
        return response.status, await response.read()


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    async with ScriptedServer([Reply([b"one"]), Reply.json({"two": 2}, status=429, headers={"Retry-After": "3"})]) as s:
        assert await ask(s.url, "/a?b=c", {"hello": "wörld"}) == (200, b"one")
        async with aiohttp.ClientSession() as client, client.post(s.url, data=b"not json") as response:
            assert response.status == 429
            assert response.headers["retry-after"] == "3"
            assert await response.json() == {"two": 2}
        first, second = s.requests
        assert (first.method, first.path, first.body) == ("POST", "/a?b=c", {"hello": "wörld"})
        assert first.headers["content-type"] == "application/json"
        assert (second.body, second.content) == (None, b"not json")
        assert not first.closed_early.is_set()


async def test_a_function_answers_what_it_was_asked() -> None:
    def answer(request: ReceivedRequest) -> Reply:
        return Reply([request.body["say"].encode()])

    async with ScriptedServer(answer) as server:
        assert await ask(server.url, body={"say": "a"}) == (200, b"a")
        assert await ask(server.url, body={"say": "b"}) == (200, b"b")


async def test_a_script_may_hold_functions() -> None:
    async with ScriptedServer([Reply([b"1"]), lambda request: Reply([request.path.encode()])]) as server:
        assert [await ask(server.url), await ask(server.url)] == [(200, b"1"), (200, b"/v1/x")]


async def test_an_empty_script_reports_it() -> None:
    async with ScriptedServer([]) as server:
        status, body = await ask(server.url)
    assert status == 400
    assert b"no reply left for POST /v1/x" in body


async def test_one_connection_serves_many_requests() -> None:
    async with ScriptedServer([Reply([b"1"]), Reply([b"2"], framing="length")]) as server:
        async with aiohttp.ClientSession() as client:
            for expected in (b"1", b"2"):
                async with client.post(server.url) as response:
                    assert await response.read() == expected
        assert [request.connection for request in server.requests] == [1, 1]


async def test_a_body_that_ends_with_the_connection() -> None:
    async with ScriptedServer([Reply([b"1", b"2"], framing="close"), Reply([b"3"])]) as server:
        assert await ask(server.url) == (200, b"12")
        assert await ask(server.url) == (200, b"3")


async def test_a_chunked_request_body() -> None:
    async def pieces():
        yield b'{"a":'
        yield b"1}"

    async with ScriptedServer([Reply([b"ok"])]) as server:
        async with aiohttp.ClientSession() as client, client.post(server.url, data=pieces()) as response:
            await response.read()
        assert server.requests[0].body == {"a": 1}


async def test_each_step_is_one_chunk() -> None:
    steps = [b"first", Pause(0.01), b"second"]
    async with (
        ScriptedServer([Reply(steps)]) as server,
        aiohttp.ClientSession() as client,
        client.post(server.url) as response,
    ):
        chunks = [data async for data, _ in response.content.iter_chunks() if data]
    assert chunks == [b"first", b"second"]


async def test_gzip_arrives_step_by_step() -> None:
    steps = [b"first", Pause(0.01), b"second"]
    async with (
        ScriptedServer([Reply(steps, gzip=True)]) as server,
        aiohttp.ClientSession(auto_decompress=False) as client,
        client.post(server.url) as response,
    ):
        first = await response.content.readany()
        rest = await response.read()
    assert response.headers["content-encoding"] == "gzip"
    assert zlib.decompressobj(wbits=31).decompress(first) == b"first"
    assert gzip.decompress(first + rest) == b"firstsecond"


async def test_gzip_with_a_length() -> None:
    async with ScriptedServer([Reply([b"first", b"second"], gzip=True, framing="length")]) as server:
        assert await ask(server.url) == (200, b"firstsecond")


@pytest.mark.parametrize("reply", [Reply([b"half", Cut()]), Reply([b"half", Cut(), b"rest"], framing="length")])
async def test_a_cut_is_seen_as_an_incomplete_body(reply: Reply) -> None:
    async with ScriptedServer([reply]) as server:
        with pytest.raises(aiohttp.ClientPayloadError):
            await ask(server.url)


async def test_a_reset_breaks_the_connection() -> None:
    async with ScriptedServer([Reply([Pause(0.02), Reset()])]) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()


STALLS: dict[str, Callable[[], Reply]] = {
    "hang": lambda: Reply([b"first", Hang()]),
    "pause": lambda: Reply([b"first", Pause(60), b"second"]),
    "pause at the end": lambda: Reply([b"first", Pause(60)], framing="close"),
}


@pytest.mark.parametrize("stall", STALLS)
async def test_a_client_that_disconnects_is_noticed(stall: str) -> None:
    async with (
        ScriptedServer([STALLS[stall]()]) as server,
        aiohttp.ClientSession() as client,
        client.post(server.url) as response,
    ):
        assert await response.content.readany() == b"first"
        (request,) = server.requests
        assert not request.closed_early.is_set()
        response.close()
        await asyncio.wait_for(request.closed_early.wait(), 60)


async def test_disconnecting_closes_everything_at_once() -> None:
    before = asyncio.all_tasks()
    async with aiohttp.ClientSession() as client:
        async with ScriptedServer([Reply([b"first", Hang()]), Reply([Pause(60)]), Reply([b"idle"])]) as server:
            hanging = await client.post(server.url)
            async with asyncio.timeout(60):
                paused = await client.post(server.url)
                idle = await client.post(server.url)
                await idle.read()
            started = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - started < 0.5
        assert asyncio.all_tasks() == before
        for response in (hanging, paused):
            with pytest.raises(aiohttp.ClientError):
                await response.read()


async def test_the_port_is_free_afterwards() -> None:
    async with ScriptedServer([]) as server:
        url = server.url
    with pytest.raises(aiohttp.ClientConnectorError):
        await ask(url)


async def test_nonsense_on_the_socket_is_dropped() -> None:
    async with ScriptedServer([]) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"hello\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    assert server.requests == []
