"""The agent: a model, tools and a conversation."""

from collections.abc import AsyncGenerator, Collection, Coroutine, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, cast, overload

import msgspec

from heald.agent.account import Account
from heald.agent.agent_stream import StreamedExchange
from heald.agent.budget import Budget
from heald.agent.bus import EventBus
from heald.agent.conversation import Conversation
from heald.agent.engine import AgentEngine
from heald.agent.exchange import Exchange
from heald.agent.exchange_reader import ExchangeReader
from heald.agent.guarded_calls import GuardedCalls
from heald.agent.guardrail import Guardrail
from heald.agent.guardrail_strategy import guardrail_strategies
from heald.agent.hosted_tools import HostedTools
from heald.agent.instructions import (
    DEFAULT,
    Instructions,
    add_instructions,
    as_list,
    join_instructions,
    join_texts,
)
from heald.agent.interface import AgentBase, ExchangeInterface, WhenBusy
from heald.agent.model_chain import ModelChain, ModelLike
from heald.agent.reactors import QUEUE, Reactor, Subscription, check_event_types
from heald.agent.reminders import Reminders
from heald.agent.request_callbacks import ApprovalReactor, OnApproval, OnQuestion, QuestionReactor, default_mode
from heald.agent.request_message import Prompt, ReadPrompt, check_continues, read_prompt
from heald.agent.strategy import Strategy, StrategyFactory
from heald.agent.text_editing import EditFormat, TextEditing
from heald.agent.tool_search import SHARE, ToolSearch
from heald.agent.typed_output import output_shape
from heald.agent.written_calls import WrittenCalls
from heald.agent.written_files import WrittenFiles
from heald.core.arguments import check_value, checked, checks_keywords, nearest_or_all
from heald.core.context_events import ConversationCompacted
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.core.message_forms import as_messages, system_texts
from heald.core.messages import Message, ToolDefinition
from heald.core.payload import Layer, Payload
from heald.core.retry import Retry
from heald.core.turn import Reason, Settings
from heald.core.type_parameters import OutputT, RequestT, TypeForm
from heald.providers.defaults import complete_settings
from heald.providers.watchdog import Timeouts
from heald.tools.approvals import Approval
from heald.tools.client_tools import CLIENT_TOOL_TIMEOUT, ClientToolLike, read_client_tools
from heald.tools.compact import ToolProfile
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.permissions import Mode, Permissions
from heald.tools.registry import Registry, ToolLike
from heald.tools.result_cache import ResultCache
from heald.tools.runtime import Middleware, ToolRuntime
from heald.tools.session_objects import SessionObjects
from heald.tools.type_schema import TypeSchema
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.memory import MemoryWorkspace

if TYPE_CHECKING:
    from heald.agent.agent_profile import AgentProfile
    from heald.agent.handover import Handover
    from heald.tools.function_tools import FunctionTool

_NOT_OPTIONS = frozenset({"self", "session", "history"})


