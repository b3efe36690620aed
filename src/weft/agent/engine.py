"""The engine: the conversation, its queue of exchanges, its models and their fallbacks."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from weft.agent.bus import EventBus
from weft.agent.context_window import ContextWindow
from weft.agent.driver import Driver
from weft.agent.exchange import Exchange, ExchangeState
from weft.agent.hosted_tools import attach_tool_host
from weft.agent.trace_context import announce_exchange
from weft.agent.tracker import Budget
from weft.core.envelope import Event
from weft.core.errors import ProviderError
from weft.core.events import ConversationQueued, ExchangeRequest, ExchangeResponse
from weft.core.messages import Message, ToolDefinition
from weft.core.turn import Settings
from weft.providers.base import ProviderSession, ToolHost
from weft.providers.catalogue import is_small_model, names_parameters
from weft.providers.factory import Scripted, check_model, find, open_provider_session
from weft.providers.model import Model
from weft.tools.compact import ToolProfile, compact_definitions
from weft.tools.context import ModelAnswer, ModelRequest
from weft.tools.runtime import ToolRuntime
from weft.tools.type_schema import TypeSchema

if TYPE_CHECKING:
    from weft.agent.continuation import OpenExchange
    from weft.providers.session import WireSession

ModelLike = str | Model | Scripted
EditFormat = Literal["auto", "tools", "text"]
"""How a model changes files: by calling tools, by writing them as text, or text if it is small."""
Overview = Callable[[int], str]
SMALL_CONTEXT = 16_384
"""Up to this many tokens of context a model is offered compact definitions of tools, and no overview."""
OVERVIEW_TOKENS = 1_000
"""The size of an overview, if that of the context is not known."""


def overview_tokens(context_size: int | None) -> int:
    """Return the tokens that an overview may have in a context of this size; 0 for a small one."""
    if context_size is None:
        return OVERVIEW_TOKENS
    return 0 if context_size <= SMALL_CONTEXT else min(context_size // 32, 2 * OVERVIEW_TOKENS)


class ModelChain:
    """A model and its fallbacks, with one provider session at a time. The next model takes over the history."""

    def __init__(self, models: Sequence[ModelLike], **options: Any) -> None:
        self._models = list(models)
        self._options = options
        self._at = 0
        self._found: dict[str, Model | Scripted] = {}  # the models that were given by name
        self._parameters: int | None = None
        self.session: ProviderSession | None = None
        """The provider session of the current model, once it is open."""

    @property
    def name(self) -> str:
        """The name of the current model."""
        model = self._models[self._at]
        return model if isinstance(model, str) else str(getattr(model, "name", "model"))

    @property
    def writes_text(self) -> bool:
        """Whether the current model can write files as text: its wire can read them."""
        model = self._resolved
        return isinstance(model, Model) and model.wire.name in ("chat", "ollama")

    @property
    def is_small(self) -> bool:
        """Whether the current model is too small to call tools well, by its name or by what its server reports."""
        model = self._resolved
        return isinstance(model, Model) and is_small_model(model.name, self._parameters)

    @property
    def may_be_small(self) -> bool:
        """Whether only the server of the current model, one of the user's own, can report its size."""
        model = self._resolved
        return isinstance(model, Model) and model.base_url.startswith("http:") and not names_parameters(model.name)

    @property
    def _resolved(self) -> Model | Scripted:
        model = self._models[self._at]
        if not isinstance(model, str):
            return model
        if model not in self._found:
            self._found[model] = find(model)
        return self._found[model]

    def check(self) -> None:
        """Raise configuration errors now: an unknown model name, a missing key."""
        for model in self._models:
            check_model(model)

    def open(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> ProviderSession:
        """Open a session with the current model."""
        model = self._models[self._at]
        self.session = open_provider_session(model, messages=messages, tools=tools, settings=settings, **self._options)
        return self.session

    def open_aside(self, messages: list[Message], settings: Settings) -> ProviderSession:
        """Open another session with the current model, without tools, beside the conversation."""
        return open_provider_session(
            self._models[self._at], messages=messages, tools=[], settings=settings, **self._options
        )

    async def find_size(self, session: ProviderSession) -> None:
        """Ask the server of the current model for its number of parameters."""
        ask = getattr(session, "server_facts", None)
        if ask is not None:
            self._parameters = (await ask()).parameters

    def fresh(self) -> "ModelChain":
        """Return the same models for another conversation."""
        return ModelChain(self._models, **self._options)

    async def switch_to_next(self, error: ProviderError) -> bool:
        """Switch to the next model after a failure. Returns False if there is none."""
        if self._at + 1 >= len(self._models):
            return False
        self._at += 1
        self._parameters = None
        await self.close()
        return True

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            await session.close()


class AgentEngine:
    """Runs exchanges on a model with tools, and publishes everything on the bus."""

    def __init__(
        self,
        models: ModelChain,
        runtime: ToolRuntime,
        bus: EventBus,
        *,
        settings: Settings | None = None,
        budget: Budget | None = None,
        messages: list[Message] | None = None,
        tool_profile: ToolProfile = "auto",
        edit_format: EditFormat = "auto",
        tool_instructions: str = "",
    ) -> None:
        self._tool_instructions = tool_instructions
        self.models = models
        self.edit_format = edit_format
        self.runtime = runtime
        self.bus = bus
        self.settings = settings or Settings()
        self.budget = budget or Budget()
        self.messages = list(messages or [])
        """The context: the conversation as the next turn sends it."""
        self.context = ContextWindow(self)
        self.tool_profile = tool_profile
        self._compact_tools = tool_profile == "compact"
        self.overview: Overview | None = None
        """Describes the workspace within a number of tokens, for the instructions. It is asked once."""
        self.current: Exchange | None = None
        self.host: ToolHost | None = None
        """The provider session, if its model runs tools in its own loop."""
        self._waiting: deque[Exchange] = deque()
        self._requests: dict[str, Exchange] = {}
        runtime.relay = self._relay
        runtime.remaining_budget = self._remaining_budget
        runtime.ask_model = self._ask_model
        runtime.on_new_tool = self.update_tools

    @property
    def session(self) -> ProviderSession:
        """The provider session of the current model. It shares its history with the engine."""
        session = self.models.session
        if session is None:
            session = self.models.open(self.messages, self.definitions, self.settings)
            self.messages = session.messages
        return session

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The tools as the model is offered them."""
        registry = self.runtime.registry
        if self.edits_as_text:
            return []
        return compact_definitions(registry) if self._compact_tools else registry.definitions

    @property
    def edits_as_text(self) -> bool:
        """Whether the model writes files as text, because it is bad at calling tools or a person chose it."""
        return self.can_write_text and (self.edit_format == "text" or self.models.is_small)

    @property
    def can_write_text(self) -> bool:
        """Whether the model can write files as text, and a tool can change them."""
        return "edit_file" in self.runtime.registry and self.edit_format != "tools" and self.models.writes_text

    async def find_edit_format(self) -> bool:
        """Ask the server whether the model is a small one, if nothing else shows it. Returns whether that changes how
        files are written."""
        if self.edit_format != "auto" or not self.can_write_text or not self.models.may_be_small:
            return False
        before = self.edits_as_text
        await self.models.find_size(self.session)
        has_changed = self.edits_as_text != before
        if has_changed:
            self.update_tools()
        return has_changed

    async def attach_files(self) -> None:
        """Show a model that writes files as text the files that it needs."""
        if not self.edits_as_text:
            return
        from weft.agent.attached_files import attach_files
        from weft.tools.files.read_write import read_file

        names = {tool.name for tool in self.runtime.registry}
        session = cast("WireSession", self.session)
        session.text_files = await asyncio.to_thread(
            attach_files,
            self.runtime.workspace,
            list(self.messages),
            write_tool="write_file" if "write_file" in names else "create_file",
            edit_tool="edit_file",
            context_size=self.context.known_size,
            may_show=lambda path: self.runtime.may_show(read_file, {"path": path}),
        )

    async def add_overview(self) -> None:
        """Add the overview of the workspace to the instructions, if the model's context has room for it."""
        overview, self.overview = self.overview, None
        if overview is None or self.edits_as_text:
            return
        if not await asyncio.to_thread(overview, OVERVIEW_TOKENS):
            return  # there is nothing to show, so the size of the context does not matter
        tokens = overview_tokens(await self.context.size())
        text = await asyncio.to_thread(overview, tokens) if tokens else ""
        if text:
            self.settings = msgspec.structs.replace(self.settings, system=f"{self.settings.system}\n\n{text}".strip())
            session = self.session
            session.settings = msgspec.structs.replace(session.settings, system=self.settings.system)

    def fit_tools(self, context_size: int | None) -> None:
        """Offer compact definitions to a model with a small context, unless the profile is fixed."""
        compact = self.tool_profile == "compact"
        if self.tool_profile == "auto":
            compact = context_size is not None and context_size <= SMALL_CONTEXT
        if compact != self._compact_tools:
            self._compact_tools = compact
            self.update_tools()

    def prepare(self, shape: TypeSchema | None) -> None:
        """Set the current tools and the requested output before an exchange."""
        session = self.session
        self.runtime.registry.refresh()
        self.update_tools()
        self.host = attach_tool_host(session, self.runtime)
        schema = shape.schema if shape is not None else self.settings.output_schema
        system = self.settings.system
        if self.edits_as_text:
            system = system.replace(self._tool_instructions, "").strip()
        settings = msgspec.structs.replace(self.settings, output_schema=schema, system=system)
        if session.settings != settings:
            session.settings = settings

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice until the next exchange."""
        session = self.session
        if session.settings.tool_choice != choice:
            session.settings = msgspec.structs.replace(session.settings, tool_choice=choice)

    async def _ask_model(self, request: ModelRequest) -> ModelAnswer:
        """Ask the current model for a tool."""
        settings = Settings(
            system=request.system,
            temperature=request.temperature,
            max_output_tokens=request.max_output_tokens,
            stop_sequences=list(request.stop_sequences),
        )
        name = self.models.name
        session = self.models.open_aside(list(request.messages), settings)
        try:
            turn = await session.stream_turn(lambda _: None)
            await session.load_prices()
            usd = turn.billed_usd if turn.billed_usd is not None else session.cost(turn.usage).usd
        finally:
            await session.close()
        return ModelAnswer(text=turn.text, model=name, stop_reason=turn.stop_reason, usd=usd)

    def update_tools(self) -> None:
        """Offer the current tools from the next turn on."""
        session = self.models.session
        if session is None:
            return
        session.tools = self.definitions
        if not self.edits_as_text and self.models.writes_text:
            cast("WireSession", session).text_files = None

    def append(self, message: Message) -> None:
        self.session.append(message)

    def submit(
        self,
        message: Message,
        *,
        shape: TypeSchema | None = None,
        cause: str | None = None,
        client_request_id: str | None = None,
        first: bool = False,
        exchange_id: str | None = None,
        is_queued: bool = False,
    ) -> Exchange:
        """Start an exchange, or queue it: at the end, or `first`.

        A known `client_request_id` returns its exchange. `exchange_id` is the id of a request that was queued before;
        with `is_queued` the log says so already.
        """
        if client_request_id is not None and client_request_id in self._requests:
            return self._requests[client_request_id]
        schema = shape.schema if shape is not None else None
        request = ExchangeRequest(message, self.models.name, client_request_id, cause, schema)
        exchange = Exchange(self, request, shape=shape, exchange_id=exchange_id)
        announce_exchange(exchange.id)
        if client_request_id is not None:
            self._requests[client_request_id] = exchange
        (self._waiting.appendleft if first else self._waiting.append)(exchange)
        if self.current is None:
            self._start_next()
        else:
            exchange.move_to(ExchangeState.QUEUED)
            if not is_queued:
                self.publish_queued(exchange, 1 if first else len(self._waiting))
        return exchange

    def resume(self, found: "OpenExchange", *, first_message: int, shape: TypeSchema | None) -> Exchange:
        """Continue an exchange of a process that ended. The conversation holds its messages, and nothing runs yet."""
        from weft.agent.continuation import ResumedExchange

        exchange = ResumedExchange(self, found, first_message=first_message, shape=shape)
        if found.request.client_request_id is not None:
            self._requests[found.request.client_request_id] = exchange
        self.current = exchange
        exchange.driver = Driver(exchange.run(), f"weft-{exchange.id}", self._ended)
        return exchange

    def find(self, client_request_id: str) -> Exchange | None:
        """Return the exchange of a request."""
        return self._requests.get(client_request_id)

    def exchange(self, exchange_id: str) -> Exchange | None:
        """Return a running or queued exchange."""
        known = (*([self.current] if self.current is not None else []), *self._waiting)
        return next((exchange for exchange in known if exchange.id == exchange_id), None)

    @property
    def waiting(self) -> int:
        """The number of queued exchanges."""
        return len(self._waiting)

    def register_request(self, client_request_id: str, exchange: Exchange) -> None:
        """Return this exchange when the request is repeated."""
        self._requests[client_request_id] = exchange

    def cancel(self, reason: str = "") -> bool:
        """Cancel the running exchange, if there is one."""
        return self.current.cancel(reason) if self.current is not None else False

    def abort_waiting(self, error: Exception) -> None:
        """Fail all queued exchanges."""
        for exchange in self._waiting:
            exchange.abort(error)

    def publish_queued(self, exchange: Exchange, position: int) -> None:
        """Publish that an exchange is queued, with all data that is needed to run it in another process."""
        request = exchange.request
        self.bus.publish_outside_exchange(
            ConversationQueued(
                position,
                exchange.id,
                request.message,
                request.client_request_id,
                request.cause,
                request.output_schema,
            )
        )

    def drain_queue(self) -> list[Exchange]:
        """Remove and return all queued exchanges, in order."""
        waiting, self._waiting = list(self._waiting), deque()
        return waiting

    async def close(self) -> None:
        """Cancel all exchanges and close the models and tools."""
        for exchange in (*self._waiting, *([self.current] if self.current is not None else [])):
            exchange.cancel("The agent was closed.")
        while self.current is not None and self.current.driver is not None:
            await asyncio.wait([self.current.driver.task])
            await asyncio.sleep(0)
        await self.models.close()
        await self.runtime.close()

    def _start_next(self) -> None:
        if not self._waiting:
            self.current = None
            return
        self.current = exchange = self._waiting.popleft()
        exchange.driver = Driver(exchange.run(), f"weft-{exchange.id}", self._ended)

    def _ended(self) -> None:
        if self.current is not None and not self.current.is_over:  # the task was cancelled before its first step
            self.current.close_unrun()
        self._start_next()

    def _remaining_budget(self) -> Budget:
        """Return the remaining budget of the running exchange, for agents that work for it."""
        return self.budget.remaining(self.current.tracker) if self.current is not None else self.budget

    def _relay(self, event: Event, direct: bool) -> None:
        if self.current is not None and direct and isinstance(event.data, ExchangeResponse):
            self.current.tracker.delegate(event.data)
        self.bus.relay(event)
