"""The connection to one MCP server: start, list tools, call, read resources and prompts, restart after a crash, close.

It is held open by its own task, because the MCP library must close a connection in the task that opened it. A call
always ends with a result or a McpFault.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.auth import OAuthFlowError
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from heald.core.json import JsonObject
from heald.core.version import VERSION
from heald.tools.context import ToolContext
from heald.tools.mcp.catalogue import MakeTool, Offer, list_tools, read_tools
from heald.tools.mcp.config import McpFault, McpServer, shorten
from heald.tools.mcp.http_transport import http_transport
from heald.tools.mcp.messages import RawSchemas
from heald.tools.mcp.process_transport import ErrorLog, process_transport
from heald.tools.mcp.prompts import list_prompts
from heald.tools.mcp.requests import ServerRequests
from heald.tools.mcp.resources import list_resources
from heald.tools.mcp.sign_in import NeedsSignIn, SignIn

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CLOSE_SECONDS = 10.0
MAX_PROGRESS = 200
"""Maximum lines of progress of one call."""
_MAX_ROUNDS = 10
"""Maximum times that a call is sent with answers to requests of the server."""
_RELIST_SECONDS, _RELIST_MOST = 0.2, 30.0
"""Seconds between two lists of the tools. They double while change notifications keep arriving."""
_RESUBSCRIBE_SECONDS = 5.0
_DAY = 24 * 3600.0
OnTools = Callable[[Offer], object]
T = TypeVar("T")
_LIST_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)

_log = logging.getLogger("heald")


class McpConnection:
    """Calls one server. `on_tools` receives its tools at each start and after each change."""

    def __init__(
        self,
        server: McpServer,
        *,
        requests: ServerRequests,
        make_tool: MakeTool,
        on_tools: OnTools,
        sign_in: SignIn | None = None,
    ) -> None:
        self.server = server
        self.log = ErrorLog()
        self.requests = requests
        self.make_tool = make_tool
        self.on_tools = on_tools
        self._sign_in = sign_in
        self.prompts: list[types.Prompt] = []
        self.resources: list[types.Resource] = []
        self._run: _ServerRun | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """The features of the server, as far as it was started."""
        return self._run.capabilities if self._run is not None else types.ServerCapabilities()

    async def start(self) -> None:
        """Start the server if it is not running. Raises McpFault if that fails."""
        async with self._starting:
            if self._closed:
                raise McpFault(f"The MCP server {self.server.name!r} is closed.")
            if self._run is not None and self._run.is_usable():
                return
            if self._run is not None:
                await self._run.close()
            self._run = _ServerRun(self)
            await self._run.start()

    async def call(self, original: str, arguments: JsonObject, context: ToolContext) -> types.CallToolResult:
        """Call a tool. A crashed server is restarted first; a call that crashes the server is not repeated."""
        await self.start()
        assert self._run is not None
        return await self._run.call(original, arguments, context)

    async def request(self, what: str, send: Callable[[Client], Awaitable[T]]) -> T:
        """Make a request other than a call. Raises McpFault if it fails."""
        await self.start()
        assert self._run is not None
        return await self._run.request(what, send)

    def transport(
        self, schemas: RawSchemas, on_end: Callable[[], object]
    ) -> "AbstractAsyncContextManager[TransportStreams]":
        """Return the transport of a new run."""
        if self.server.command is not None:
            return process_transport(self.server, schemas, self.log, on_end)
        return http_transport(self.server, schemas, self._sign_in.auth(self.server) if self._sign_in else None)

    def signing_in(self, limit: asyncio.Timeout) -> AbstractContextManager[None]:
        """Extend a time limit while the user signs in."""
        return self._sign_in.pausing(self.server, limit) if self._sign_in is not None else nullcontext()

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

    def __init__(self, connection: McpConnection) -> None:
        self._connection = connection
        self._server = connection.server
        self._requests = connection.requests
        self._schemas = RawSchemas()
        self.client: Client | None = None
        self._broken = False
        self._stop = asyncio.Event()
        self._stale = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._problems: list[str] = []
        self.capabilities = types.ServerCapabilities()

    def is_usable(self) -> bool:
        return self.client is not None and not self._broken

    async def start(self) -> None:
        self._task = asyncio.create_task(self._hold_open(), name=f"heald-mcp-{self._server.name}")
        try:
            async with asyncio.timeout(self._server.connect_timeout) as limit:
                with self._connection.signing_in(limit):
                    await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            waited = f"{self._server.connect_timeout:g} s"
            raise self._fault(f"did not answer within {waited} of its start", status="timeout") from None
        except asyncio.CancelledError:
            self.end()  # do not wait here; the next start or the final close does
            raise

    async def call(self, original: str, arguments: JsonObject, context: ToolContext) -> types.CallToolResult:
        lines_left = MAX_PROGRESS

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal lines_left
            lines_left -= 1
            if lines_left < 0:
                return
            of = f" of {total:g}" if total is not None else ""
            context.output(shorten(message, 1000) if message else f"{progress:g}{of}", "progress")

        async def send(client: Client) -> types.CallToolResult:
            answers: types.InputResponses | None = None
            state: str | None = None
            for _ in range(_MAX_ROUNDS):
                result = await client.session.call_tool(
                    original,
                    arguments,
                    _DAY,  # the limit is that of the open call
                    on_progress,
                    input_responses=answers,
                    request_state=state,
                    allow_input_required=True,
                )
                if isinstance(result, types.CallToolResult):
                    return result
                state = result.request_state
                answers = await self._answer(client, result.input_requests or {})
                if not answers:
                    await asyncio.sleep(_RELIST_SECONDS)
            raise self._fault(f"asks for more and more input to {shorten(original, 80)!r}")

        with self._requests.calls.opened(context, self._server.call_timeout) as call:
            return await self.request(original, send, call.limited())

    async def _answer(self, client: Client, requests: dict[str, types.InputRequest]) -> types.InputResponses:
        """Answer the requests that stand in the result of a call, as protocol 2026-07-28 and later have them."""
        answers: types.InputResponses = {}
        for key, request in requests.items():
            context = ClientRequestContext(session=client.session, request_id=key)
            answer = await client.session.dispatch_input_request(context, request)
            if isinstance(answer, types.ErrorData):
                raise MCPError.from_error_data(answer)
            answers[key] = answer
        return answers

    async def request(
        self,
        what: str,
        send: Callable[[Client], Awaitable[T]],
        limit: AbstractAsyncContextManager[object] | None = None,
    ) -> T:
        assert self.client is not None
        try:
            async with limit or asyncio.timeout(self._server.call_timeout):
                return await send(self.client)
        except TimeoutError:
            waited = f"{self._server.call_timeout:g} s"
            raise self._fault(f"did not answer to {shorten(what, 80)!r} within {waited}", status="timeout") from None
        except MCPError as error:
            raise self._failed(what, error) from None
        except ValidationError:
            raise self._fault(f"gave an answer to {shorten(what, 80)!r} that is none") from None
        except McpFault:
            raise
        except Exception as error:
            _log.debug("A request to the MCP server %s failed.", self._server.name, exc_info=True)
            self._broken = True
            raise self._not_started(_first(error)) from None

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
                self._connection.transport(self._schemas, self._ended),
                read_timeout_seconds=self._server.connect_timeout,
                message_handler=self._on_message,
                client_info=types.Implementation(name="heald", version=VERSION),
                cache=None,
                sampling_callback=self._requests.sample,
                elicitation_callback=self._requests.elicit,
                list_roots_callback=self._requests.list_roots,
                logging_callback=self._requests.log_message,
                log_level="info",
            ) as client:
                await self._list(client)
                self.client = client
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

    def _ended(self) -> None:
        self._broken = True
        self._stop.set()

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, _LIST_CHANGES):
            self._stale.set()

    async def _serve(self, client: Client) -> None:
        """List the tools again after each change notification, until the run ends."""
        try:
            async with anyio.create_task_group() as tasks:
                offers = client.server_capabilities
                announces = any(
                    offer and offer.list_changed for offer in (offers.tools, offers.prompts, offers.resources)
                )
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS and announces:
                    tasks.start_soon(self._subscribe, client, offers)
                tasks.start_soon(self._relist, client)
                await self._stop.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._broken = True

    async def _subscribe(self, client: Client, offers: types.ServerCapabilities) -> None:
        """Subscribe to change notifications, as protocol 2026-07-28 and later require."""
        with suppress(MCPError, TimeoutError, ListenNotSupportedError):
            while True:
                with suppress(SubscriptionLost):
                    async with client.listen(
                        tools_list_changed=bool(offers.tools and offers.tools.list_changed),
                        prompts_list_changed=bool(offers.prompts and offers.prompts.list_changed),
                        resources_list_changed=bool(offers.resources and offers.resources.list_changed),
                    ) as notifications:
                        self._stale.set()  # the tools may have changed before the subscription
                        async for _ in notifications:
                            self._stale.set()
                await anyio.sleep(_RESUBSCRIBE_SECONDS)

    async def _relist(self, client: Client) -> None:
        pause = _RELIST_SECONDS
        while True:
            await self._stale.wait()
            self._stale.clear()
            with suppress(MCPError, ValidationError):
                await self._list(client)
            await anyio.sleep(pause)
            pause = min(pause * 2, _RELIST_MOST) if self._stale.is_set() else _RELIST_SECONDS

    async def _list(self, client: Client) -> None:
        self.capabilities = offers = client.server_capabilities
        self._connection.prompts = await list_prompts(client) if offers.prompts is not None else []
        self._connection.resources = await list_resources(client) if offers.resources is not None else []
        listed = await list_tools(client) if offers.tools is not None else []
        offer, problems = await read_tools(self._server.name, listed, self._schemas, self._connection.make_tool)
        self._schemas.clear()
        if problems != self._problems:
            for problem in problems:
                _log.warning("%s", problem)
        self._problems = problems
        self._connection.on_tools(offer)

    def _not_started(self, error: BaseException) -> McpFault:
        match error:
            case FileNotFoundError() | NotADirectoryError():
                return self._fault("cannot be started: its command or folder does not exist")
            case PermissionError():
                return self._fault("cannot be started: its command may not be run")
            case ValidationError():
                return self._fault("gave a list of tools that cannot be read")
            case NeedsSignIn():
                return self._fault(f"asks for a sign-in: run `heald mcp login {self._server.name}`", kind="sign_in")
            case OAuthFlowError():
                return self._fault("could not be signed in to", kind="sign_in")
            case httpx2.HTTPStatusError(response=httpx2.Response(status_code=401 | 403 as code)):
                return self._fault(f"refused the connection with the status {code}", kind="sign_in")
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
        return McpFault(f"The MCP server {self._server.name!r} {what}.", log=self._connection.log.text(), **details)


def _first(error: BaseException) -> BaseException:
    """Return the first error of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
