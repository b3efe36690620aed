"""The connection to one MCP server: start, list tools, call, read resources and prompts, restart after a crash, close.

It is held open by its own task, because the MCP library must close a connection in the task that opened it. A call
always ends with a result or a McpFault. A call that the server runs as a task is polled, also after a restart of the
server, and is cancelled there if it is cancelled here.
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
from mcp.client.extension import advertise
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from heald.core.json import JsonObject
from heald.core.version import VERSION
from heald.tools.context import ToolContext
from heald.tools.mcp.apps import APPS, SETTINGS, AppPage, read_page
from heald.tools.mcp.catalogue import MakeTool, Offer, list_tools, read_tools
from heald.tools.mcp.config import McpFault, McpServer, shorten
from heald.tools.mcp.http_transport import http_transport
from heald.tools.mcp.messages import RawSchemas
from heald.tools.mcp.process_transport import ErrorLog, process_transport
from heald.tools.mcp.prompts import list_prompts
from heald.tools.mcp.requests import McpCall, ServerRequests
from heald.tools.mcp.resources import list_resources
from heald.tools.mcp.sign_in import NeedsSignIn, SignIn
from heald.tools.mcp.tasks import (
    TASKS,
    CancelTask,
    CreatedTask,
    GetTask,
    TaskAnswers,
    TaskExtension,
    TaskParams,
    TaskState,
    UpdateTask,
    poll_seconds,
)

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
_POLL_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between the attempts to reach a server that runs a task."""
_CANCEL_SECONDS = 5.0
_LAST_ANSWER_SECONDS = 1.0
"""Seconds in which a server that runs tasks may still name the task of a cancelled call."""
_MAX_PAGES_TO_OPEN = 5
_OUTPUT_PROBLEMS = ("Tool ", "Invalid structured content", "Invalid schema")
"""The beginnings of the MCP package's errors for results that do not match the output schema of their tool."""
_MAX_APP_PAGES = 20
"""Maximum pages of apps that are kept in memory, for each server."""
OnTools = Callable[[Offer], object]
T = TypeVar("T")
R = TypeVar("R", bound=types.Result)
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
        self._pages: dict[str, AppPage | None] = {}
        self._run: _ServerRun | None = None
        self._starting = asyncio.Lock()
        self._abandoning: set[asyncio.Task[None]] = set()
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
        with self.requests.calls.opened(context, self.server.call_timeout) as call:
            result = await self._begin_call(self._run, original, arguments, call)
            if isinstance(result, types.CallToolResult):
                return result
            return await self._follow_task(original, result, call)

    async def _begin_call(
        self, run: "_ServerRun", original: str, arguments: JsonObject, call: McpCall
    ) -> types.CallToolResult | CreatedTask:
        """Wait for the first answer to a call. A call that is cancelled while its server makes a task of it would leave
        the task running, because only the answer names it: the answer is awaited for a moment in the background, and
        then the task is cancelled."""
        if TASKS not in (run.capabilities.extensions or {}):
            return await run.call(original, arguments, call)
        answer = asyncio.create_task(run.call(original, arguments, call))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            abandoning = asyncio.create_task(self._abandon(answer))
            self._abandoning.add(abandoning)
            abandoning.add_done_callback(self._abandoning.discard)
            raise

    async def _abandon(self, answer: "asyncio.Task[types.CallToolResult | CreatedTask]") -> None:
        """End a call that nobody waits for any more, and the task that the server makes of it."""
        await asyncio.wait([answer], timeout=_LAST_ANSWER_SECONDS)
        answer.cancel()
        await asyncio.wait([answer])
        if answer.cancelled() or answer.exception() is not None:
            return
        created = answer.result()
        if isinstance(created, CreatedTask):
            await self._cancel_task(TaskParams(task_id=created.task_id))

    async def read_page(self, uri: str) -> AppPage | None:
        """Return the page of an app. None if it cannot be read: the result counts without it."""
        if uri not in self._pages:
            try:
                result = await self.request(uri, lambda client: client.read_resource(uri))
            except McpFault as fault:
                _log.info("The page of an app cannot be shown: %s", fault)
                return None
            if len(self._pages) >= _MAX_APP_PAGES:
                self._pages.clear()
            self._pages[uri] = read_page(uri, list(result.contents))
        return self._pages[uri]

    async def _follow_task(self, original: str, task: CreatedTask, call: McpCall) -> types.CallToolResult:
        """Poll a task until it is over."""
        params = TaskParams(task_id=task.task_id)
        message: str | None = None
        answered: set[str] = set()
        interval = task.poll_interval_ms
        try:
            async with asyncio.timeout(self.server.task_timeout):
                while True:
                    await asyncio.sleep(poll_seconds(interval))
                    state = await self._poll(original, params)
                    interval = state.poll_interval_ms
                    if state.status_message and state.status_message != message:
                        message = state.status_message
                        call.context.output(shorten(message, 1000), "progress")
                    match state.status:
                        case "completed":
                            return types.CallToolResult.model_validate(state.result)
                        case "failed" | "cancelled":
                            why = f": {shorten(state.error.message)}" if state.error is not None else ""
                            raise self._fault(f"{state.status} the task of {shorten(original, 80)!r}{why}")
                        case "input_required":
                            requests = {
                                key: asked for key, asked in (state.input_requests or {}).items() if key not in answered
                            }
                            answered |= requests.keys()
                            await self._answer_task(original, params, requests)
                        case "working":
                            pass
        except TimeoutError:
            await self._cancel_task(params)
            waited = f"{self.server.task_timeout:g} s"
            raise self._fault(f"did not finish {shorten(original, 80)!r} within {waited}", status="timeout") from None
        except asyncio.CancelledError:
            await asyncio.shield(self._cancel_task(params))
            raise
        except ValidationError:
            raise self._fault(f"returned a result of {shorten(original, 80)!r} that is not valid") from None

    async def _poll(self, original: str, params: TaskParams) -> TaskState:
        """Ask for the state of a task. A connection that broke is opened again."""
        for pause in _POLL_PAUSES:
            try:
                return await self.request(
                    original, lambda client: _send_task(client, GetTask(params=params), TaskState)
                )
            except McpFault:
                if (self._run is not None and self._run.is_usable()) or self._closed:
                    raise
            await asyncio.sleep(pause)
        return await self.request(original, lambda client: _send_task(client, GetTask(params=params), TaskState))

    async def _answer_task(self, original: str, params: TaskParams, requests: types.InputRequests) -> None:
        await self.start()
        assert self._run is not None
        assert self._run.client is not None
        answers = await self._run.answer(self._run.client, requests)
        if answers:
            update = UpdateTask(params=TaskAnswers(task_id=params.task_id, input_responses=answers))
            await self.request(original, lambda client: _send_task(client, update, types.EmptyResult))

    async def _cancel_task(self, params: TaskParams) -> None:
        if self._run is None or not self._run.is_usable():
            return
        cancel = CancelTask(params=params)
        with suppress(McpFault, TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self.request("tasks/cancel", lambda client: _send_task(client, cancel, types.EmptyResult))

    def _fault(self, what: str, **details: Any) -> McpFault:
        return McpFault(f"The MCP server {self.server.name!r} {what}.", log=self.log.text(), **details)

    async def request(self, what: str, send: Callable[[Client], Awaitable[T]]) -> T:
        """Make a request other than a call. Raises McpFault if it fails."""
        await self.start()
        assert self._run is not None
        return await self._run.request(what, send)

    def forget_pages(self) -> None:
        """Read the pages of apps anew: the server was started, or has changed."""
        self._pages.clear()

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
        if self._abandoning:
            await asyncio.wait(self._abandoning, timeout=_LAST_ANSWER_SECONDS + _CANCEL_SECONDS)
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

    async def call(self, original: str, arguments: JsonObject, call: McpCall) -> types.CallToolResult | CreatedTask:
        lines_left = MAX_PROGRESS

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal lines_left
            lines_left -= 1
            if lines_left < 0:
                return
            of = f" of {total:g}" if total is not None else ""
            call.context.output(shorten(message, 1000) if message else f"{progress:g}{of}", "progress")

        async def send(client: Client) -> types.CallToolResult | CreatedTask:
            answers: types.InputResponses | None = None
            state: str | None = None
            for _ in range(_MAX_ROUNDS):
                try:
                    result = await client.session.call_tool(
                        original,
                        arguments,
                        _DAY,  # the limit is that of the open call
                        on_progress,
                        input_responses=answers,
                        request_state=state,
                        allow_input_required=True,
                        allow_claimed=True,
                    )
                except MCPError as error:
                    if error.code != types.URL_ELICITATION_REQUIRED or not await self._open_pages(client, error):
                        raise
                    continue
                except RuntimeError as error:
                    if not str(error).startswith(_OUTPUT_PROBLEMS):
                        raise
                    raise self._fault(
                        f"answered {shorten(original, 80)!r} with structured content that does not match its schema"
                    ) from None
                if isinstance(result, types.CallToolResult | CreatedTask):
                    return result
                assert isinstance(result, types.InputRequiredResult)
                state = result.request_state
                answers = await self.answer(client, result.input_requests or {})
                if not answers:
                    await asyncio.sleep(_RELIST_SECONDS)
            raise self._fault(f"asks for more and more input to {shorten(original, 80)!r}")

        return await self.request(original, send, call.limited())

    async def _open_pages(self, client: Client, error: MCPError) -> bool:
        """Ask the user to open the pages that a call needs first, as protocol 2025-11-25 has them. Returns whether all
        were opened."""
        required = UrlElicitationRequiredError.from_error(error.error).elicitations
        for number, params in enumerate(required[:_MAX_PAGES_TO_OPEN]):
            context = ClientRequestContext(session=client.session, request_id=number)
            answer = await self._requests.elicit(context, params)
            if isinstance(answer, types.ErrorData) or answer.action != "accept":
                return False
        return bool(required)

    async def answer(self, client: Client, requests: dict[str, types.InputRequest]) -> types.InputResponses:
        """Answer the requests in the result of a call or the state of a task, as protocol 2026-07-28 has them."""
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
                sampling_capabilities=types.SamplingCapability(tools=types.SamplingToolsCapability()),
                list_roots_callback=self._requests.list_roots,
                logging_callback=self._requests.log_message,
                log_level="info",
                extensions=[TaskExtension(), advertise(APPS, SETTINGS)],
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
        self._connection.forget_pages()
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


async def _send_task(client: Client, request: types.Request[Any, Any], result: type[R]) -> R:
    return await client.session.send_request(request, result)


def _first(error: BaseException) -> BaseException:
    """Return the first error of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
