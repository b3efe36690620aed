"""Serving: the application on a socket, until somebody ends it. Streams learn of the end before it comes."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from types import FrameType

import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from weft.core.errors import ConfigurationError
from weft.core.json import encode
from weft.server.app import Extension, create_app
from weft.server.context import ServerContext
from weft.server.frames import Frames
from weft.server.headers import SECURITY
from weft.server.refusal import Refusal
from weft.server.settings import ServerSettings

HEAD_SECONDS = 30.0
MESSAGE_BYTES = 12 * 1024 * 1024
"""The largest WebSocket message that any route takes: a page of pictures. Most take far less."""


class _Connection(H11Protocol):
    """A connection that can be cut: closed, one whose client reads nothing would stay for as long as that likes.

    Nor does one stay whose client never gets to the end of its first request's head.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.app_state = self.app_state | {"cut": transport.abort}
        super().connection_made(transport)
        self.loop.call_later(HEAD_SECONDS, self._look)

    def _look(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:  # pyright: ignore[reportUnnecessaryComparison]
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """For what is no HTTP, in the words of all our refusals."""
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self.cycle.disconnected = True  # its head was good, its body is not: nobody waits for that answer
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer is on its way already
            return
        headers = [*SECURITY, (b"content-type", b"application/json"), (b"connection", b"close")]
        body = encode(Refusal("invalid", "This is no HTTP request that can be read.").data())
        with suppress(h11.LocalProtocolError):  # an answer to HEAD has no body
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Serving(uvicorn.Server):
    """One server on one socket."""

    def __init__(self, app: ASGIApp, context: ServerContext, ready: Callable[[], object] | None = None) -> None:
        settings = context.settings
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=_Connection,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=True,
                proxy_headers=False,
                ws=Frames,
                ws_max_size=MESSAGE_BYTES,
                ws_per_message_deflate=False,
                ws_ping_interval=20,
                ws_ping_timeout=20,
                h11_max_incomplete_event_size=64 * 1024,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=int(settings.goodbye_seconds) + 2,
                lifespan="on",
            )
        )
        self._context = context
        self._ready = ready

    async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._context.leave()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        self._context.leave()
        await super().shutdown(sockets)


def bind(settings: ServerSettings) -> socket.socket:
    """Take the port before anything else is set up, so that a port in use is said at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ConfigurationError(
            f"{settings.host}:{settings.port} cannot be used ({error.strerror}); choose another with --port."
        ) from None
    bound.setblocking(False)
    return bound


async def serve(
    app: ASGIApp, context: ServerContext, bound: socket.socket, ready: Callable[[], object] | None = None
) -> None:
    """Serve until a signal comes. `ready` is called once it answers."""
    server = Serving(app, context, ready)
    await server.serve([bound])


@asynccontextmanager
async def running(context: ServerContext, extensions: Sequence[Extension] = ()) -> AsyncGenerator[str]:
    """Serve in the running loop for as long as the block lasts. Gives the address; port 0 takes one that is free."""
    bound = bind(context.settings)
    context.settings = msgspec.structs.replace(context.settings, port=bound.getsockname()[1])
    ready = asyncio.Event()
    server = Serving(create_app(context, extensions), context, ready.set)
    task = asyncio.create_task(server.serve([bound]))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        raise ConfigurationError("The server could not start; its log says why.") from task.exception()
    try:
        yield context.settings.address
    finally:
        server.should_exit = True
        await task
