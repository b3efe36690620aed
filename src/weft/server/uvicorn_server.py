"""Runs the application under uvicorn, with bounded connections and WebSocket frames, and writes logs as JSON lines."""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import IO, Any

import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent  # pyright: ignore[reportPrivateImportUsage]
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, encode, encode_text
from weft.server.app import Extension, create_app
from weft.server.connections import (
    ACCEPTS_PER_TICK,
    WAITING_CONNECTIONS,
    BoundedHttp,
    ConnectionTable,
    log_loop_errors,
)
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.limits import RateLimiter
from weft.server.request_scope import SECURITY_HEADERS
from weft.server.settings import ServerSettings

KEEP_ALIVE_SECONDS = 75
"""For an idle connection. Proxies and balancers keep theirs for 60 seconds. A server that closes first breaks the
request that a proxy sends in that moment, and the client gets a 502."""
PINGS_PER_SECOND = 20
FRAGMENTS_PER_MESSAGE = 4096
_CHUNK = 4096
_MAX_AFTER_CLOSE = 64 * 1024
"""Bytes that are read after our close frame, in search of the client's."""
_CHECK_SECONDS = 0.1
_QUIET_CHECKS = 3
"""Checks without a response after which none is left to write."""
_POLICY = 1008
_INVALID_TEXT = 1007

_log = logging.getLogger("weft.server.frames")
_log.setLevel(logging.WARNING)  # the library logs every header below that, tokens included


class _Handshake(ServerProtocol):
    """Adds the security headers to the response that rejects an upgrade."""

    def reject(self, status: Any, text: str) -> Response:
        response = super().reject(status, text)
        response.headers.update({name.decode(): value.decode() for name, value in SECURITY_HEADERS})
        return response


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Bounds what the application never sees: pings, fragments, and frames that arrive faster than they are read."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = _Handshake(max_size=self.config.ws_max_size, logger=_log)
        writers: dict[str, Any] = {"message_writer": SocketWriter(self)}
        self.app_state = self.app_state | writers
        self._pings = RateLimiter(PINGS_PER_SECOND)
        self._pending = bytearray()
        self._after_close = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self.app_state["connection"].close()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._pending += data
        self._feed()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._feed()
        return message

    def _feed(self) -> None:
        """Parse a chunk at a time, and only while the application keeps up."""
        while self._pending and not self.read_paused and not self.transport.is_closing():
            chunk = bytes(self._pending[:_CHUNK])
            del self._pending[:_CHUNK]
            if self.close_sent:
                self._after_close += len(chunk)
            if self._after_close > _MAX_AFTER_CLOSE:
                self._pending.clear()
                return
            super().data_received(chunk)

    def handle_ping(self) -> None:
        if self.close_sent:
            return
        if self._pings.allows():
            super().handle_ping()
        else:
            self._end(_POLICY, "Too many pings.")

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < FRAGMENTS_PER_MESSAGE:
            super().handle_cont(event)
        elif not self.close_sent:
            self._end(_POLICY, "Too many fragments.")

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent:
            text = b"".join(self.frames)
            self.frames = [text]
            try:
                text.decode()
            except UnicodeDecodeError:
                self._end(_INVALID_TEXT, "A text is written in UTF-8.")
                return
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and self.initial_response is None:
            raise ClientDisconnected  # closed by this class, before the application could know
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # a rejection completes it too

    def _end(self, code: int, reason: str) -> None:
        self.frames = []
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        if self.conn.close_sent is None:
            self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()


class SocketWriter:
    """Writes messages to a socket without ASGI: for streams that send many times a second."""

    def __init__(self, protocol: WebSocketProtocol) -> None:
        self._protocol = protocol

    @property
    def is_ready(self) -> bool:
        """Whether the socket is open, and its client reads what was written."""
        protocol = self._protocol
        is_open = protocol.conn.state is State.OPEN and not protocol.close_sent and not protocol.disconnected
        return is_open and protocol.writable.is_set() and not protocol.transport.is_closing()

    def write(self, texts: Sequence[str]) -> None:
        """Write each text as a message, all at once."""
        protocol = self._protocol
        for text in texts:
            protocol.conn.send_text(text.encode())
        protocol.transport.write(b"".join(protocol.conn.data_to_send()))


MESSAGE_BYTES = 12 * 1024 * 1024
"""The largest WebSocket message that any route accepts, with pictures; most accept far less."""


