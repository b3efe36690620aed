"""`heald_server.connect`: the agent interface for a session on a server."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Collection, Coroutine, Sequence
from functools import partial
from typing import Any, Literal, Self, overload

import msgspec

from heald.agent.account import Account
from heald.agent.agent_stream import StreamedExchange
from heald.agent.background_loop import is_in_loop
from heald.agent.budget import Budget
from heald.agent.bus import EventBus
from heald.agent.delegate import delegate_tool
from heald.agent.exchange_reader import ExchangeReader
from heald.agent.interface import AgentBase, WhenBusy
from heald.agent.reactors import QUEUE, Reactor, Subscription
from heald.agent.request_callbacks import ApprovalReactor, OnApproval, OnQuestion, QuestionReactor
from heald.agent.request_message import Prompt, as_user_message
from heald.agent.result import AgentResult
from heald.agent.typed_output import output_shape
from heald.core.arguments import check_value, checked, checks_keywords
from heald.core.envelope import Event, new_event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from heald.core.ids import new_id
from heald.core.json import JsonObject, encode
from heald.core.messages import Message
from heald.core.payload import Layer
from heald.core.type_parameters import OutputT, RequestT, TypeForm
from heald.tools.approvals import Approval, ApprovalQuestion, NotPending
from heald.tools.client_results import parse_client_result
from heald.tools.client_tools import ClientToolLike
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import FunctionTool
from heald.tools.permissions import Mode
from heald.tools.tool_fault import ToolFault
from heald.tools.type_schema import TypeSchema
from heald_server.client.address import AccessToken, ServerAddress, parse_address
from heald_server.client.client_tools import ClientToolRunner, OfferedTool, definitions_of, split_tools
from heald_server.client.connection import MAX_COMMAND_BYTES, ServerConnection
from heald_server.client.errors import ServerRefused
from heald_server.client.exchange import RemoteExchange
from heald_server.client.mirror import SessionMirror
from heald_server.client.outbox import Outbox, PendingCommand
from heald_server.client.rest import RestClient
from heald_server.client.timing import Timing

_CONFLICTS = frozenset({"not_found", "gone", "conflict"})
_MAX_REASON = 500  # characters that a server accepts
_FRAME_BYTES = 4096  # of a message beside its content

_log = logging.getLogger("heald_server.client")


class RemoteAgent(AgentBase[OutputT]):
    """One conversation on a server, with the interface of `heald.Agent`. Make it with `heald_server.connect`.

    It reconnects and resumes by itself: events arrive in the order of the log, each once. Closing it, or losing the
    connection, does not cancel what runs on the server; `cancel`, and leaving a `stream` early, do.
    """

    def __init__(
        self,
        address: ServerAddress,
        token: AccessToken,
        *,
        session: str | None = None,
        settings: JsonObject | None = None,
        tools: Sequence[Tool] = (),
        client_tools: Sequence[JsonObject] = (),
        on_approval: OnApproval | None = None,
        on_question: OnQuestion | None = None,
        timing: Timing | None = None,
        shape: TypeSchema | None = None,
        deps: object = None,
    ) -> None:
        self.deps = deps
        """What the tools that run in this client get as `ToolContext.deps`, in exchanges that bring none of their
        own."""
        self._shape = shape
        self._address = address
        self._token = token
        self._settings = (settings or {}) | ({"client_tools": list(client_tools)} if client_tools else {})
        self._tools = tools
        self._timing = timing or Timing()
        self._rest = RestClient(address, token, self._timing)
        self._outbox = Outbox()
        self._mirror = SessionMirror(
            self._rest, session, self._settings, self._timing, self._replay_pending, client_tools
        )
        self._connection = ServerConnection(self._rest, self._outbox, self._mirror.cursor, self._mirror, self._timing)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        self._decided: set[str] = set()  # approvals and questions whose decision is under way
        self._approver = ApprovalReactor(on_approval, self._resolve) if on_approval is not None else None
        self._answerer = QuestionReactor(on_question, self._reply) if on_question is not None else None
        self._runner = ClientToolRunner(tools, self._send_own_result, self._find_deps) if tools else None
        for reactor in (self._approver, self._answerer, self._runner):
            if reactor is not None:
                self.bus.subscribe(reactor)

    @property
    def session(self) -> str | None:
        """The id of the session; None until the first use creates one."""
        return self._mirror.session

    @property
    def bus(self) -> EventBus:
        return self._mirror.bus

    def __repr__(self) -> str:
        return f"<RemoteAgent {self.session or 'without a session yet'} at {self._address}>"

    # --- requests ----------------------------------------------------------------------------------------------------

    async def open(self) -> str:
        """Create or join the session now instead of at the first request. Returns its id."""
        self._begin()
        return await self._mirror.joined()

    async def _read_events(
        self, streamed: StreamedExchange, prompt: Prompt, output: Any, deps: object
    ) -> AsyncGenerator[Event]:
        await self.open()
        reader = ExchangeReader(self.bus)
        streamed.exchange = exchange = self.send(prompt, output=output, deps=deps)
        try:
            while events := await reader.read(exchange):
                for event in events:
                    yield event
        finally:
            reader.close()
            if exchange.cancel("The stream was left."):
                await exchange.wait_ended()
        exchange.raise_failure()

    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: None = None,
        when_busy: WhenBusy | Literal["refuse"] = "queue",
        client_request_id: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> RemoteExchange[OutputT]: ...
    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: TypeForm[RequestT],
        when_busy: WhenBusy | Literal["refuse"] = "queue",
        client_request_id: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> RemoteExchange[RequestT]: ...
    @checks_keywords
    def send(
        self,
        prompt: Prompt,
        *,
        output: Any = None,
        when_busy: WhenBusy | Literal["refuse"] = "queue",
        client_request_id: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> RemoteExchange[Any]:
        """Start an exchange without waiting for it. While another one runs, the new one waits (`queue`), joins it at
        the model's next turn (`steer`), cancels it (`interrupt`), or is refused (`refuse`).

        The request has an id, a new one if none is given, so that it is one exchange however often it is sent. A
        request with the same id, from any client, returns the same exchange. `budget` limits this exchange further than
        that of the session; the server enforces it. `deps` is an object for the tools that run in this client; it is
        not sent.
        """
        check_value("send", "when_busy", when_busy, WhenBusy | Literal["refuse"])
        message = as_user_message(prompt)
        shape = output_shape(output) or self._shape
        deps = self.deps if deps is None else deps
        if self._runner is not None:
            self._runner.check_deps(deps)
        self._begin()
        exchange: RemoteExchange[Any] = RemoteExchange(self, message, client_request_id or new_id("req"), shape, deps)
        self._mirror.add_pending(exchange)
        parts = msgspec.to_builtins(message.content)
        submission = {"content": parts, "client_request_id": exchange.request, "when_busy": when_busy}
        if shape is not None:
            submission["output_schema"] = shape.schema
        if budget is not None:
            submission["budget"] = budget.as_json()
        if len(encode(submission)) + _FRAME_BYTES > MAX_COMMAND_BYTES:
            self._mirror.start_task(self._submitted(exchange, self._post(submission)))
        else:
            command = self._outbox.put({"type": "send", **submission})
            self._mirror.start_task(self._submitted(exchange, command.answer))
        return exchange

    def cancel(self, reason: str = "") -> bool:
        """Cancel the running exchange. Returns False if none is known to run."""
        mirror = self._mirror
        running = mirror.state.exchange
        handle = mirror.pending_exchange() if running is None else mirror.find_exchange(running)
        if handle is not None:
            return handle.cancel(reason)
        if running is None:
            return False
        self.cancel_exchange(running, reason)
        return True

    def cancel_exchange(self, exchange: str, reason: str = "") -> None:
        """Cancel a running or queued exchange by its id."""
        self._begin()
        self._outbox.put({"type": "cancel", "exchange": exchange, "reason": reason[:_MAX_REASON]})

    @property
    def current(self) -> RemoteExchange[Any] | None:
        """The running exchange, of this client or of another one."""
        return self._mirror.current(partial(RemoteExchange, self, None))

    # --- decisions ---------------------------------------------------------------------------------------------------

    def approve(
        self, approval: str, *, arguments: JsonObject | None = None, always: bool = False, digest: str | None = None
    ) -> None:
        """Allow a waiting call: once, or `always` in this session; with other arguments if they are given. Raises
        NotPending if the call is not known to wait.

        The decision is sent at once and repeated until the server has it. If another client was faster, the event
        `approval_resolved` shows its decision.
        """
        request = self._mirror.state.approvals.get(approval)
        self._check_pending("approval", approval, request is not None)
        if request is not None and digest is not None and digest != request.digest:
            raise NotPending(f"The approval {approval!r} is for another call than the one that was shown.")
        digest = digest or (request.digest if request is not None else None)
        frame: JsonObject = {"type": "approve", "approval": approval, "always": always}
        optional = {"digest": digest, "arguments": arguments}
        self._decide(approval, frame | {name: value for name, value in optional.items() if value is not None})

    def deny(self, approval: str, reason: str = "") -> None:
        """Refuse a waiting call. The model gets the reason."""
        self._check_pending("approval", approval, approval in self._mirror.state.approvals)
        self._decide(approval, {"type": "deny", "approval": approval, "reason": reason[:_MAX_REASON]})

    def answer(self, question: str, text: str) -> None:
        """Answer a question of a tool."""
        self._check_pending("question", question, question in self._mirror.state.questions)
        self._decide(question, {"type": "answer", "question": question, "text": text})

    def send_tool_result(self, call_id: str, content: object, is_error: bool = False) -> None:
        """Send the result of a call that a client runs: a text, parts, or any JSON. Raises NotPending if the call is
        not known to wait, and HealdError for a result that cannot be used. If another client was faster, its result
        counts."""
        parse_client_result(content, is_error)
        call = self._mirror.state.tools.get(call_id)
        self._check_pending("call", call_id, call is not None and call.result is None)
        self._send_own_result(call_id, content, is_error)

    def _send_own_result(self, call_id: str, content: object, is_error: bool) -> None:
        if not self._is_closed:
            content = msgspec.to_builtins(content)
            self._decide(call_id, {"type": "tool_result", "call_id": call_id, "content": content, "is_error": is_error})

    async def set_client_tools(self, tools: Sequence[ClientToolLike]) -> None:
        """Replace the tools of the session that clients run. The model is offered them from its next turn on."""
        definitions = definitions_of(tools)
        await self.open()
        await self._outbox.put({"type": "set_client_tools", "tools": definitions}).answer

    @property
    def client_calls(self) -> list[ClientToolRequested]:
        """The calls that wait for a client."""
        waiting = self._mirror.state.client_calls
        return [request for name, request in waiting.items() if name not in self._decided]

    @property
    def approvals(self) -> list[ApprovalRequested]:
        """The calls that wait for a decision."""
        waiting = self._mirror.state.approvals
        return [request for name, request in waiting.items() if name not in self._decided]

    @property
    def questions(self) -> list[QuestionAsked]:
        """The questions that wait for an answer."""
        waiting = self._mirror.state.questions
        return [question for name, question in waiting.items() if name not in self._decided]

    # --- events and state --------------------------------------------------------------------------------------------

    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Subscribe a reactor to events: all, or those of the given types or layers.

        If the server loses the log that was received so far, the reactor is dropped as a slow one is: it never gets an
        event after a gap, and `dropped_at` is the event that it missed.
        """
        subscription = self.bus.subscribe(reactor, types=types, layers=layers, queue=queue)
        self._mirror.subscriptions.add(subscription)
        if self.session is not None and is_in_loop():
            self._begin()
        return subscription

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return list(self._mirror.state.messages)

    @overload
    def as_tool(
        self: "RemoteAgent[None]", name: str, description: str
    ) -> FunctionTool[[str], Coroutine[Any, Any, str]]: ...
    @overload
    def as_tool(self, name: str, description: str) -> FunctionTool[[str], Coroutine[Any, Any, OutputT]]: ...
    def as_tool(self, name: str, description: str) -> FunctionTool[[str], Coroutine[Any, Any, Any]]:
        """Make this agent a tool of another agent: `name(prompt: str) -> str`.

        Each call is a new session on the server, with the settings of this one. Its approvals and questions appear in
        the calling agent, and what it uses counts there. The server enforces what is left of the caller's budget, so
        under a budget such calls run one after the other."""
        deps_types = tuple(dict.fromkeys(kind for tool in self._tools for kind in tool.deps_types))
        return delegate_tool(name, description, self._run_as_tool, deps_types)

    async def _run_as_tool(
        self, prompt: str, context: ToolContext | None
    ) -> tuple[AgentResult[Any], HealdError | None]:
        async def on_approval(request: ApprovalRequested) -> Approval:
            if context is None or context.host is None:
                return Approval(False, "No one can be asked.")
            name = context.call.name
            summary = f"{name}: {request.name} {request.summary}".strip()
            reason = f"{name} wants to call {request.name}. {request.reason}".strip()
            question = ApprovalQuestion(request.input, request.digest, summary, request.diff, reason)
            return await context.host.approvals.approve(context.call, question, context.emit)

        async def on_question(question: QuestionAsked) -> str:
            if context is None:
                return "(No one can be asked.)"
            return await context.ask(question.text, question.suggestions)

        session = await self._rest.fork(self.session) if self.session is not None else None
        async with RemoteAgent(
            self._address,
            self._token,
            session=session,
            settings=self._settings,
            tools=self._tools,
            on_approval=on_approval,
            on_question=on_question,
            timing=self._timing,
            shape=self._shape,
            deps=context.deps if context is not None else self.deps,
        ) as agent:
            return await _run_within_account(agent, prompt, context)

    async def _close(self) -> None:
        """Deliver open commands if the server answers, and disconnect. Running exchanges continue on the server."""
        if self._is_closed:
            return
        if self._connection.is_up:
            await self._outbox.wait_answered(self._timing.goodbye)
        self._is_closed = True
        for reactor in (self._approver, self._answerer):
            if reactor is not None:
                reactor.cancel_all()
        if self._runner is not None:
            await self._runner.close()
        await self._connection.close()
        self._outbox.fail(self._mirror.closed())
        await self._mirror.close()
        await self._rest.close()

    async def __aenter__(self) -> Self:
        if self.session is not None:
            await self.open()
        return self

    def _begin(self) -> None:
        """Start the connection, in the event loop of its first use."""
        if self._is_closed:
            raise ConfigurationError("This client was closed; connect again with the id of its session.")
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            raise ConfigurationError("A connection lives in the event loop that opened it; use it there.")
        self._loop = loop
        self._connection.start()

    def _find_deps(self, exchange: str | None) -> object:
        """Return what the tools of an exchange get as `deps`; those of another client's exchange get the default."""
        handle = self._mirror.find_exchange(exchange) if exchange is not None else None
        return handle.deps if handle is not None else self.deps

    async def _submitted(self, exchange: RemoteExchange[Any], answer: Awaitable[JsonObject]) -> None:
        try:
            accepted = await answer
        except Exception as error:
            self._mirror.remove_pending(exchange)
            exchange.fail(error)
            if not isinstance(error, HealdError):
                raise
            return
        name = accepted.get("exchange")
        if isinstance(name, str) and name:
            self._mirror.on_accepted(exchange, name, str(accepted.get("state")))
        else:
            self._mirror.remove_pending(exchange)
            exchange.fail(self._rest.not_heald())

    async def _post(self, submission: JsonObject) -> JsonObject:
        """Send by HTTP a submission that is too large for the socket."""
        session = await self._mirror.joined()
        return await self._mirror.retry(lambda: self._rest.send(session, submission))

    def _check_pending(self, kind: str, name: str, is_known: bool) -> None:
        if name in self._decided or (self._mirror.is_joined and not is_known):
            raise NotPending(f"No {kind} {name!r} is waiting; it was resolved before, or its exchange is over.")

    def _decide(self, name: str, frame: JsonObject) -> None:
        self._begin()
        self._decided.add(name)
        self._mirror.start_task(self._confirm(name, self._outbox.put(frame)))

    async def _confirm(self, name: str, command: PendingCommand) -> None:
        """Wait for the answer to a decision. If it was not delivered, it may be repeated."""
        try:
            await command.answer
        except ServerRefused as error:
            if error.reason in _CONFLICTS:
                return  # another client was faster, or the answer to an earlier delivery was lost
            self._decided.discard(name)
            raise
        except BaseException:
            self._decided.discard(name)
            raise

    def _resolve(self, approval: str, decision: Approval) -> None:
        """Send the decision of the approval callback."""
        if self._is_closed:
            return
        if decision.allowed:
            self.approve(approval, arguments=decision.arguments, always=decision.always)
        else:
            self.deny(approval, decision.reason)

    def _reply(self, question: str, text: str) -> None:
        """Send the answer of the question callback."""
        if not self._is_closed:
            self.answer(question, text)

    def _replay_pending(self, waiting: ApprovalRequested | QuestionAsked | ClientToolRequested) -> None:
        """Pass to the callbacks what waited before this client joined."""
        cursor, state = self._mirror.cursor, self._mirror.state
        kind, layer = waiting.type, waiting.layer
        event = new_event(cursor.seq, "", cursor.session, state.exchange, kind, layer, 0.0, 0, waiting)
        if isinstance(waiting, ApprovalRequested) and self._approver is not None:
            self._approver.on_approval_requested(event)
        if isinstance(waiting, QuestionAsked) and self._answerer is not None:
            self._answerer.on_question_asked(event)
        if isinstance(waiting, ClientToolRequested) and self._runner is not None:
            self._runner.start(waiting, state.exchange)