class Agent(AgentBase[OutputT]):
    """One conversation with a model that calls tools.

    Tools are functions, `Tool`s, or names of built-in tools such as "files" and "shell". Exchanges run one at a time;
    a further one waits in a queue. `Agent[Advice]` is an agent that was made with `output=Advice`.

    Args:
        model: The name of a model, such as "anthropic/claude-sonnet-4-6", or a model object.
        tools: The tools that the model may call: functions, `Tool`s, MCP servers, names such as "files" and "shell".
        instructions: The system prompt: a text, a path to a file, or a list of both.
        default_instructions: Whether Heald's own instructions for the use of tools come first.
        workspace: The files that tools may touch: a folder, or a workspace. By default they are kept in memory.
        permissions: Decides on the calls: `Permissions`, or a mode. "ask" by default if there is somebody to ask,
            `on_approval`, and "auto" if not.
        budget: The limits of each exchange. By default it has 20 turns.
        fallbacks: Models that replace the first one, in this order, while it fails.
        output: The type of the answers. `result.output` is then a validated value of it.
        history: Earlier messages that the conversation begins with.
        temperature: The sampling temperature; the model's default if it is not set.
        max_output_tokens: The maximum length of one answer in tokens; the model's default if it is not set.
        reasoning: How much the model thinks before it answers.
        settings: Settings of requests that have no argument of their own. Arguments take precedence.
        middleware: Functions around every call of a tool, the outermost first.
        strategies: Functions that make a `Strategy` for a conversation, to change what the loop does.
        guardrails: Checks of requests, of text while it streams, and of calls.
        cache: Whether the results of pure tools are reused for equal calls.
        tool_profile: How much of the tools' descriptions the model is sent; "auto" decides by its context.
        tool_search: The share of the model's context from which on tools are offered by name and found by a search.
        edit_format: How the model changes files: with tools, or as text; "auto" decides by its size.
        client_tools: Definitions of tools that a client runs; see `send_tool_result`.
        client_tool_timeout: How long a call waits for its client, in seconds.
        on_approval: Decides on the calls that wait for approval: a function of the request.
        on_question: Answers the questions of tools: a function of the question.
        retry: How failed requests to the model are retried.
        timeouts: How long requests to the model may take.
        session: The id of the session, for events. A new one by default.
        name: The name of the agent, for agents that hand over to it.
        description: What it is for, for the models of those agents.
        handoffs: Agents that it may hand the conversation over to, or the names of those that hand over to it.
    """

    deps: object = None
    """What tools get as `ToolContext.deps` in exchanges that bring none of their own."""
    _looks_at_approvals = False

    @checked
    def __init__(
        self,
        model: ModelLike,
        *,
        tools: Sequence[ToolLike | str] = (),
        instructions: Instructions = None,
        default_instructions: bool = True,
        workspace: Workspace | str | PathLike[str] | None = None,
        permissions: Permissions | Mode | None = None,
        budget: Budget | None = None,
        fallbacks: Sequence[ModelLike] = (),
        output: TypeForm[OutputT] = None,  # pyright: ignore[reportArgumentType]
        history: Sequence[Message | JsonObject] = (),
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        reasoning: Reason | None = None,
        settings: Settings | None = None,
        middleware: Sequence[Middleware] = (),
        strategies: Sequence[StrategyFactory] = (),
        guardrails: Sequence[Guardrail] = (),
        cache: bool = False,
        tool_profile: ToolProfile = "auto",
        tool_search: float | None = SHARE,
        edit_format: EditFormat = "auto",
        client_tools: Sequence[ClientToolLike] = (),
        client_tool_timeout: float = CLIENT_TOOL_TIMEOUT,
        on_approval: OnApproval | None = None,
        on_question: OnQuestion | None = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        session: str | None = None,
        name: str = "",
        description: str = "",
        handoffs: "Sequence[Agent[Any] | str]" = (),
    ) -> None:
        self.options: dict[str, Any] = locals().copy()
        """The constructor's arguments, for an agent with another session or history."""
        for option in _NOT_OPTIONS:
            del self.options[option]
        if session == "":
            raise ConfigurationError(
                "Agent: session must be the name of a session, not ''; leave it out for a new one."
            )
        if name:
            from heald.agent.agent_name import check_name

            check_name(name)
        if handoffs:
            _check_handoffs(handoffs)
        self.name = name
        self.description = description
        if history and (system := system_texts(history)):
            instructions = self.options["instructions"] = add_instructions(instructions, system)
        if permissions is None:
            permissions = self.options["permissions"] = default_mode(on_approval)
        registry = Registry(_resolve_tools(tools))
        system = join_instructions(
            [settings.system if settings is not None else "", *as_list(instructions)],
            default=default_instructions,
            tools=len(registry) > 0 or bool(handoffs),
        )
        arguments: dict[str, Any] = {"system": system}
        if temperature is not None:
            arguments["temperature"] = temperature
        if max_output_tokens is not None:
            arguments["max_output_tokens"] = max_output_tokens
        if reasoning is not None:
            arguments["reasoning"] = reasoning
        self.settings = complete_settings(
            Settings(**arguments) if settings is None else msgspec.structs.replace(settings, **arguments)
        )
        self.session = session or new_id("ses")
        self._bus = EventBus(self.session)
        self._guarded_calls = GuardedCalls(guardrails)
        self._runtime = ToolRuntime(
            registry,
            workspace=_open_workspace(workspace),
            permissions=permissions if isinstance(permissions, Permissions) else Permissions(permissions),
            middleware=[self._guarded_calls, *middleware] if self._guarded_calls.has_checks else middleware,
            cache=ResultCache() if cache else None,
            client_tool_timeout=client_tool_timeout,
        )
        if client_tools:
            self._runtime.set_client_tools(read_client_tools(client_tools))
        self._runtime.approvals.can_be_answered = self._is_attended
        if guardrails:
            self.share_middleware([self._guarded_calls])
        self._strategy_factories = strategies
        self._tool_search = tool_search
        self._text_editing = TextEditing(edit_format, DEFAULT)
        options = {"retry": retry, "timeouts": timeouts}
        options = {name: option for name, option in options.items() if option is not None}
        self._conversation = Conversation(
            ModelChain([model, *fallbacks], **options),
            self._runtime,
            self._bus,
            settings=self.settings,
            messages=as_messages(history),
            tool_profile=tool_profile,
        )
        self._conversation.models.check()
        self._handover = self._make_handover(self._text_editing) if handoffs else None
        if self._handover is not None:
            self._handover.offer(self._runtime)
        if self._runtime.permissions.rules:
            self._runtime.check_rules(may_grow=self._may_get_tools())
        self._engine = AgentEngine(
            self._conversation,
            budget=self._with_turns(budget),
            strategies=self._make_strategies(self._text_editing, handover=self._handover),
        )
        self._shape = output_shape(output)
        self.answer_with(on_approval=on_approval, on_question=on_question)

    def _may_get_tools(self) -> bool:
        """Whether tools may come later: from MCP servers, or those of a model with its own loop."""
        return self._runtime.registry.has_sources or self._conversation.models.hosts_tools

    def _with_turns(self, budget: Budget | None) -> Budget | None:
        """Return the budget, with the turns of a model that has a loop of its own if the budget does not limit them."""
        turns = self._conversation.models.default_turns
        if turns is None or (budget is not None and budget.turns is not msgspec.UNSET):
            return budget
        return msgspec.structs.replace(budget or Budget(), turns=turns)

    def _is_attended(self) -> bool:
        """Whether somebody can decide on calls: a subscriber, a reader of the stream, or who looks at `approvals`."""
        return self._looks_at_approvals or bool(self._bus.find_handlers(ApprovalRequested.type))

    @cached_property
    def _profile(self) -> "AgentProfile":
        """The part of this agent that speaks in a conversation."""
        from heald.agent.agent_profile import AgentProfile

        options = self.options
        return AgentProfile(
            name=self.name,
            description=self.description,
            models=self._conversation.models,
            settings=self.settings,
            tools=_resolve_tools(options["tools"]),
            permissions=self._runtime.permissions,
            budget=options["budget"],
            guarded_calls=self._guarded_calls,
            middleware=options["middleware"],
            strategies=self._strategy_factories,
            caches=options["cache"],
            edit_format=options["edit_format"],
            on_approval=options["on_approval"],
            on_question=options["on_question"],
            handoffs=[agent if isinstance(agent, str) else agent._profile for agent in options["handoffs"]],
        )

    def _make_handover(self, text_editing: TextEditing, guarded: Sequence[GuardedCalls] = ()) -> "Handover":
        from heald.agent.agent_group import AgentGroup  # most agents hand nothing over
        from heald.agent.handover import Handover

        callers = [calls for calls in guarded if calls is not self._guarded_calls]
        return Handover(AgentGroup(self._profile), text_editing, callers)

    def _make_strategies(
        self,
        text_editing: TextEditing,
        guarded: Sequence[GuardedCalls] = (),
        handover: "Handover | None" = None,
    ) -> list[Strategy]:
        """Return the strategies of one conversation, those that the program gave last. The guardrails of the caller,
        `guarded`, hold too."""
        strategies: list[Strategy] = [text_editing, WrittenCalls(text_editing), Reminders(), WrittenFiles(text_editing)]
        if self._tool_search is not None:
            strategies.insert(0, ToolSearch(self._tool_search))
        if handover is not None or self._conversation.models.may_host_tools:
            strategies.insert(0, HostedTools())
        if handover is not None:
            return [handover, *strategies, handover.strategies]
        strategies += [make() for make in self._strategy_factories]
        return [*strategies, *guardrail_strategies([*guarded, self._guarded_calls])]

    def __repr__(self) -> str:
        tools, messages = len(self._runtime.registry), len(self._conversation.messages)
        counts = f"{tools} tool{'s' if tools != 1 else ''}, {messages} message{'s' if messages != 1 else ''}"
        return f"<{type(self).__name__} {self.session} with {self.model_name}: {counts}>"

    # --- requests ----------------------------------------------------------------------------------------------------

    def connect_early(self) -> None:
        """Open a connection to the model in the background, because a request will follow soon: its first token then
        does not wait for a TLS handshake. No request is sent, and nothing happens if there is a connection."""
        self._conversation.models.connect_early()

    async def _read_events(
        self, streamed: StreamedExchange, prompt: Prompt, output: Any, deps: object
    ) -> AsyncGenerator[Event]:
        reader = ExchangeReader(self._bus)
        streamed.exchange = exchange = self.send(prompt, output=output, deps=deps)
        try:
            while events := await reader.read(exchange):
                for event in events:
                    yield event
        finally:
            reader.close()
            if exchange.cancel("The stream was left."):
                await exchange.result()

    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: None = None,
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        cause: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> ExchangeInterface[OutputT]: ...
    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: TypeForm[RequestT],
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        cause: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> ExchangeInterface[RequestT]: ...
    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: TypeSchema | None,
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        cause: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> ExchangeInterface[Any]: ...
    @checks_keywords
    def send(
        self,
        prompt: Prompt,
        *,
        output: Any = None,
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        cause: str | None = None,
        budget: Budget | None = None,
        deps: object = None,
    ) -> ExchangeInterface[Any]:
        """Start an exchange without waiting for it. While another one runs, the new one waits (`queue`), joins it at
        the model's next turn (`steer`), or cancels it (`interrupt`).

        A message of role `tool` with the results of the last calls continues a conversation that ends with them.
        `budget` limits this exchange further than that of the agent. `deps` is an object for the tools of this
        exchange, which get it as `ToolContext.deps`; it is not stored.
        """
        self._check_open()
        if when_busy != "queue":
            check_value("send", "when_busy", when_busy, WhenBusy)
        if client_request_id is not None:
            check_value("send", "client_request_id", client_request_id, str | None)
        if self._handover is not None:
            self._handover.check()
        request = read_prompt(prompt)
        current = self._engine.current
        if request.is_conversation:
            self._begin_with(request)
        message = request.message
        if current is None:
            self._runtime.approvals.unanswerable = None
            check_continues(self._conversation.messages, message)
        if when_busy == "steer" and current is not None:
            earlier = self.find_request(client_request_id) if client_request_id is not None else None
            if earlier is not None:
                return earlier
            if current.steer(message, client_request_id):
                if client_request_id is not None:
                    self._engine.requests.add(client_request_id, current)
                return current
        if when_busy == "interrupt":
            self._engine.cancel("A new request replaced it.")
        deps = self.deps if deps is None else deps
        self._runtime.check_deps(deps)
        shape = output_shape(output) or self._shape
        first = when_busy == "interrupt"
        return self._engine.submit(
            message,
            shape=shape,
            cause=cause,
            client_request_id=client_request_id,
            first=first,
            budget=budget.as_json() if budget is not None else None,
            deps=deps,
        )

    def _check_open(self) -> None:
        """Raise the error of an agent that can run no more requests."""

    def _begin_with(self, request: ReadPrompt) -> None:
        """Begin the conversation with the messages before a request. Raises ConfigurationError if it has begun."""
        conversation = self._conversation
        if conversation.messages or self._engine.current is not None:
            raise ConfigurationError(
                f"The conversation has {len(conversation.messages)} messages already; send the new message alone, or "
                "give the whole list to a new agent."
            )
        conversation.messages.extend(request.history)
        if request.system:
            system = join_texts([self.settings.system, *request.system])
            self.settings = msgspec.structs.replace(self.settings, system=system)
            conversation.settings = msgspec.structs.replace(conversation.settings, system=system)
            if self._handover is not None:
                self._handover.settings = self.settings

    @property
    def output_shape(self) -> TypeSchema | None:
        """The type of the answers, if the agent was made with one."""
        return self._shape

    @property
    def current(self) -> Exchange | None:
        """The running exchange."""
        return self._engine.current

    @property
    def queued(self) -> int:
        """The number of exchanges that wait for the running one."""
        return self._engine.queued

    def find_exchange(self, exchange_id: str) -> Exchange | None:
        """Return a running or queued exchange by its id."""
        return self._engine.find_exchange(exchange_id)

    def find_request(self, client_request_id: str) -> ExchangeInterface[Any] | None:
        """Return the exchange of a request that was sent with this id, running or finished."""
        return self._engine.requests.find(client_request_id)

    def cancel(self, reason: str = "") -> bool:
        """Cancel the running exchange. Returns False if none runs."""
        return self._engine.cancel(reason)

    # --- decisions ---------------------------------------------------------------------------------------------------

    def approve(
        self,
        approval: str,
        *,
        arguments: JsonObject | None = None,
        always: bool = False,
        digest: str | None = None,
        by: str = "",
    ) -> None:
        """Allow a waiting call: once, or `always` in this session; with other arguments if they are given. `by` is the
        name of who decides, for the log. Raises NotPending if the call does not wait."""
        decision = Approval(True, arguments=arguments, always=always, by=by)
        self._runtime.approvals.resolve(approval, decision, digest=digest)

    def deny(self, approval: str, reason: str = "", *, by: str = "") -> None:
        """Refuse a waiting call. The model gets the reason. `by` is the name of who decides, for the log."""
        self._runtime.approvals.resolve(approval, Approval(False, reason, by=by))

    def answer(self, question: str, text: str) -> None:
        """Answer a question of a tool."""
        self._runtime.approvals.answer(question, text)

    def answer_with(self, *, on_approval: OnApproval | None = None, on_question: OnQuestion | None = None) -> None:
        """Let functions decide on the calls that wait for approval, and answer the questions of tools."""
        approvals = self._runtime.approvals
        if on_approval is not None:
            approvals.attended = True
            approvals.answers_questions = False
            self.subscribe(ApprovalReactor(on_approval, approvals.resolve))
        if on_question is not None:
            approvals.answers_questions = True
            self.subscribe(QuestionReactor(on_question, approvals.answer))

    def send_tool_result(self, call_id: str, content: object, is_error: bool = False) -> None:
        """Send the result of a call that a client runs: a text, parts, or any JSON. Raises NotPending if the call does
        not wait, and HealdError for a result that cannot be used; the call waits on then."""
        self._runtime.client_calls.resolve(call_id, content, is_error)

    async def set_client_tools(self, tools: Sequence[ClientToolLike]) -> None:
        """Replace the tools that clients run. The model is offered them from its next turn on."""
        self._runtime.set_client_tools(read_client_tools(tools))

    @property
    def client_calls(self) -> list[ClientToolRequested]:
        """The calls that wait for a client."""
        return self._runtime.client_calls.open_calls

    @property
    def approvals(self) -> list[ApprovalRequested]:
        """The calls that wait for a decision."""
        self._looks_at_approvals = True
        return self._runtime.approvals.open_approvals

    @property
    def questions(self) -> list[QuestionAsked]:
        """The questions that wait for an answer."""
        return self._runtime.approvals.open_questions

    async def compact(self) -> ConversationCompacted | None:
        """Shorten the conversation that the model is sent, now: the model summarises all but its end. Returns None if
        there is nothing to gain. Raises HealdError while an exchange runs."""
        if self._engine.current is not None:
            raise HealdError("An exchange runs; the conversation can be compacted when it has ended.")
        compaction = await self._conversation.window.compact()
        if compaction is not None:
            self._bus.publish_outside_exchange(compaction)
        return compaction

    # --- events and state --------------------------------------------------------------------------------------------

    @checked
    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Call a reactor with the events of this agent: all, or those of these types or layers.

        A reactor is a function, or an object with methods such as `on_tool_result`. `close` of the result unsubscribes.
        """
        check_event_types(types)
        return self._bus.subscribe(reactor, types=types, layers=layers, queue=queue)

    @property
    def messages(self) -> list[Message]:
        """The conversation as the next turn sends it. Events have every message, also those that were compacted."""
        return list(self._conversation.messages)

    @property
    def last_seq(self) -> int:
        """The number of the last event."""
        return self._bus.seq

    def publish(self, payload: Payload) -> None:
        """Publish an event of the session that belongs to no exchange."""
        self._bus.publish_outside_exchange(payload)

    def override_settings(self, changes: Mapping[str, Any]) -> None:
        """Change settings of the agent from the next turn on. The changes replace those of an earlier call."""
        settings = self._handover.settings if self._handover is not None else self.settings
        self._conversation.settings = msgspec.structs.replace(settings, **changes)

    @property
    def speaker(self) -> str:
        """The name of the agent that answers the next request: of this one, or of one that the conversation was handed
        over to."""
        return self._handover.name if self._handover is not None else self.name

    def switch_to(self, name: str) -> None:
        """Let another agent answer the next request: this one, or one that `handoffs` lead to. Raises HealdError while
        an exchange runs."""
        if self._engine.current is not None:
            raise HealdError("An exchange runs; another agent can continue when it has ended.")
        names = self._handover.names if self._handover is not None else [self.name]
        if name not in names:
            raise ConfigurationError(f"switch_to: there is no agent {name!r} here; {nearest_or_all(name, names)}")
        changed = self._handover.switch_to(name) if self._handover is not None else None
        if changed is not None:
            self.publish(changed)

    @property
    def model_name(self) -> str:
        """The name of the current model: the one that was given, or a fallback that replaced it."""
        return self._conversation.models.name

    @property
    def context_tokens(self) -> int:
        """An estimate of the input tokens of the next request."""
        return self._conversation.window.tokens()

    @property
    def context_size(self) -> int | None:
        """The size of the model's context in tokens, as far as it is known without a request."""
        return self._conversation.window.known_size

    # --- tools and strategies ----------------------------------------------------------------------------------------

    @property
    def tools(self) -> list[Tool]:
        """The tools of the agent, those that clients run among them."""
        return list(self._runtime.registry)

    def find_tool(self, name: str) -> Tool | None:
        """Return the tool of this name."""
        return self._runtime.registry.find(name)

    @property
    def client_tools(self) -> list[ToolDefinition]:
        """The tools that clients run."""
        return self._runtime.client_tools

    @property
    def permissions(self) -> Permissions:
        """Decides on the calls. Its mode and rules may be changed at any time."""
        return self._runtime.permissions

    @property
    def workspace(self) -> Workspace:
        """The files that tools may read and change."""
        return self._runtime.workspace

    @property
    def session_objects(self) -> SessionObjects:
        """The objects that tools keep between calls, such as commands that run in the background."""
        return self._runtime.session_objects

    def may_show(self, path: str) -> bool:
        """Return whether the model may be shown a file without having asked for it."""
        from heald.tools.files.read_tool import read_file

        return self._runtime.may_show(read_file, {"path": path})

    async def hide_secrets(self, text: str) -> str:
        """Return a text with marks instead of secret values: those of the environment, and those in the files of the
        workspace that hold secrets."""
        await self._runtime.refresh_secrets()
        return self._runtime.hide_secrets(text)

    @property
    def shows_secrets(self) -> bool:
        """Whether the model sees the secret values in the files of its workspace. Those of the environment are always
        hidden."""
        return self._runtime.shows_secrets

    @shows_secrets.setter
    def shows_secrets(self, shows_secrets: bool) -> None:
        self._runtime.shows_secrets = shows_secrets

    def share_middleware(self, middleware: Sequence[Middleware]) -> None:
        """Wrap the calls of subagents too, outside their own middleware."""
        self._runtime.shared_middleware = [*self._runtime.shared_middleware, *middleware]

    def add_strategy(self, strategy: Strategy) -> None:
        """Add a strategy to this conversation, from the next turn on."""
        self._engine.strategies.add(strategy)

    @property
    def edit_format(self) -> EditFormat:
        """How the model changes files."""
        return self._text_editing.edit_format

    @edit_format.setter
    def edit_format(self, edit_format: EditFormat) -> None:
        self._text_editing.edit_format = edit_format

    @property
    def writes_calls(self) -> bool:
        """Whether the model is known to write its calls as text. They need no approval of their own then."""
        return self._text_editing.needs_text

    @writes_calls.setter
    def writes_calls(self, writes_calls: bool) -> None:
        self._text_editing.writes_calls = writes_calls

    @property
    def edits_as_text(self) -> bool:
        """Whether the model writes files as text, as far as that is known without a request."""
        return self._text_editing.is_active

    async def find_edit_format(self) -> None:
        """Ask the server of the model for its size, if `edits_as_text` depends on it."""
        await self._text_editing.find_format()

    async def whole_result(self, handle: str) -> str:
        """Return the whole text of a result that the model got in pages. `ToolResult.whole` has its handle. Raises
        ToolFault if the handle is unknown or the text is no longer stored."""
        return await self._runtime.whole_results.read(handle)

    @overload
    def as_tool(
        self: "Agent[None]", name: str, description: str
    ) -> "FunctionTool[[str], Coroutine[Any, Any, str]]": ...
    @overload
    def as_tool(self, name: str, description: str) -> "FunctionTool[[str], Coroutine[Any, Any, OutputT]]": ...
    def as_tool(self, name: str, description: str) -> "FunctionTool[[str], Coroutine[Any, Any, Any]]":
        """Make this agent a tool of another agent: `name(prompt: str) -> str`. The calling model writes the prompt, and
        gets the text of the answer. Each call is a conversation of its own, with the `deps` of the caller. A program
        that calls the tool itself, `await tool(prompt)`, gets the answer: the text, or a value of the type `output`."""
        from heald.agent.delegate import delegate

        return delegate(self._make_delegate, name, description, self._shape, self._runtime.deps_types)

    def _make_delegate(self, context: ToolContext | None) -> AgentEngine:
        """Make a new conversation that shares locks, approvals, budget and `deps` with its caller, if it has one."""
        bus, runtime = EventBus(new_id("ses")), self._runtime
        speaker = self._handover.first if self._handover is not None else runtime
        caller = context.host if context is not None else None
        shared = ToolRuntime(
            speaker.registry,
            workspace=context.workspace if context is not None and caller is not None else runtime.workspace,
            permissions=speaker.permissions,
            middleware=[*(caller.shared_middleware if caller is not None else ()), *speaker.middleware],
            locks=caller.locks if caller is not None else None,
            approvals=caller.approvals if caller is not None else None,
            client_calls=caller.client_calls if caller is not None else None,
            client_tool_timeout=runtime.client_tool_timeout,
        )
        shared.shows_secrets = (caller or runtime).shows_secrets
        if self._guarded_calls.guardrails:
            shared.shared_middleware = [self._guarded_calls]
        if caller is not None:
            shared.shared_middleware = [*caller.shared_middleware, *shared.shared_middleware]
            shared.whole_results = caller.whole_results
            shared.text_calls = caller.text_calls
            if (relay := caller.relay) is not None:
                bus.subscribe(lambda event: relay(event, event.session == bus.session))
        conversation = Conversation(self._profile.models.fresh(), shared, bus, settings=self.settings)
        guarded = [layer for layer in shared.shared_middleware if isinstance(layer, GuardedCalls)]
        text_editing = TextEditing(self.edit_format, DEFAULT)
        text_editing.writes_calls = self._text_editing.writes_calls
        handover = self._make_handover(text_editing, guarded) if self._handover is not None else None
        strategies = self._make_strategies(text_editing, guarded, handover)
        account = caller.account if caller is not None and isinstance(caller.account, Account) else None
        return AgentEngine(conversation, budget=self._engine.budget, strategies=strategies, caller=account)

    async def _close(self) -> None:
        await self._engine.close()
        await self._bus.close()