class _HttpProtocol(BoundedHttp):
    """A connection whose invalid requests are answered with an API error."""

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request with an API error."""
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self.cycle.disconnected = True  # its body is invalid: nobody waits for the response
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # a response has begun
            return
        headers = [*SECURITY_HEADERS, (b"content-type", b"application/json"), (b"connection", b"close")]
        body = encode(ApiError("invalid", "This is not a valid HTTP request.").data())
        with suppress(h11.LocalProtocolError):  # a response to HEAD has no body
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class UvicornServer(uvicorn.Server):
    """One server on one socket."""

    def __init__(self, app: ASGIApp, context: ServerContext, ready: Callable[[], object] | None = None) -> None:
        settings = context.settings
        self._connections = ConnectionTable.from_descriptors(settings.limits.connections)
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=partial(_HttpProtocol, self._connections),  # pyright: ignore[reportArgumentType]
                backlog=ACCEPTS_PER_TICK,
                log_config=None,
                log_level="error",  # anyone can send what is no request
                access_log=False,
                server_header=False,
                date_header=True,
                proxy_headers=False,
                ws=WebSocketProtocol,
                ws_max_size=MESSAGE_BYTES,
                ws_per_message_deflate=False,
                ws_ping_interval=20,
                ws_ping_timeout=20,
                h11_max_incomplete_event_size=64 * 1024,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=int(settings.goodbye_seconds) + 2,
                lifespan="on",
            )
        )
        self._context = context
        self._ready = ready

    async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING_CONNECTIONS)
        log_loop_errors(asyncio.get_running_loop())
        self._connections.start()
        if self.started and self._ready is not None:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._context.end_streams()
        until = asyncio.get_running_loop().time() + self._context.settings.goodbye_seconds
        _end_packaged_streams(self._context, until)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        self._context.end_streams()
        self._connections.stop()
        await super().shutdown(sockets)


def _end_packaged_streams(context: ServerContext, until: float, quiet: int = 0) -> None:
    """End the streams of MCP and A2A clients once no response is being sent, or when the time is over.

    The package that writes them would cut all of them off at the signal, in the middle of a response.
    """
    package = sys.modules.get("sse_starlette.sse")
    if package is None:
        return
    package.AppStatus.disable_automatic_graceful_drain()
    loop = asyncio.get_running_loop()
    quiet = 0 if context.is_responding else quiet + 1
    if quiet > _QUIET_CHECKS or loop.time() >= until:
        package.AppStatus.should_exit = True
    else:
        loop.call_later(_CHECK_SECONDS, _end_packaged_streams, context, until, quiet)


def bind(settings: ServerSettings) -> socket.socket:
    """Bind the port before anything else, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Without the protocol's name asyncio leaves TCP_NODELAY off: each response on a kept connection waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ConfigurationError(
            f"{settings.host}:{settings.port} cannot be used ({error.strerror}); choose another with --port: 0 is "
            "a free one (make run SERVE='--port 0')."
        ) from None
    bound.setblocking(False)
    return bound


async def serve_app(
    app: ASGIApp, context: ServerContext, bound: socket.socket, ready: Callable[[], object] | None = None
) -> None:
    """Serve until a signal arrives, or the task is cancelled. `ready` is called once the server accepts requests."""
    server = UvicornServer(app, context, ready)
    task = asyncio.create_task(server.serve([bound]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        server.should_exit = True
        await task
        raise
    finally:
        bound.close()


@asynccontextmanager
async def running_server(context: ServerContext, extensions: Sequence[Extension] = ()) -> AsyncGenerator[str]:
    """Serve in the running loop during the block. Yields the address; port 0 chooses a free port."""
    bound = bind(context.settings)
    context.settings = msgspec.structs.replace(context.settings, port=bound.getsockname()[1])
    ready = asyncio.Event()
    server = UvicornServer(create_app(context, extensions), context, ready.set)
    task = asyncio.create_task(server.serve([bound]))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        raise ConfigurationError("The server could not start; see its log.") from task.exception()
    try:
        yield context.settings.address
    finally:
        server.should_exit = True
        await task


_FIELDS = ("request", "session", "exchange", "seq", "epoch", "path", "ms")
_HIDDEN = "[hidden]"


class JsonLogFormatter(logging.Formatter):
    """Formats a record as one line of JSON, without secrets."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = [secret for secret in secrets if secret]

    def format(self, record: logging.LogRecord) -> str:
        line: JsonObject = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in _FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        text = encode_text(line)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def configure_logging(level: str, secrets: Sequence[str], stream: IO[str] | None = None) -> None:
    """Write the logs of Weft to a stream, standard error by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLogFormatter(secrets))
    logger = logging.getLogger("weft")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
