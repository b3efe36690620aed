"""The MCP server at `/mcp`, over streamable HTTP, behind the guard of the server and its tokens.

Each owner has a server of its own, so that a connection of one cannot be continued by another.
"""

import asyncio
from collections import OrderedDict, deque

import mcp_types as types
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from weft.server.context import ServerContext
from weft.server.mcp.offer import McpOffer
from weft.server.operations import caller_of

MAX_OWNERS = 200
"""Maximum owners with a running server. The one that was not used for the longest time ends."""
MAX_BODY = 24 * 1024 * 1024
_MAX_EVENTS = 2000


class McpEndpoint:
    """Answers the requests to `/mcp`."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._running: OrderedDict[str, _OwnerServer] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = caller_of(Request(scope)).owner
        server = self._running.get(owner)
        if server is None:
            server = self._running[owner] = _OwnerServer(self._context, owner)
        self._running.move_to_end(owner)
        await server.start()
        if len(self._running) > MAX_OWNERS:
            _, oldest = self._running.popitem(last=False)
            oldest.stop()
        await server.manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        for server in self._running.values():
            server.stop()
            await server.wait()


class _OwnerServer:
    """The server of one owner. It runs in a task, as the MCP package requires."""

    def __init__(self, context: ServerContext, owner: str) -> None:
        offer = McpOffer(context, lambda _: owner)
        self.manager = StreamableHTTPSessionManager(
            app=offer.server(), event_store=RecentEvents(), max_request_body_size=MAX_BODY, retry_interval=1000
        )
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="weft-mcp-server")
        await self._ready.wait()

    async def _run(self) -> None:
        async with self.manager.run():
            self._ready.set()
            await self._stop.wait()

    def stop(self) -> None:
        self._stop.set()

    async def wait(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task], timeout=10)


class RecentEvents(EventStore):
    """Keeps the last events of streams, so that a client whose connection was cut gets the rest."""

    def __init__(self) -> None:
        self._events: deque[tuple[int, str, types.JSONRPCMessage | None]] = deque(maxlen=_MAX_EVENTS)
        self._last = 0

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._last += 1
        self._events.append((self._last, stream_id, message))
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        number = int(last_event_id) if last_event_id.isdecimal() else -1
        stream = next((name for at, name, _ in self._events if at == number), None)
        if stream is None:
            return None
        for at, name, message in list(self._events):
            if at > number and name == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream
