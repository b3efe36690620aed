"""Servers that mean harm: whatever they send, it ends in an answer or in one sentence, soon and within bounds."""

import asyncio
import gzip
import sys
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_site import Reply, page, site

from example_counts import scaled
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import FetchedResponse, WebFetcher

OK = b"HTTP/1.1 200 OK\r\n"


async def fetched(reply: Reply, *, max_bytes: int = 100_000, seconds: float = 5.0) -> FetchedResponse:
    async with site({"/": reply}) as here:
        return await WebFetcher(allow={here.at}, max_bytes=max_bytes, seconds=seconds).fetch(f"http://{here.at}/")


async def refused(reply: Reply, kind: str, **limits: float) -> str:
    with pytest.raises(ToolFault) as caught:
        await fetched(reply, **limits)  # pyright: ignore[reportArgumentType]
    assert caught.value.kind == kind, str(caught.value)
    assert "CANARY" not in str(caught.value), "what a server says is not repeated as ours"
    return str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        OK + b"content-length: 5\r\n\r\nhello",
        OK + b"content-length: 5, 5\r\n\r\nhello",
        OK + b"content-length: 5\r\ncontent-length: 5\r\n\r\nhello",
        OK + b"content-length: 5\r\n\r\nhello, and more than that",
        OK + b"transfer-encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n003\r\nllo\r\n0\r\nlate: yes\r\n\r\n",
        OK
        + b"Transfer-Encoding: Chunked\r\ncontent-encoding: gzip\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
        % (len(gzip.compress(b"hello", mtime=0)), gzip.compress(b"hello", mtime=0)),
        OK + b"connection: close\r\n\r\nhello",
        b"HTTP/1.0 200 OK\n\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + OK + b"content-length: 5\r\n\r\nhello",
    ],
)
async def test_every_method_to_frame_a_body(reply: bytes) -> None:
    assert (await fetched(reply)).body == b"hello"


@pytest.mark.parametrize(
    "reply",
    [
        b"CANARY\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 99 CANARY\r\n\r\n",
        b"HTTP/1.1 101 CANARY\r\nupgrade: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        OK + b"content-length: 3\r\ncontent-length: 5\r\n\r\nhello",
        OK + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        OK + b"content-length: -1\r\n\r\nhello",
        OK + b"content-length: +5\r\n\r\nhello",
        OK + b"content-length: 0x5\r\n\r\nhello",
        OK + b"content-length: " + b"9" * 5000 + b"\r\n\r\nhello",
        OK + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK + b"a: b\r\n CANARY: folded\r\n\r\n",
        OK + b"content-length : 5\r\n\r\nhello",
        OK + b"a: \0CANARY\r\n\r\n",
        OK + b"CANARY\r\n\r\n",
        OK + b"a: " + b"b" * 70_000 + b"\r\n\r\nhello",
        OK + b"a: b\r\n" * 20_000 + b"\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
    ],
)
async def test_heads_that_are_none(reply: bytes) -> None:
    assert "it did not answer as a web server does" in await refused(reply, "unreachable")


@pytest.mark.parametrize(
    "reply",
    [
        OK,
        OK + b"content-length: 10\r\n\r\nhello",
        OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhelloCANARY",
        OK + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\nhello",
        OK + b"transfer-encoding: chunked\r\n\r\n5;" + b"x" * 30_000 + b"\r\nhello\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 20_000,
    ],
)
async def test_bodies_that_break_off(reply: bytes) -> None:
    assert "the connection broke off" in await refused(reply, "unreachable")


async def test_a_head_without_end_is_not_kept() -> None:
    sent = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(OK)
        while True:
            writer.write(b"a: " + b"b" * 10_000 + b"\r\n")
            sent += 10_000
            await writer.drain()

    tracemalloc.start()
    await refused(endless, "unreachable", seconds=30)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sent < 50_000_000
    assert peak < 20_000_000


async def test_a_head_that_trickles_ends_with_the_time() -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        while True:
            writer.write(b"a: b\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    assert "did not answer within 0.5 s" in await refused(trickle, "timeout", seconds=0.5)


async def test_an_announced_size_is_believed_before_anything_is_read() -> None:
    left = asyncio.Event()

    async def large(writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"content-length: 100001\r\n\r\n")
        await writer.drain()
        try:
            await asyncio.sleep(30)
        finally:
            left.set()

    assert "larger than 100,000 bytes" in await refused(large, "too_large", max_bytes=100_000)
    exact = b"x" * 100_000
    assert (await fetched(page(exact), max_bytes=100_000)).body == exact
    assert left.is_set()


@pytest.mark.parametrize("head", [b"\r\n", b"transfer-encoding: chunked\r\n\r\n"], ids=["close", "chunked"])
async def test_an_unannounced_size_is_found_out(head: bytes) -> None:
    piece = b"x" * 10_000

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(OK + head)
        while True:
            writer.write(b"2710\r\n" + piece + b"\r\n")
            await writer.drain()

    await refused(pour, "too_large", seconds=30)


@pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is this machine on Linux only")
async def test_the_next_address_is_tried_and_no_other() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.3", "127.0.0.2", "127.0.0.1"]

    async with site({"/": page("hello")}) as here:
        outgoing = WebFetcher(resolve=resolve, allow={"ok.test"})
        assert (await outgoing.fetch(f"http://ok.test:{here.port}/")).body == b"hello"
        assert len(here.connections) == 1
    assert asked == ["ok.test"]


async def test_what_is_asked() -> None:
    async with site({"/a%20b?c=d&e=[1]'": page("x")}) as here:
        await WebFetcher(allow={here.at}).fetch(f"http://{here.at}/a%20b?c=d&e=[1]'#part")
        (head,) = here.heads
    lines = head.split("\r\n")
    assert lines[0] == "GET /a%20b?c=d&e=[1]' HTTP/1.1"
    assert {line.partition(":")[0] for line in lines[1:] if line} == {
        "host",
        "accept",
        "accept-encoding",
        "user-agent",
        "connection",
    }
    assert "connection: close" in lines


_LINES = st.sampled_from(
    [b"content-length: 5", b"content-length: 0", b"transfer-encoding: chunked", b"content-encoding: gzip", b"a: b",
     b" c", b"location: http://127.0.0.1:1/", b"connection: keep-alive", b"content-type: text/html", b"\xff: \xfe", b""]
)  # fmt: skip
_STATUS = st.sampled_from(
    [b"HTTP/1.1 200 OK", b"HTTP/1.0 404", b"HTTP/1.1 302 Found", b"HTTP/1.1 100 Continue", b"HTTP/1"]
)


@settings(max_examples=scaled(80), deadline=None)
@given(_STATUS, st.lists(_LINES, max_size=6), st.binary(max_size=80))
def test_whatever_is_sent(status: bytes, lines: list[bytes], body: bytes) -> None:
    async def play() -> None:
        with suppress(ToolFault):
            await fetched(b"\r\n".join([status, *lines, b"", body]))

    asyncio.run(play())