def _check_handoffs(handoffs: Sequence[object]) -> None:
    for index, agent in enumerate(handoffs):
        if isinstance(agent, str):
            continue
        if not isinstance(agent, Agent):
            kind = type(agent).__name__
            raise ConfigurationError(
                f"Agent: handoffs[{index}] must be an Agent or the name of one, not {kind}; an agent on a server can "
                "be a tool: agent.as_tool(…)."
            )
        if not cast("Agent[Any]", agent).name:
            raise ConfigurationError(
                f"Agent: handoffs[{index}] has no name; give it one, as in Agent(model, name='billing')."
            )


def _resolve_tools(tools: Sequence[ToolLike | str]) -> list[ToolLike]:
    """Replace the names of built-in tools by the tools."""
    names: list[str] = []
    others: list[ToolLike] = []
    for tool in tools:
        if isinstance(tool, str):
            names.append(tool)
        else:
            others.append(tool)
    if not names:
        return others
    from heald.tools.families import named_tools

    return [*named_tools(names), *others]


def _open_workspace(workspace: Workspace | str | PathLike[str] | None) -> Workspace:
    if workspace is None:
        return MemoryWorkspace()
    if not isinstance(workspace, str | PathLike):
        return workspace
    from heald.tools.workspace.disk import DiskWorkspace

    return DiskWorkspace(workspace)
