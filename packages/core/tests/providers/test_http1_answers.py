"""Answers over a real socket: every framing in every cut, and servers that answer in odd ways."""

import asyncio
import gzip
import zlib
from socket import AF_INET, SOCK_STREAM

import pytest
from http1_bench import PieceServer, bytewise, chunked, cut, fetch, post, read_all, read_request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_bench import is_one_sentence
from provider_sockets import RawServer, refused_port

from example_counts import scaled
from heald.core.errors import ConnectionFailed, MalformedResponse, ProviderError
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, broken_read

BODY = b"data: one\n\ndata: \xc3\xa9\n\n"
OK = b"HTTP/1.1 200 OK\r\n"
SIZE = b"%d" % len(BODY)

VALID = {
    "length": OK + b"Content-Length: " + SIZE + b"\r\n\r\n" + BODY,
    "chunked": OK + b"transfer-encoding: chunked\r\n\r\n" + chunked(BODY[:3], BODY[3:]),
    "extensions": OK + b"transfer-encoding: chunked\r\n\r\n" + b"A ;x\r\n" + BODY[:10] + b"\r\n" + chunked(BODY[10:]),
    "trailers": OK + b"transfer-encoding: chunked\r\n\r\n" + chunked(BODY, trailers=b"x-sum: 1\r\n"),
    "close": OK + b"x: y\r\n\r\n" + BODY,
    "1.0": b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
    "no reason": b"HTTP/1.1 200\r\ncontent-length: " + SIZE + b"\r\n\r\n" + BODY,
    "notices": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + OK + b"\r\n" + BODY,
    "line feeds": b"HTTP/1.1 200 OK\nx: y\n\n" + BODY,
    "gzip": OK + b"transfer-encoding: chunked\r\ncontent-encoding: gzip\r\n\r\n" + chunked(gzip.compress(BODY)),
    "deflate": OK + b"content-encoding: deflate\r\n\r\n" + zlib.compress(BODY),
    "twice the same length": OK + b"content-length: %b\r\ncontent-length: %b\r\n\r\n" % (SIZE, SIZE) + BODY,
}


@pytest.mark.parametrize("name", VALID)
async def test_whole_and_byte_by_byte(name: str) -> None:
    for pieces in ([VALID[name]], bytewise(VALID[name])):
        async with PieceServer(pieces) as server:
            answer = await fetch(server.url)
            assert (answer.status, answer.body) == (200, BODY)
            assert server.connections == 1


