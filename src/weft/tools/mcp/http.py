"""A server behind a URL. Its answers are bounded; the configured headers go to its origin only."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from weft.tools.mcp.config import McpServer

MAX_ANSWER = 16 * 1024 * 1024


@asynccontextmanager
async def http_transport(server: McpServer) -> AsyncGenerator[TransportStreams]:
    """Messages over streamable HTTP for as long as the context lasts."""
    assert server.url is not None
    timeout = httpx2.Timeout(server.connect_timeout, read=max(server.call_timeout, server.connect_timeout) + 30)
    async with (
        httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity"} | server.headers,
            timeout=timeout,
            trust_env=server.use_proxy,
            event_hooks={"response": [_bound]},
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_ANSWER) as streams,
    ):
        yield streams


async def _bound(response: httpx2.Response) -> None:
    """Streams of events are bounded event by event; any other answer as a whole. Compressed ones could be bombs."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx2.DecodingError("The answer is compressed, which was not asked for.")
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        arrived = 0
        async for chunk in self._stream:
            arrived += len(chunk)
            if arrived > MAX_ANSWER:
                raise httpx2.StreamError("The answer is too large.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