async def _run_within_account(
    agent: RemoteAgent[Any], prompt: str, context: ToolContext | None
) -> tuple[AgentResult[Any], HealdError | None]:
    """Run a prompt with what is left of the caller's budget, and count there what it used."""
    account = context.host.account if context is not None and context.host is not None else None
    if context is None or not isinstance(account, Account):
        exchange = agent.send(prompt)
        result = await exchange.result()
        if context is not None:
            context.spend(result.cost_usd)
        return result, exchange.error
    reservation = await account.reserve_rest()
    try:
        if (reached := account.reached_by_delegates()) is not None:
            raise ToolFault(f"{reached} The agent was not started.")
        exchange = agent.send(prompt, budget=account.remaining())
        try:
            return await exchange.result(), exchange.error
        finally:  # a call that was cancelled has used something too
            result = exchange.known_result
            if result is not None:
                account.add_remote(result)
                context.spend(result.cost_usd)
    finally:
        reservation.release()


@checked
def connect(
    url: str,
    token: str | None = None,
    *,
    session: str | None = None,
    model: str | None = None,
    tools: Sequence[OfferedTool] | None = None,
    instructions: str | None = None,
    permissions: Mode | None = None,
    title: str | None = None,
    on_approval: OnApproval | None = None,
    on_question: OnQuestion | None = None,
    patience: float = 60.0,
    output: TypeForm[OutputT] = None,  # pyright: ignore[reportArgumentType]
    deps: object = None,
) -> RemoteAgent[OutputT]:
    """Connect to a session on a Heald server. The result has the interface of `heald.Agent`.

    Without `session` the first use creates one, with the settings given here and the server's defaults for the rest.
    With it, that session is joined as it is. Names of tools are tools of the server. Functions and `Tool`s are offered
    to the session and run here when the model calls them; they replace the client tools of a session that is joined.
    A server that does not answer for `patience` seconds raises `ConnectionFailed`; its exchanges continue, and can be
    rejoined with `session`. `output` is the type of the answers to requests that name none, and `deps` an object for
    the tools that run here, which get it as `ToolContext.deps`.
    """
    if session == "":
        raise ConfigurationError("connect: session must be the id of a session, not ''; leave it out for a new one.")
    address, secret = parse_address(url, token)
    names, local_tools, client_tools = split_tools(tools or ())
    settings: JsonObject = {
        name: value
        for name, value in {
            "model": model,
            "tools": names if names or (tools is not None and not tools) else None,
            "instructions": instructions,
            "permissions": permissions,
            "title": title,
        }.items()
        if value is not None
    }
    if session is not None and settings:
        raise ConfigurationError(f"A session that exists has its own {', '.join(settings)}; leave out what is new.")
    return RemoteAgent(
        address,
        secret,
        session=session,
        settings=settings,
        tools=local_tools,
        client_tools=client_tools,
        on_approval=on_approval,
        on_question=on_question,
        timing=Timing(patience=patience),
        shape=output_shape(output),
        deps=deps,
    )
