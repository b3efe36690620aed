"""Other requests than a model's: any method, one answer on a connection of its own, and given addresses."""

import asyncio
import contextlib
import ssl
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from http1_bench import chunked, cut
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_bench import until
from provider_sockets import RawServer, certificate, never_answer, refused_port

from example_counts import scaled
from heald.core.errors import InvalidRequest
from heald.http1 import pool as http1_pool
from heald.http1.connection import HttpReply
from heald.http1.errors import ConnectTimeout, NetworkError, NotHttp, Unreachable, UntrustedCertificate
from heald.http1.pool import ConnectionPool
from heald.http1.request import Origin, RequestTarget
from heald.http1.tls import tls_context

OK = b"HTTP/1.1 200 OK\r\n"
SHORT = OK + b"content-length: 2\r\n\r\nhi"


class Keeping(RawServer):
    """Answers one head after another, and keeps what was asked."""

    def __init__(self, *answers: bytes, close: bool = False, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(self._serve, tls)
        self.heads: list[str] = []
        self.left = 0
        self._answers = answers
        self._close = close

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0))
                writer.write(self._answers[len(self.heads) % len(self._answers)])
                self.heads.append(head)
                await writer.drain()
                if self._close:
                    break
        self.left += 1


@asynccontextmanager
async def pool() -> AsyncGenerator[ConnectionPool]:
    made = ConnectionPool()
    try:
        yield made
    finally:
        await made.close()


async def send(pool: ConnectionPool, method: str, url: str, body: bytes | None = None, **headers: str) -> HttpReply:
    target = RequestTarget.parse(url)
    head = target.encode_head(method, headers, None if body is None else len(body))
    async with asyncio.timeout(60):
        return await pool.send(target.origin, head, body or b"", tls=None, connect_timeout=5)


async def read(reply: HttpReply) -> bytes:
    body = b""
    async with asyncio.timeout(60):
        while piece := await reply.read():
            body += piece
    return body


# --- methods -----------------------------------------------------------------------------------------------------


def test_a_head_without_a_body() -> None:
    target = RequestTarget.parse("http://h:1/a?b=c")
    assert target.encode_head("GET", {"Accept": "*/*"}).decode().split("\r\n") == [
        "GET /a?b=c HTTP/1.1",
        "host: h:1",
        "accept-encoding: identity",
        "accept: */*",
        "",
        "",
    ]
    given_ = {"Connection": "keep-alive", "Content-Length": "5", "Transfer-Encoding": "chunked"}
    last = target.encode_head("GET", given_, last=True).decode().split("\r\n")
    assert last[1:] == ["host: h:1", "accept-encoding: identity", "connection: close", "", ""]
    assert target.encode_head("PUT", {}, 0).endswith(b"\r\ncontent-length: 0\r\n\r\n")


def test_nobody_brings_a_header_of_his_own() -> None:
    target = RequestTarget.parse("http://h/")
    for headers in ({"x": "a\r\nb: c"}, {"x\r\nb": "c"}, {"": ""}):
        with pytest.raises(InvalidRequest):
            target.encode_head("GET", headers)


async def test_all_methods_share_a_connection() -> None:
    none = b"HTTP/1.1 204 No Content\r\n\r\n"
    announced = OK + b"content-length: 5000\r\n\r\n"
    coded = OK + b"transfer-encoding: chunked\r\n\r\n"
    async with Keeping(SHORT, announced, coded, SHORT, none, SHORT) as server, pool() as connections:
        for method, body, said in [
            ("GET", None, b"hi"),
            ("HEAD", None, b""),
            ("HEAD", None, b""),
            ("PUT", b"12345", b"hi"),
            ("DELETE", None, b""),
            ("POST", b"", b"hi"),
        ]:
            reply = await send(connections, method, server.url, body)
            assert (await read(reply), reply.at_end()) == (said, True), method
        assert server.connections == 1
    assert [head.split(" ")[0] for head in server.heads] == ["GET", "HEAD", "HEAD", "PUT", "DELETE", "POST"]
    assert ["content-length" in head for head in server.heads] == [False, False, False, True, False, True]


async def test_the_answer_to_head_is_no_model_for_the_next() -> None:
    async with Keeping(OK + b"content-length: 2\r\n\r\n", SHORT) as server, pool() as connections:
        assert await read(await send(connections, "HEAD", server.url)) == b""
        assert await read(await send(connections, "GET", server.url)) == b"hi"
        assert server.connections == 1


# --- once ------------------------------------------------------------------------------------------------------------


def once_at(url: str, **headers: str) -> contextlib.AbstractAsyncContextManager[HttpReply]:
    return http1_pool.get_once(RequestTarget.parse(url), headers, tls=None, connect_timeout=5)


@pytest.mark.parametrize(
    "answer",
    [
        SHORT,
        OK + b"transfer-encoding: chunked\r\n\r\n" + chunked(b"h", b"i"),
        OK + b"\r\nhi",
        b"HTTP/1.0 200\r\n\r\nhi",
    ],
    ids=["length", "chunked", "close", "old"],
)
async def test_one_answer(answer: bytes) -> None:
    async with Keeping(answer, close=True) as server:
        async with once_at(server.url + "/a", accept="text/html") as reply:
            assert (reply.status, await read(reply)) == (200, b"hi")
        (head,) = server.heads
    assert head.startswith("GET /a HTTP/1.1\r\n")
    assert "\r\nconnection: close\r\n" in head


