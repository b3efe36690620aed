"""Compresses JSON responses for clients that accept gzip. Streams and files are left as they are."""

import asyncio
import gzip

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heald_server.http.encodings import accepts_gzip

MIN_BYTES = 1024
"""Shorter responses gain nothing."""
_LEVEL = 4
_THREAD_BYTES = 128 * 1024
"""From here on a thread compresses, so that the loop is not held up."""


class JsonCompression:
    """An ASGI application whose JSON responses are compressed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not accepts_gzip(Request(scope)):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _CompressedSend(send))


class _CompressedSend:
    """Holds the head of a JSON response back until its body has come, which is one message."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_json(message):
            self._head = message
            return
        head, self._head = self._head, None
        if head is not None and message["type"] == "http.response.body":
            message = await _compress(head, message)
            await self._send(head)
        await self._send(message)


def _is_json(head: Message) -> bool:
    headers = MutableHeaders(raw=head["headers"])
    length = headers.get("content-length", "")
    is_json = headers.get("content-type", "").partition(";")[0] == "application/json"
    return is_json and "content-encoding" not in headers and length.isdecimal() and int(length) >= MIN_BYTES


async def _compress(head: Message, message: Message) -> Message:
    body: bytes = message.get("body", b"")
    headers = MutableHeaders(raw=head["headers"])
    headers.add_vary_header("Accept-Encoding")
    if message.get("more_body") or len(body) < MIN_BYTES:  # in pieces, or the response to HEAD
        return message
    if len(body) >= _THREAD_BYTES:
        body = await asyncio.to_thread(gzip.compress, body, _LEVEL)
    else:
        body = gzip.compress(body, _LEVEL)
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    return {**message, "body": body}
