"""The transports of MCP over HTTP: streamable, and with server-sent events. Sizes are bounded."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from heald.tools.mcp.config import McpServer
from heald.tools.mcp.messages import MAX_MESSAGE, RawSchemas, error_response, shrink_message
from heald.tools.mcp.process_transport import LineBuffer

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


@asynccontextmanager
async def http_transport(
    server: McpServer, schemas: RawSchemas, auth: httpx2.Auth | None = None
) -> "AsyncGenerator[TransportStreams]":
    """Connect over HTTP for the duration of the context."""
    assert server.url is not None
    certificates = await asyncio.to_thread(_trusted_certificates)

    def open_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity"} | server.headers | (headers or {}),
            timeout=timeout,
            trust_env=server.use_proxy,
            verify=certificates,
            auth=auth,
            event_hooks={"response": [partial(_bound, schemas)]},
        )

    limit = max(server.call_timeout, server.connect_timeout) + 30
    timeout = httpx2.Timeout(server.connect_timeout, read=limit)
    if server.transport == "sse":
        async with sse_client(
            server.url,
            timeout=server.connect_timeout,
            sse_read_timeout=_IDLE_SECONDS,
            httpx_client_factory=open_client,
            auth=auth,
        ) as streams:
            yield streams
        return
    async with (
        open_client(timeout=timeout, auth=auth) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Load the certificates of the system, or those that the environment names. It is slow."""
    return httpx2.create_ssl_context()


async def _bound(schemas: RawSchemas, response: httpx2.Response) -> None:
    """Bound the messages of a response. Reject compressed ones: they could be bombs."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx2.DecodingError("The answer is compressed, which was not asked for.")
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    response.stream = (_EventStream if is_events else _WholeBody)(response.stream, schemas)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, schemas: RawSchemas) -> None:
        self._stream = stream
        self._schemas = schemas

    async def aclose(self) -> None:
        await self._stream.aclose()


class _WholeBody(_BoundedStream):
    """A body that is one message."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces: list[bytes] = []
        arrived = 0
        async for chunk in self._stream:
            arrived += len(chunk)
            if arrived > MAX_MESSAGE:
                raise httpx2.StreamError("The answer is too large.")
            pieces.append(chunk)
        yield await shrink_message(b"".join(pieces), self._schemas)


class _EventStream(_BoundedStream):
    """Server-sent events, each with one message. The data lines of an event become one line."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = LineBuffer()
        data: list[bytes] = []
        async for chunk in self._stream:
            for line in lines.feed(chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")):
                if line.startswith(b"data:"):
                    data.append(line[5:].strip())
                    continue
                if not line and data:
                    yield b"data: " + await self._message(data) + b"\n"
                    data = []
                yield line + b"\n"
            for head in lines.dropped():
                yield b"data: " + error_response(head) + b"\n\n"

    async def _message(self, data: list[bytes]) -> bytes:
        if sum(map(len, data)) > MAX_MESSAGE:
            return error_response(data[0])
        return await shrink_message(b" ".join(data), self._schemas)


_IDLE_SECONDS = 24 * 3600.0
"""Seconds that the event stream of the older HTTP transport may be silent: it has no messages between calls."""
