"""The connection to one MCP server: start, list tools, call, restart after a crash, close.

It is held open by its own task, because the MCP library must close a connection in the task that opened it. A call
always ends with a result or a McpFault.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from weft import __version__
from weft.core.json import JsonObject
from weft.tools.mcp.catalogue import ListedTool, list_tools, read_tools
from weft.tools.mcp.config import McpFault, McpServer, shorten
from weft.tools.mcp.transports import ErrorLog, http_transport, process_transport

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CLOSE_SECONDS = 10.0
MAX_PROGRESS = 200
"""Maximum lines of progress of one call."""
_WRITE_SECONDS = 5.0
_RELIST_SECONDS = 0.2
_RESUBSCRIBE_SECONDS = 5.0
OnTools = Callable[[dict[str, ListedTool]], object]
Show = Callable[[str], object]
"""Receives a line of progress."""

_Answer: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_log = logging.getLogger("weft")


class McpConnection:
    """Calls the tools of one server. `on_tools` receives its tools at each start and after each change."""

    def __init__(self, server: McpServer, on_tools: OnTools) -> None:
        self.server = server
        self.log = ErrorLog()
        self._on_tools = on_tools
        self._run: _ServerRun | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def start(self) -> None:
        """Start the server if it is not running. Raises McpFault if that fails."""
        async with self._starting:
            if self._closed:
                raise McpFault(f"The MCP server {self.server.name!r} is closed.")
            if self._run is not None and self._run.is_usable():
                return
            if self._run is not None:
                await self._run.close()
            self._run = _ServerRun(self.server, self.log, self._on_tools)
            await self._run.start()

    async def call(self, original: str, arguments: JsonObject, show: Show) -> types.CallToolResult:
        """Call a tool. A crashed server is restarted first; a call that crashes the server is not repeated."""
        await self.start()
        assert self._run is not None
        return await self._run.call(original, arguments, show)

    async def close(self) -> None:
        self._closed = True
        if self._run is not None:
            self._run.end()
        async with self._starting:
            if self._run is not None:
                await self._run.close()
                self._run = None


class _ServerRun:
    """One run of a server, from start to end."""

    def __init__(self, server: McpServer, log: ErrorLog, on_tools: OnTools) -> None:
        self._server = server
        self._log = log
        self._on_tools = on_tools
        self._client: Client | None = None
        self._broken = False
        self._stop = asyncio.Event()
        self._stale = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    def is_usable(self) -> bool:
        return self._client is not None and not self._broken

    async def start(self) -> None:
        self._task = asyncio.create_task(self._hold_open(), name=f"weft-mcp-{self._server.name}")
        try:
            async with asyncio.timeout(self._server.connect_timeout):
                await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            waited = f"{self._server.connect_timeout:g} s"
            raise self._fault(f"did not answer within {waited} of its start", status="timeout") from None
        except asyncio.CancelledError:
            self.end()  # do not wait here; the next start or the final close does
            raise

    async def call(self, original: str, arguments: JsonObject, show: Show) -> types.CallToolResult:
        assert self._client is not None

        lines_left = MAX_PROGRESS

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal lines_left
            lines_left -= 1
            if lines_left < 0:
                return
            of = f" of {total:g}" if total is not None else ""
            show(shorten(message, 1000) if message else f"{progress:g}{of}")

        request = types.CallToolRequest(params=types.CallToolRequestParams(name=original, arguments=arguments))
        try:
            # Client.call_tool checks results against the server's own patterns, which may take unbounded time
            async with asyncio.timeout(self._server.call_timeout + _WRITE_SECONDS):
                answer = await self._client.session.send_request(
                    request, _Answer, self._server.call_timeout, progress_callback=on_progress
                )
        except TimeoutError:  # the request was not written; the client's own timeout starts after that
            self._broken = True
            raise self._fault(f"does not take the call of {shorten(original, 80)!r}", status="timeout") from None
        except MCPError as error:
            raise self._failed(original, error) from None
        except ValidationError:
            raise self._fault(f"gave an answer to {shorten(original, 80)!r} that is none") from None
        except Exception:
            _log.debug("A call to the MCP server %s failed.", self._server.name, exc_info=True)
            self._broken = True
            raise self._fault("could not be reached") from None
        if isinstance(answer, types.InputRequiredResult):
            raise self._fault(f"asks for more input to {shorten(original, 80)!r}, which cannot be given here")
        return answer

    def end(self) -> None:
        """Request the end of the server without waiting."""
        self._broken = True
        self._stop.set()
        if self._task is not None and not self._ready.done():
            self._task.cancel()

    async def close(self) -> None:
        """Stop the server and wait until its task has ended."""
        self.end()
        if self._task is None:
            return
        _, running = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        if running:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)

    async def _hold_open(self) -> None:
        fault: McpFault
        try:
            async with Client(
                self._transport(),
                read_timeout_seconds=self._server.connect_timeout,
                message_handler=self._on_message,
                client_info=types.Implementation(name="weft", version=__version__),
                cache=None,
            ) as client:
                await self._list(client)
                self._client = client
                if not self._ready.done():
                    self._ready.set_result(None)
                await self._serve(client)
            fault = self._fault("ended")
        except asyncio.CancelledError:
            fault = self._fault("was stopped")
        except Exception as error:
            _log.debug("The MCP server %s failed.", self._server.name, exc_info=True)
            fault = self._not_started(_first(error))
        self._broken = True
        if not self._ready.done():
            self._ready.set_exception(fault)
            self._ready.exception()

    def _transport(self) -> "AbstractAsyncContextManager[TransportStreams]":
        if self._server.command is not None:
            return process_transport(self._server, self._log, self._ended)
        return http_transport(self._server)

    def _ended(self) -> None:
        self._broken = True
        self._stop.set()

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale.set()

    async def _serve(self, client: Client) -> None:
        """List the tools again after each change notification, until the run ends."""
        try:
            async with anyio.create_task_group() as tasks:
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS and _announces_changes(client):
                    tasks.start_soon(self._subscribe, client)
                tasks.start_soon(self._relist, client)
                await self._stop.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._broken = True

    async def _subscribe(self, client: Client) -> None:
        """Subscribe to change notifications, as protocol 2026-07-28 and later require."""
        with suppress(MCPError, TimeoutError, ListenNotSupportedError):
            while True:
                with suppress(SubscriptionLost):
                    async with client.listen(tools_list_changed=True) as notifications:
                        self._stale.set()  # the tools may have changed before the subscription
                        async for _ in notifications:
                            self._stale.set()
                await anyio.sleep(_RESUBSCRIBE_SECONDS)

    async def _relist(self, client: Client) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            with suppress(MCPError, ValidationError):
                await self._list(client)
            await anyio.sleep(_RELIST_SECONDS)

    async def _list(self, client: Client) -> None:
        # the thread also compiles the schemas, so that Tool later finds them in the cache
        listed, problems = await asyncio.to_thread(read_tools, self._server.name, await list_tools(client))
        for problem in problems:
            _log.warning("%s", problem)
        self._on_tools(listed)

    def _not_started(self, error: BaseException) -> McpFault:
        match error:
            case FileNotFoundError() | NotADirectoryError():
                return self._fault("cannot be started: its command or folder does not exist")
            case PermissionError():
                return self._fault("cannot be started: its command may not be run")
            case ValidationError():
                return self._fault("gave a list of tools that cannot be read")
            case MCPError(code=types.CONNECTION_CLOSED):
                return self._fault("ended before it was ready")
            case MCPError():
                return self._fault(f"refused the connection: {shorten(error.message)}")
            case _:
                return self._fault("could not be reached")

    def _failed(self, what: str, error: MCPError) -> McpFault:
        if error.code == types.REQUEST_TIMEOUT:
            waited = f"{self._server.call_timeout:g} s"
            return self._fault(f"did not answer to {shorten(what, 80)!r} within {waited}", status="timeout")
        if error.code == types.CONNECTION_CLOSED or error.message == "Session terminated":
            # over HTTP a single response may be cut off while the server stays usable
            self._broken = self._broken or self._server.url is None or error.code != types.CONNECTION_CLOSED
            return self._fault(f"ended in the middle of {shorten(what, 80)!r}; it is started again at the next call")
        return self._fault(f"refused {shorten(what, 80)!r}: {shorten(error.message)}")

    def _fault(self, what: str, **details: Any) -> McpFault:
        return McpFault(f"The MCP server {self._server.name!r} {what}.", log=self._log.text(), **details)


def _announces_changes(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed)


def _first(error: BaseException) -> BaseException:
    """Return the first error of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
