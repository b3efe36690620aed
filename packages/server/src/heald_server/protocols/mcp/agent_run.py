"""`run_agent`: one exchange in a session, with progress, questions to the client's user, and cancelling.

A client of protocol 2025 gets questions in the middle of the call. A client of 2026-07-28 gets them as the result of
the call, which it repeats with the answers; the exchange waits in the meantime. A client with tasks gets a task, whose
state is the log of the exchange."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import (
    ApprovalRequested,
    AssistantMessage,
    ClientToolRequested,
    ConversationQueued,
    ErrorOccurred,
    ExchangeResponse,
    FileChanged,
    QuestionAsked,
    RetryScheduled,
    ToolCompleted,
    ToolExecuting,
)
from heald.core.json import JsonObject
from heald.core.messages import Image, Text, user_message
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.tools.approvals import NOBODY, NotPending
from heald.tools.sanitize import sanitize_text
from heald.tools.visible_text import cut_line, escape_line, excerpt
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.protocols.mcp.resource_address import file_address
from heald_server.protocols.mcp.tool import OfferedCall, ToolAnswer
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_sessions import create_session
from heald_server.routes.client_media import decode_media, sniff_image
from heald_server.start_exchange import cancel_exchange, start_exchange
from heald_server.streams.exchange_stream import follow_exchange

_MAX_LINE = 300
_UNATTENDED = "The client of this MCP server cannot be asked."
_ALLOW: JsonObject = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


class RunState(msgspec.Struct, frozen=True):
    """Where a call that waits for answers continues. It is sent to the client and back."""

    session: str
    exchange: str
    begin: int
    """The seq before the exchange."""
    seq: int
    """The last event that the client was informed of."""

    def as_text(self) -> str:
        return f"{self.session}.{self.exchange}.{self.begin}.{self.seq}"

    @classmethod
    def parse(cls, text: str) -> "RunState":
        """Read a state. Raises MCPError if it is not one."""
        match text.split("."):
            case [session, exchange, begin, seq] if begin.isdecimal() and seq.isdecimal():
                return cls(session, exchange, int(begin), int(seq))
            case _:
                raise MCPError(types.INVALID_PARAMS, "The request state is not one of this server.")


@dataclass(slots=True)
class _Outcome:
    text: str = ""
    files: dict[str, None] = field(default_factory=dict[str, None])
    response: ExchangeResponse | None = None


class AgentRun:
    """One call of `run_agent`."""

    def __init__(self, context: ServerContext, call: OfferedCall) -> None:
        self._context = context
        self._call = call
        self._owner = call.owner
        self._request = call.request
        self._params = call.params
        self._steps = 0

    async def run(self) -> ToolAnswer:
        if self._params.request_state is None:
            info, state = await self._start(self._params.arguments or {})
        else:
            state = RunState.parse(self._params.request_state)
            info = await self._context.open_sessions.find_info(self._owner, state.session)
        try:
            return await self._follow(info, state)
        except asyncio.CancelledError:
            if not self._call.is_task:
                await asyncio.shield(
                    cancel_exchange(self._context, info, state.exchange, "The MCP client cancelled it.")
                )
            raise

    async def begin(self) -> str:
        """Start the exchange. Returns the request state from which `run` continues it."""
        _, state = await self._start(self._params.arguments or {})
        return state.as_text()

    async def _start(self, arguments: JsonObject) -> tuple[SessionInfo, RunState]:
        context = self._context
        context.meters.check_exchange(self._owner)
        name = arguments.get("session")
        if name is not None:
            info = await context.open_sessions.find_info(self._owner, str(name))
        else:
            conversation = ClientConversation(owner=self._owner, kind="mcp", model=str(arguments.get("model") or ""))
            info = await create_session(context, conversation)
        parts: list[Text | Image] = [Text(str(arguments["prompt"]))]
        for data in arguments.get("images") or ():
            raw = decode_media(str(data))
            parts.append(Image(media_type=sniff_image(raw), data=str(data)))
        begin = (await context.sessions.store.info(info.id)).last_seq
        _, exchange = await start_exchange(context, info, user_message(*parts))
        return info, RunState(info.id, exchange.id, begin, begin)

    async def _follow(self, info: SessionInfo, state: RunState) -> ToolAnswer:
        outcome = _Outcome()
        async with self._context.open_sessions.use(info) as session:
            self._resolve_answers(session)
            events = follow_exchange(self._context, info, state.exchange, state.begin)
            async with aclosing(events):
                async for event in events:
                    if event.seq > state.seq:
                        await self._report(event)
                    asked = await self._on_event(session, event, outcome)
                    if asked is not None:
                        now = RunState(state.session, state.exchange, state.begin, event.seq)
                        return types.InputRequiredResult(input_requests=asked, request_state=now.as_text())
        return self._result(info, outcome)

    async def _on_event(self, session: Session, event: Event, outcome: _Outcome) -> types.InputRequests | None:
        """Apply an event. Returns requests to the client if the call must be repeated with answers."""
        match event.data:
            case AssistantMessage(message=message):
                outcome.text = message.words or outcome.text
            case FileChanged(path=path):
                outcome.files[path] = None
            case ExchangeResponse():
                outcome.response = event.data
            case ApprovalRequested() if self._waits(session, event.data.approval):
                return await self._ask(session, event.data)
            case QuestionAsked() if any(pending.question == event.data.question for pending in session.questions):
                return await self._ask(session, event.data)
            case ClientToolRequested(id=call) if any(pending.id == call for pending in session.client_calls):
                session.send_tool_result(call, "The client of this MCP server runs no tools.", True)
            case _:
                pass
        return None

    def _waits(self, session: Session, approval: str) -> bool:
        return any(pending.approval == approval for pending in session.approvals)

    async def _ask(self, session: Session, asked: ApprovalRequested | QuestionAsked) -> types.InputRequests | None:
        name = asked.approval if isinstance(asked, ApprovalRequested) else asked.question
        message, schema = _form(asked)
        capabilities = self._request.session.client_capabilities
        if capabilities is None or capabilities.elicitation is None:
            self._answer(session, name, None)
            return None
        if self._request.protocol_version in MODERN_PROTOCOL_VERSIONS:
            params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
            return {name: types.ElicitRequest(params=params)}
        try:
            answer = await self._request.session.elicit_form(message, schema, self._request.request_id)
        except MCPError:
            self._answer(session, name, None)
            return None
        self._answer(session, name, answer)
        return None

    def _resolve_answers(self, session: Session) -> None:
        for name, answer in (self._params.input_responses or {}).items():
            if isinstance(answer, types.ElicitResult):
                self._answer(session, name, answer)

    def _answer(self, session: Session, name: str, answer: types.ElicitResult | None) -> None:
        """Give the exchange the answer of the user; None if nobody could be asked."""
        content = (answer.content or {}) if answer is not None and answer.action == "accept" else {}
        try:
            if name.startswith("q"):
                session.answer(name, str(content.get("answer") or NOBODY))
            elif content.get("allow") is True:
                session.approve(name, by=Caller(self._owner).name)
            elif answer is None:
                session.deny(name, _UNATTENDED)
            else:
                session.deny(name, "The user did not allow it.", by=Caller(self._owner).name)
        except NotPending:
            return

    async def _report(self, event: Event) -> None:
        match event.data:
            case ToolExecuting(name=name, summary=summary):
                line = f"{name} {summary}".strip()
            case AssistantMessage(message=message) if message.words.strip():
                line = message.words
            case RetryScheduled(error=error):
                line = error.message
                await self._log("warning", line)
            case ErrorOccurred(error=error):
                await self._log("error", error.message)
                return
            case ToolCompleted(name=name):
                await self._log("debug", f"{name} completed")
                return
            case _:
                return
        self._steps += 1
        await self._call.report_progress(self._steps, _line(line))

    async def _log(self, level: types.LoggingLevel, line: str) -> None:
        if not self._call.is_task:  # a task has no stream that could carry it
            await self._call.log.send(level, _line(line))

    def _result(self, info: SessionInfo, outcome: _Outcome) -> types.CallToolResult:
        response = outcome.response
        if response is None:
            return _cut_short(info)
        files = list(outcome.files)
        problem = response.error.message if response.error is not None else ""
        text = outcome.text or problem or f"The exchange ended as {response.status}."
        content: list[types.ContentBlock] = [types.TextContent(text=text)]
        content += [types.ResourceLink(name=path, uri=file_address(info.id, path)) for path in files[:50]]
        return types.CallToolResult(
            content=content,
            structured_content={"session": info.id, "status": response.status, "text": text, "files": files},
            is_error=response.status != "completed",
        )


async def check_run(context: ServerContext, owner: str, text: str) -> None:
    """Raise unless the owner has the exchange of a request state."""
    state = _parse_task(text)
    info = await context.open_sessions.find_info(owner, state.session)
    for event in await context.sessions.store.read(info.id, after=state.begin):
        is_queued = isinstance(event.data, ConversationQueued) and event.data.request == state.exchange
        if event.exchange == state.exchange or is_queued:
            return
    raise ConfigurationError(f"The session {info.id} has no exchange {state.exchange[:80]!r}.")


async def cancel_run(context: ServerContext, owner: str, text: str) -> None:
    """Cancel the exchange of a request state."""
    state = _parse_task(text)
    info = await context.open_sessions.find_info(owner, state.session)
    await cancel_exchange(context, info, state.exchange, "The MCP client cancelled it.")


def _parse_task(text: str) -> RunState:
    try:
        return RunState.parse(text)
    except MCPError as error:
        raise ConfigurationError(str(error)) from None


def _cut_short(info: SessionInfo) -> types.CallToolResult:
    """The result if the server stops, or cannot store anything, before the exchange ends."""
    text = f"The server stopped before the answer was complete; the session {info.id} has the rest once it is back."
    structured: JsonObject = {"session": info.id, "status": "running", "text": text, "files": []}
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured, is_error=True)


def _form(asked: ApprovalRequested | QuestionAsked) -> tuple[str, JsonObject]:
    if isinstance(asked, ApprovalRequested):
        return f"The agent wants to call {escape_line(asked.name)}:\n{asked.summary}", _ALLOW
    field: JsonObject = {"type": "string", "title": "Answer"}
    if asked.suggestions:
        field["description"] = f"Suggested: {cut_line('; '.join(asked.suggestions), 1_000)}"
    return "\n".join(excerpt(asked.text).rows), {
        "type": "object",
        "properties": {"answer": field},
        "required": ["answer"],
    }


def _line(text: str) -> str:
    words = " ".join(sanitize_text(text).split())
    return words if len(words) <= _MAX_LINE else words[:_MAX_LINE] + "…"