async def test_nothing_is_left_of_it() -> None:
    """Whether it was read, half read or not at all."""
    endless = OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n"
    async with Keeping(SHORT, endless, endless) as server:
        async with once_at(server.url) as reply:
            await read(reply)
        await until(lambda: server.left == 1)
        async with once_at(server.url) as reply:
            assert await reply.read() == b"hi"
        await until(lambda: server.left == 2)
        async with once_at(server.url):
            pass
        await until(lambda: server.left == 3)
        with pytest.raises(ZeroDivisionError):
            async with once_at(server.url):
                raise ZeroDivisionError
        await until(lambda: server.left == 4)


@settings(max_examples=scaled(60), deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda data: OK + data), st.lists(st.integers(0, 300)))
def test_any_bytes_are_an_answer_or_a_fault(data: bytes, at: list[int]) -> None:
    async def play() -> None:
        async def send_cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            for piece in cut(data, at):
                writer.write(piece)
                await asyncio.sleep(0)

        async with RawServer(send_cut) as server:
            with contextlib.suppress(NetworkError):
                async with once_at(server.url) as reply:
                    await read(reply)

    asyncio.run(play())


# --- given addresses -----------------------------------------------------------------------------------------------


def at(port: int, *addresses: str, scheme: str = "http", host: str = "name.invalid") -> RequestTarget:
    return RequestTarget(Origin(scheme, host, port, addresses=addresses), "/")


async def test_a_name_is_not_looked_up_where_addresses_are_given() -> None:
    async with Keeping(SHORT) as server:
        async with http1_pool.get_once(at(server.port, "127.0.0.1"), {}, tls=None, connect_timeout=5) as reply:
            assert await read(reply) == b"hi"
        assert f"host: name.invalid:{server.port}\r\n" in server.heads[0]
        with pytest.raises(Unreachable):
            async with http1_pool.get_once(at(server.port, "localhost"), {}, tls=None, connect_timeout=5):
                pass
        assert server.connections == 1


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is this machine on Linux only")


@on_linux
async def test_addresses_are_tried_in_their_order() -> None:
    async with Keeping(SHORT) as server:
        target = at(server.port, "127.0.0.2", "127.0.0.3", "127.0.0.1")
        async with http1_pool.get_once(target, {}, tls=None, connect_timeout=5) as reply:
            assert await read(reply) == b"hi"
        with pytest.raises(Unreachable, match="Connect call failed"):
            async with http1_pool.get_once(
                at(refused_port(), "127.0.0.2", "127.0.0.1"), {}, tls=None, connect_timeout=5
            ):
                pass
        async with http1_pool.get_once(
            at(server.port, "127.0.0.1", "127.0.0.2"), {}, tls=None, connect_timeout=5
        ) as reply:
            assert reply.status == 200


@on_linux
async def test_each_has_its_part_of_the_time(trusted: Path) -> None:
    """The first takes connections and says nothing: TLS never stands."""
    _, context = certificate(trusted, "models.test")
    async with RawServer(never_answer) as mute:
        server = await asyncio.start_server(send_short_answer, "127.0.0.2", mute.port, ssl=context)
        target = at(mute.port, "127.0.0.1", "127.0.0.2", scheme="https", host="models.test")
        async with server, http1_pool.get_once(target, {}, tls=tls_context(), connect_timeout=4) as reply:
            assert await read(reply) == b"hi"
        target = at(mute.port, "127.0.0.1", "127.0.0.1", "127.0.0.1", scheme="https", host="models.test")
        began = asyncio.get_running_loop().time()
        with pytest.raises(ConnectTimeout):
            async with http1_pool.get_once(target, {}, tls=tls_context(), connect_timeout=0.6):
                pass
        assert asyncio.get_running_loop().time() - began < 4
        assert mute.connections == 4


async def send_short_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(SHORT)
    await writer.drain()
    writer.close()


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


async def test_tls_is_for_the_name_and_not_for_the_address(trusted: Path) -> None:
    _, context = certificate(trusted, "models.test")
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    async with Keeping(SHORT, tls=context) as server:
        target = at(server.port, "127.0.0.1", scheme="https", host="models.test")
        async with http1_pool.get_once(target, {}, tls=tls_context(), connect_timeout=5) as reply:
            assert await read(reply) == b"hi"
        with pytest.raises(UntrustedCertificate):
            async with http1_pool.get_once(
                at(server.port, "127.0.0.1", scheme="https", host="other.test"),
                {},
                tls=tls_context(),
                connect_timeout=5,
            ):
                pass
    assert names == ["models.test", "other.test"]


async def test_two_methods_to_one_origin_are_two() -> None:
    async with Keeping(SHORT) as server, pool() as connections:
        for target in (
            at(server.port, "127.0.0.1"),
            at(server.port, "127.0.0.1", "127.0.0.2"),
            RequestTarget.parse(server.url),
        ):
            for _ in range(2):
                reply = await connections.send(
                    target.origin, target.encode_head("GET", {}), b"", tls=None, connect_timeout=5
                )
                await read(reply)
        assert server.connections == 3


async def test_an_answer_that_is_none() -> None:
    async with Keeping(b"SSH-2.0-x\r\n\r\n", close=True) as server:
        with pytest.raises(NotHttp):
            async with once_at(server.url):
                pass
