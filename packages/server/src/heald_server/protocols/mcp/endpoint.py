"""MCP over streamable HTTP, at `/mcp`, behind the guard and its tokens.

Each owner has a server of its own, so that a connection of one cannot be continued by another."""

import asyncio
from collections import OrderedDict

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from heald_server.context import ServerContext
from heald_server.http.operations import caller_of
from heald_server.protocols.mcp.offer import McpOffer
from heald_server.protocols.mcp.recent_events import RecentEvents

MAX_OWNERS = 200
"""Maximum owners with a running server. The one that was not used for the longest time ends."""
MAX_BODY = 24 * 1024 * 1024


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
        try:
            manager = await server.manager()
        except Exception:
            self._running.pop(owner, None)  # the next request tries again
            raise
        if len(self._running) > MAX_OWNERS:
            _, oldest = self._running.popitem(last=False)
            oldest.stop()
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        for server in self._running.values():
            server.stop()
            await server.wait()


class _OwnerServer:
    """The server of one owner. It runs in a task, as the MCP package requires."""

    def __init__(self, context: ServerContext, owner: str) -> None:
        self._offer = McpOffer(context, lambda _: owner)
        self._opened: asyncio.Future[StreamableHTTPSessionManager] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="heald-mcp-server")

    async def manager(self) -> StreamableHTTPSessionManager:
        """Return the manager of the connections, once it runs."""
        return await asyncio.shield(self._opened)

    async def _run(self) -> None:
        try:
            manager = StreamableHTTPSessionManager(
                app=await self._offer.server(),
                event_store=RecentEvents(),
                max_request_body_size=MAX_BODY,
                retry_interval=1000,
            )
        except Exception as error:
            self._opened.set_exception(error)
            return
        async with manager.run():
            self._opened.set_result(manager)
            await self._stop.wait()
            await self._offer.close()

    def stop(self) -> None:
        self._stop.set()

    async def wait(self) -> None:
        await asyncio.wait([self._task], timeout=10)
