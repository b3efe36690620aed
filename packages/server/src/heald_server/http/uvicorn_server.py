"""Runs the application under uvicorn, on a socket that is bound before."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from types import FrameType

import msgspec
import uvicorn
from starlette.types import ASGIApp

from heald.core.errors import ConfigurationError
from heald_server.app import Extension, create_app
from heald_server.context import ServerContext
from heald_server.http.connections import ACCEPTS_PER_TICK, WAITING_CONNECTIONS, ConnectionTable
from heald_server.http.garbage import collecting_rarely
from heald_server.http.http_protocol import HttpProtocol
from heald_server.http.loop_errors import log_loop_errors
from heald_server.http.packaged_streams import end_packaged_streams
from heald_server.http.websocket_protocol import WebSocketProtocol
from heald_server.settings import ServerSettings

KEEP_ALIVE_SECONDS = 75
"""For an idle connection. Proxies and balancers keep theirs for 60 seconds. A server that closes first breaks the
request that a proxy sends in that moment, and the client gets a 502."""

_TICK_SECONDS = 1.0

MESSAGE_BYTES = 12 * 1024 * 1024
"""The largest WebSocket message that any route accepts, with pictures; most accept far less."""


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
                http=partial(HttpProtocol, self._connections),  # pyright: ignore[reportArgumentType]
                backlog=ACCEPTS_PER_TICK,
                log_config=None,
                log_level="error",  # anyone can send what is not a request
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
        self._ending = asyncio.Event()

    async def startup(self, sockets: "list[socket.socket] | None" = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(WAITING_CONNECTIONS)
        log_loop_errors(asyncio.get_running_loop())
        self._connections.start()
        if self.started and self._ready is not None:
            self._ready()

    async def main_loop(self) -> None:
        """Wait until the server is to end. Uvicorn looks ten times a second; an idle server shall sleep. The date of
        the responses is renewed at each tick."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._ending.wait()

    def end(self) -> None:
        """End the server soon. May be called by a handler of signals."""
        self.should_exit = True
        asyncio.get_running_loop().call_soon_threadsafe(self._ending.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._context.end_streams()
        until = asyncio.get_running_loop().time() + self._context.settings.goodbye_seconds
        end_packaged_streams(self._context, until)
        super().handle_exit(sig, frame)
        self.end()

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        self._context.end_streams()
        self._connections.stop()
        await super().shutdown(sockets)


def bind(settings: ServerSettings, *, shares_port: bool = False) -> socket.socket:
    """Bind the port before anything else, so that a port in use is reported at once.

    With `shares_port` several sockets may be bound to it, and the kernel spreads connections over them.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Without the protocol's name asyncio leaves TCP_NODELAY off: each response on a kept connection waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shares_port:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
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


def bind_more(bound: socket.socket, settings: ServerSettings, count: int) -> list[socket.socket]:
    """Bind more sockets to the port of a socket that had it alone until now. No other program can get it meanwhile."""
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return [bind(settings, shares_port=True) for _ in range(count)]


async def serve_app(
    app: ASGIApp, context: ServerContext, bound: socket.socket, ready: Callable[[], object] | None = None
) -> None:
    """Serve until a signal arrives, or the task is cancelled. `ready` is called once the server accepts requests. The
    process belongs to the server: its garbage collector is tuned for that."""
    collector = ExitStack()

    def on_ready() -> None:
        collector.enter_context(collecting_rarely())
        if ready is not None:
            ready()

    server = UvicornServer(app, context, on_ready)
    task = asyncio.create_task(server.serve([bound]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        server.end()
        await task
        raise
    finally:
        bound.close()
        collector.close()


@asynccontextmanager
async def running_server(
    context: ServerContext, extensions: Sequence[Extension] = (), *, protocols: Collection[str] | None = None
) -> AsyncGenerator[str]:
    """Serve in the running loop during the block. Yields the address; port 0 chooses a free port.

    `extensions` and `protocols` are those of `create_app`.
    """
    bound = bind(context.settings)
    context.settings = msgspec.structs.replace(context.settings, port=bound.getsockname()[1])
    ready = asyncio.Event()
    server = UvicornServer(create_app(context, extensions, protocols=protocols), context, ready.set)
    task = asyncio.create_task(server.serve([bound]))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        raise ConfigurationError("The server could not start; see its log.") from task.exception()
    try:
        yield context.settings.address
    finally:
        server.end()
        await task
