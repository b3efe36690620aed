"""One server and its life: started, listed, called, restarted after a crash, closed.

Its connection lives in a task of its own, because what the protocol's library opens in one task it must close there.
Whatever the server does, a call ends as a result or as a McpFault.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, cast

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from weft import __version__
from weft.core.json import JsonObject
from weft.tools.mcp.catalogue import Listed, list_tools, read_tools
from weft.tools.mcp.config import McpServer
from weft.tools.mcp.faults import McpFault, said
from weft.tools.mcp.http import http_transport
from weft.tools.mcp.process import ErrorLog, process_transport

CLOSE_SECONDS = 10.0
MAX_PROGRESS = 200
"""Lines of progress that one call may show."""
_WRITE_SECONDS = 5.0
_RELIST_SECONDS = 0.2
_RESUBSCRIBE_SECONDS = 5.0
OnTools = Callable[[dict[str, Listed]], object]
Show = Callable[[str], object]
"""Takes a line of progress."""

_Answer: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_log = logging.getLogger("weft")


class Connection:
    """Calls to one server. `on_tools` is told what it offers, at each start and whenever that changes."""

    def __init__(self, server: McpServer, on_tools: OnTools) -> None:
        self.server = server
        self.log = ErrorLog()
        self._on_tools = on_tools
        self._life: _Life | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def start(self) -> None:
        """Start the server if it does not run. A McpFault says why it cannot be."""
        async with self._starting:
            if self._closed:
                raise McpFault(f"The MCP server {self.server.name!r} is closed.")
            if self._life is not None and self._life.is_usable():
                return
            if self._life is not None:
                await self._life.close()
            self._life = _Life(self.server, self.log, self._on_tools)
            await self._life.start()

    async def call(self, original: str, arguments: JsonObject, show: Show) -> types.CallToolResult:
        """Call a tool. A server that has crashed is started again, once; a call that crashes it is not repeated."""
        await self.start()
        life = self._life
        assert life is not None
        return await life.call(original, arguments, show)

    async def close(self) -> None:
        self._closed = True
        if self._life is not None:
            self._life.end()
        async with self._starting:
            if self._life is not None:
                await self._life.close()
                self._life = None


class _Life:
    """A server from its start to its end."""

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
        self._task = asyncio.create_task(self._live(), name=f"weft-mcp-{self._server.name}")
        try:
            async with asyncio.timeout(self._server.connect_timeout):
                await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            waited = f"{self._server.connect_timeout:g} s"
            raise self._fault(f"did not answer within {waited} of its start", status="timeout") from None
        except asyncio.CancelledError:
            self.end()  # whoever was cancelled need not wait; the next start or the last close does
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
            show(said(message, 1000) if message else f"{progress:g}{of}")

        request = types.CallToolRequest(params=types.CallToolRequestParams(name=original, arguments=arguments))
        try:
            # not Client.call_tool: it checks results against patterns of the server's own, which may never end
            async with asyncio.timeout(self._server.call_timeout + _WRITE_SECONDS):
                answer = await self._client.session.send_request(
                    request, _Answer, self._server.call_timeout, progress_callback=on_progress
                )
        except TimeoutError:  # its own clock starts once the request is written
            self._broken = True
            raise self._fault(f"does not take the call of {said(original, 80)!r}", status="timeout") from None
        except MCPError as error:
            raise self._failed(original, error) from None
        except ValidationError:
            raise self._fault(f"gave an answer to {said(original, 80)!r} that is none") from None
        except Exception:
            _log.debug("A call to the MCP server %s failed.", self._server.name, exc_info=True)
            self._broken = True
            raise self._fault("could not be reached") from None
        if isinstance(answer, types.InputRequiredResult):
            raise self._fault(f"asks for more input to {said(original, 80)!r}, which cannot be given here")
        return answer

    def end(self) -> None:
        """Ask the server to end."""
        self._broken = True
        self._stop.set()
        if self._task is not None and not self._ready.done():
            self._task.cancel()

    async def close(self) -> None:
        """End the server and wait until nothing of it is left."""
        self.end()
        if self._task is None:
            return
        _, running = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        if running:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)

    async def _live(self) -> None:
        fault: McpFault
        try:
            async with Client(
                self._transport(),
                read_timeout_seconds=self._server.connect_timeout,
                message_handler=self._heard,
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

    def _transport(self) -> AbstractAsyncContextManager[TransportStreams]:
        if self._server.command is not None:
            return process_transport(self._server, self._log, self._ended)
        return http_transport(self._server)

    def _ended(self) -> None:
        self._broken = True
        self._stop.set()

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale.set()

    async def _serve(self, client: Client) -> None:
        """Until the end: list the tools anew whenever the server says that they changed."""
        try:
            async with anyio.create_task_group() as tasks:
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS and _tells_of_changes(client):
                    tasks.start_soon(self._subscribe, client)
                tasks.start_soon(self._relist, client)
                await self._stop.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._broken = True

    async def _subscribe(self, client: Client) -> None:
        """From protocol 2026-07-28 on, news come to those who asked for them."""
        with suppress(MCPError, TimeoutError, ListenNotSupportedError):
            while True:
                with suppress(SubscriptionLost):
                    async with client.listen(tools_list_changed=True) as news:
                        self._stale.set()  # what changed before the subscription stood
                        async for _ in news:
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
        listed, problems = read_tools(self._server.name, await list_tools(client))
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
                return self._fault(f"refused the connection: {said(error.message)}")
            case _:
                return self._fault("could not be reached")

    def _failed(self, what: str, error: MCPError) -> McpFault:
        if error.code == types.REQUEST_TIMEOUT:
            waited = f"{self._server.call_timeout:g} s"
            return self._fault(f"did not answer to {said(what, 80)!r} within {waited}", status="timeout")
        if error.code == types.CONNECTION_CLOSED or error.message == "Session terminated":
            # over HTTP one answer may break off while others go on
            self._broken = self._broken or self._server.url is None or error.code != types.CONNECTION_CLOSED
            return self._fault(f"ended in the middle of {said(what, 80)!r}; it is started again at the next call")
        return self._fault(f"refused {said(what, 80)!r}: {said(error.message)}")

    def _fault(self, what: str, **details: Any) -> McpFault:
        return McpFault(f"The MCP server {self._server.name!r} {what}.", log=self._log.text(), **details)


def _tells_of_changes(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed)


def _first(error: BaseException) -> BaseException:
    """The error in groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