@given(st.sampled_from(sorted(VALID)), st.lists(st.integers(0, 400), max_size=12))
@settings(max_examples=scaled(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_any_cut(name: str, cuts: list[int]) -> None:
    async def once() -> bytes:
        async with PieceServer(cut(VALID[name], cuts)) as server:
            return (await fetch(server.url)).body

    assert asyncio.run(once()) == BODY


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_that_has_no_body(status: int) -> None:
    async with PieceServer([b"HTTP/1.1 %d X\r\ncontent-length: 9\r\n\r\n" % status], close=False) as server:
        assert await fetch(server.url) == (status, {"content-length": "9"}, b"")


# --- what cannot be read ----------------------------------------------------------------------------------------

MALFORMED_HEADS = {
    "nothing like it": b"SSH-2.0-OpenSSH_9.6\r\n",
    "tls": b"\x15\x03\x03\x00\x02\x02\x46",
    "a newer version": b"HTTP/2 200\r\n\r\n",
    "a status of letters": b"HTTP/1.1 abc OK\r\n\r\n",
    "folded": OK + b"a: b\r\n c\r\n\r\n",
    "space before the colon": OK + b"content-length : 3\r\n\r\nabc",
    "no colon": OK + b"hello\r\n\r\n",
    "a length and chunks": OK + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": OK + b"content-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
    "a negative length": OK + b"content-length: -3\r\n\r\nabc",
    "another transfer encoding": OK + b"transfer-encoding: gzip, chunked\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n",
    "notices for ever": b"HTTP/1.1 100 Continue\r\n\r\n" * 4000,
    "too long a head": OK + b"a: " + b"x" * 70_000,
    "too many headers": OK + b"a: x\r\n" * 20_000 + b"\r\n",
    "brotli": OK + b"content-encoding: br\r\ncontent-length: 3\r\n\r\nabc",
}


@pytest.mark.parametrize("name", MALFORMED_HEADS)
async def test_a_head_that_cannot_be_read(name: str) -> None:
    """Told at once, although the connection stays open."""
    async with PieceServer([MALFORMED_HEADS[name]], close=False) as server:
        with pytest.raises(MalformedResponse, match=r"cannot be read: it.*; check") as raised:
            await fetch(server.url)
        assert is_one_sentence(str(raised.value))
        assert server.url in str(raised.value)
        assert not raised.value.retryable
        assert len(server.requests) == 1


MALFORMED_BODIES = {
    "no size": OK + b"transfer-encoding: chunked\r\n\r\nhello\r\n",
    "a chunk too long": OK + b"transfer-encoding: chunked\r\n\r\n3\r\nhello\r\n",
    "not packed": OK + b"content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello",
}


@pytest.mark.parametrize("name", MALFORMED_BODIES)
async def test_a_body_that_cannot_be_read(name: str) -> None:
    async with PieceServer([MALFORMED_BODIES[name]], close=False) as server:
        response = await post(server.url)
        with pytest.raises(Exception) as raised:  # noqa: PT011
            await read_all(response)
        broken = broken_read(raised.value)
        assert isinstance(broken, BrokenRead)
        told = network_error(broken.cause, server.url)
        assert isinstance(told, ConnectionFailed)
        assert is_one_sentence(str(told))
        response.close()


@pytest.mark.parametrize("name", ["length", "chunked", "extensions", "trailers", "gzip"])
async def test_an_answer_that_is_cut_off(name: str) -> None:
    """At every byte: what came is read, and then the break is told. Never a silent end."""
    whole = VALID[name]
    body_at = whole.index(b"\r\n\r\n") + 4
    for end in range(len(whole)):
        async with PieceServer([whole[:end]]) as server:
            if end < body_at:
                with pytest.raises(ConnectionFailed, match="broke") as raised:
                    await fetch(server.url)
                assert raised.value.reached
                assert is_one_sentence(str(raised.value))
                continue
            response = await post(server.url)
            seen: list[bytes] = []
            with pytest.raises(Exception) as failed:  # noqa: PT011
                await read_into(seen, response)
            assert isinstance(broken_read(failed.value), BrokenRead)
            assert BODY.startswith(b"".join(seen))
            if name == "length":
                assert b"".join(seen) == whole[body_at:end]


async def read_into(seen: list[bytes], response: Response) -> None:
    while chunk := await response.read_chunk():
        seen.append(chunk)


async def test_an_answer_that_is_reset() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")  # and the body stays unread, so that closing resets
        writer.write(OK + b"content-length: 100\r\n\r\nsome")

    async with RawServer(reset) as server:
        with pytest.raises((ProviderError, OSError, Exception)) as raised:
            await fetch(server.url, b"x" * 1000)
        error = raised.value if isinstance(raised.value, ProviderError) else network_error(raised.value, server.url)
        assert isinstance(error, ConnectionFailed)
        assert "broke" in str(error)


async def test_several_addresses_that_refuse_are_reported_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def two(host: str, port: int, **_: object) -> list[object]:
        return [(AF_INET, SOCK_STREAM, 6, "", (f"127.0.0.{last}", port)) for last in (1, 2)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", two)
    with pytest.raises(ConnectionFailed) as raised:
        await fetch(f"http://models.test:{refused_port()}")
    assert "(Connection refused)" in str(raised.value)
    assert not raised.value.reached


# --- the ends of a conversation -----------------------------------------------------------------------------------


async def test_a_server_that_shuts_its_half() -> None:
    """It says all it has to say and then only listens."""

    async def shut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK + b"\r\n" + BODY)
        writer.write_eof()
        await reader.read()

    async with RawServer(shut) as server:
        assert (await fetch(server.url)).body == BODY


@pytest.mark.parametrize("ending", ["stays", "closes"])
async def test_an_answer_before_the_request_is_whole(ending: str) -> None:
    """A server that will not read so much says so, and is heard. The connection is of no more use."""
    body = b"x" * 32 * 1024 * 1024

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 7\r\n\r\nToo big")
        await writer.drain()
        if ending == "stays":
            await asyncio.sleep(30)

    async with RawServer(refuse) as server:
        for turn in (1, 2):
            answer = await fetch(server.url, body)
            assert (answer.status, answer.body) == (413, b"Too big")
            assert server.connections == turn


async def test_a_large_request_arrives_whole() -> None:
    body = bytes(range(256)) * 40_000
    async with PieceServer([VALID["length"]], close=False) as server:
        for _ in range(2):
            assert (await fetch(server.url, body)).body == BODY
        assert [sent for _, sent in server.requests] == [body, body]
        assert server.connections == 1
