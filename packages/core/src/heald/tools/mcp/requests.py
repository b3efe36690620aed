"""Answers the requests that an MCP server makes during a call: for the model, for the user's data, for the folders.

A request is answered for the session of the call. Its permission is that of a tool named `SERVER__sampling`: the mode
`ask` asks the user, rules can allow or deny it. Outside of a call, and where the session is not clear, it is refused.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import mcp_types as types
from mcp.client.session import ClientRequestContext
from pydantic import FileUrl

from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.mcp.config import cut_words, shorten
from heald.tools.mcp.elicitation import DECLINE, elicit
from heald.tools.mcp.sampling import read_request, write_answer
from heald.tools.model_requests import ModelAnswer, ModelRequest

T = TypeVar("T")
MAX_REQUESTS = 50
"""Maximum requests of a server during one call."""
_ALLOW = "Allow"
_PERSON_SECONDS = 600.0
_SHOWN = 1500
_LINES_A_MINUTE = 60
_LEVELS: dict[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.ERROR,
    "alert": logging.ERROR,
    "emergency": logging.ERROR,
}
FindFolders = Callable[[], Sequence[Path]]

_log = logging.getLogger("heald.mcp")


class McpCall:
    """One call. Its time limit rests while the server waits for a person or for the agent's model."""

    def __init__(self, context: ToolContext, seconds: float) -> None:
        self.context = context
        self.seconds = seconds
        self._requests = 0
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._resting = 0
        self._timeout: asyncio.Timeout | None = None

    @property
    def owner(self) -> int:
        """Identifies the session: a subagent shares the approvals of its caller."""
        host = self.context.host
        return id(host.approvals) if host is not None else id(self.context)

    def count_request(self) -> bool:
        """Count a request of the server. Returns False if there are too many."""
        self._requests += 1
        return self._requests <= MAX_REQUESTS

    async def answer(self, answering: Coroutine[Any, Any, T]) -> T | None:
        """Run the answer to a request of the server. Returns None if the call ends first."""
        task = asyncio.create_task(answering)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._closed and task.cancelled():
                return None
            raise
        finally:
            self._running.discard(task)

    def close(self) -> None:
        """End the answers that are not given yet, such as questions to the user."""
        self._closed = True
        for task in self._running:
            task.cancel()

    @asynccontextmanager
    async def limited(self) -> AsyncGenerator[None]:
        """Raise TimeoutError after the call's seconds."""
        async with asyncio.timeout(self.seconds) as self._timeout:
            yield

    @contextmanager
    def resting(self) -> Generator[None]:
        """Stop the time limit."""
        self._resting += 1
        self._reschedule(None)
        try:
            yield
        finally:
            self._resting -= 1
            if not self._resting:
                self._reschedule(asyncio.get_running_loop().time() + self.seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._timeout is not None and not self._timeout.expired():
            try:
                self._timeout.reschedule(when)
            except RuntimeError:  # the call has ended
                return


class McpCalls:
    """The open calls of one server, the latest last."""

    def __init__(self) -> None:
        self._open: list[McpCall] = []

    @contextmanager
    def opened(self, context: ToolContext, seconds: float) -> Generator[McpCall]:
        call = McpCall(context, seconds)
        self._open.append(call)
        try:
            yield call
        finally:
            self._open.remove(call)
            call.close()

    def find(self) -> McpCall | None:
        """Return the call that a request of the server belongs to. None if there is no call, or if it is not clear."""
        owners = {call.owner for call in self._open}
        return self._open[-1] if len(owners) == 1 else None


class ServerRequests:
    """Answers the requests of one server."""

    def __init__(self, server: str, folders: FindFolders) -> None:
        self.calls = McpCalls()
        self._server = server
        self._folders = folders
        self._person = asyncio.Lock()
        self._lines_left, self._minute = _LINES_A_MINUTE, 0.0

    async def list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        """Return the folders that the agent works in."""
        folders = [path.resolve() for path in self._folders()]
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(path.as_uri()), name=path.name) for path in folders])

    async def log_message(self, params: types.LoggingMessageNotificationParams) -> None:
        """Log a line of the server, at most 60 in a minute."""
        if monotonic() - self._minute > 60:
            self._lines_left, self._minute = _LINES_A_MINUTE, monotonic()
        self._lines_left -= 1
        if self._lines_left < 0:
            return
        text = params.data if isinstance(params.data, str) else encode_text(params.data)
        _log.log(_LEVELS.get(params.level, logging.INFO), "%s: %s", self._server, shorten(text, 1000))

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Ask the user for data."""
        call = self._find_call()
        if call is None:
            return types.ElicitResult(action="decline")
        try:
            with call.resting():
                async with self._person, asyncio.timeout(_PERSON_SECONDS):
                    result = await call.answer(elicit(self._server, params, call.context.ask))
        except TimeoutError:
            result = None
        return result or types.ElicitResult(action="cancel")

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
        """Ask the agent's model, if that is permitted."""
        call = self._find_call()
        if call is None:
            return _refused("No call of a session is open, so its model cannot be asked.")
        host = call.context.host
        if host is None or host.ask_model is None:
            return _refused("There is no model to ask here.")
        request = read_request(params)
        if request is None:
            return _refused("The messages or tools are too many, or hold something that the model does not accept.")
        try:
            with call.resting():
                async with self._person, asyncio.timeout(_PERSON_SECONDS):
                    problem = await call.answer(self._permit(call.context, request))
                if problem or problem is None:
                    return _refused(problem or "The call is over.")
                answer = await call.answer(_as_coroutine(host.ask_model(request)))
                if answer is None:
                    return _refused("The call is over.")
        except TimeoutError:
            return _refused("Nobody answered whether the model may be asked.")
        except HealdError as error:
            _log.warning("%s: the model could not be asked: %s", self._server, error)
            return types.ErrorData(code=types.INTERNAL_ERROR, message="The model could not be asked.")
        call.context.spend(answer.cost_usd)
        return write_answer(answer, with_tools=bool(request.tools))

    def _find_call(self) -> McpCall | None:
        call = self.calls.find()
        return call if call is not None and call.count_request() else None

    async def _permit(self, context: ToolContext, request: ModelRequest) -> str:
        """Return why the model may not be asked; empty if it may."""
        host = context.host
        assert host is not None
        last = request.messages[-1].words
        offered = f", with {len(request.tools)} tools of its own" if request.tools else ""
        verdict = host.permissions.decide(_sampling_tool(self._server), {"prompt": last}, lambda path: path).verdict
        if verdict == "allow":
            return ""
        if verdict == "deny":
            return "The rules do not permit that the model is asked."
        question = (
            f"The MCP server {self._server!r} wants to ask the model ({len(request.messages)} messages, at most "
            f"{request.max_output_tokens:,} tokens{offered}). It sees the answer. The last message:\n"
            f"{cut_words(last, _SHOWN)}"
        )
        answer = await context.ask(question, [_ALLOW, DECLINE])
        return "" if answer == _ALLOW else "The user did not allow that the model is asked."


def _sampling_tool(server: str) -> Tool:
    async def run(args: JsonObject, ctx: ToolContext) -> None:
        raise NotImplementedError

    definition = ToolDefinition(name=f"{server}__sampling", description="", input_schema={"type": "object"})
    return Tool(definition=definition, run=run, effect="any", subjects=lambda args: [str(args["prompt"])])


async def _as_coroutine(answering: Awaitable[ModelAnswer]) -> ModelAnswer:
    return await answering


def _refused(message: str) -> types.ErrorData:
    return types.ErrorData(code=types.INVALID_REQUEST, message=message)
