"""The conversation with a model: its provider session, the context that it is sent, its settings and its tools."""

from heald.agent.account import Account
from heald.agent.bus import EventBus
from heald.agent.context_window import ContextWindow
from heald.agent.model_chain import ModelChain
from heald.core.errors import ProviderError
from heald.core.events import MessageDiscarded, UserMessage
from heald.core.messages import Message, ToolDefinition
from heald.core.payload import Payload
from heald.core.turn import Settings, Usage
from heald.providers.base import ProviderSession, ProviderTurn
from heald.tools.compact import ToolProfile, compact_definitions
from heald.tools.model_requests import ModelAnswer, ModelRequest
from heald.tools.runtime import ToolRuntime
from heald.wires.service_tier import read_tier

SMALL_CONTEXT = 16_384
"""Up to this many tokens of context a model is offered compact definitions of tools."""


class Conversation:
    """The part of an agent that a turn, and a strategy, works with."""

    def __init__(
        self,
        models: ModelChain,
        runtime: ToolRuntime,
        bus: EventBus,
        *,
        settings: Settings | None = None,
        messages: list[Message] | None = None,
        tool_profile: ToolProfile = "auto",
    ) -> None:
        self.models = models
        self.runtime = runtime
        """The tools, and the workspace and permissions that they share."""
        self.bus = bus
        self.settings = settings or Settings()
        self.messages = list(messages or [])
        """The context: the messages that the next turn sends."""
        self.window = ContextWindow(self)
        self.account: Account | None = None
        """The account of the running exchange."""
        self._tool_profile = tool_profile
        self._is_compact = tool_profile == "compact"
        runtime.ask_model = self._ask_model

    @property
    def exchange(self) -> str | None:
        """The id of the running exchange."""
        return self.bus.exchange

    @property
    def session(self) -> ProviderSession:
        """The provider session of the current model. It shares its history with the conversation."""
        session = self.models.session
        if session is None:
            session = self.models.open(self.messages, self.definitions, self.settings)
            self.messages = session.messages
        return session

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The definitions of all tools: in full, or compact for a model with a small context."""
        registry = self.runtime.registry
        return compact_definitions(registry) if self._is_compact else registry.definitions

    def fit_tools(self, context_size: int | None) -> None:
        """Offer compact definitions to a model with a small context, unless the profile is fixed."""
        is_compact = self._tool_profile == "compact"
        if self._tool_profile == "auto":
            is_compact = context_size is not None and context_size <= SMALL_CONTEXT
        if is_compact == self._is_compact:
            return
        offers_all = self.session.tools == self.definitions
        self._is_compact = is_compact
        if offers_all:
            self.session.tools = self.definitions

    def append(self, message: Message) -> None:
        """Add a message to the context."""
        self.session.append(message)

    def add_user_message(self, message: Message) -> None:
        """Publish a message of the user and add it to the context."""
        self.bus.publish(UserMessage(message))
        self.session.append(message)

    async def ask_aside(self, session: ProviderSession) -> ProviderTurn:
        """Run one turn of a session beside the conversation, within the account of the running exchange. Raises
        LimitReached if that is used up. The caller counts what the turn used, before it awaits anything else."""
        account = self.account
        if account is None or not account.is_limited:
            turn = await session.stream_turn(lambda _: None)
            await session.load_prices()
            return turn
        await session.load_prices()
        tokens, output = self.window.estimate(session), session.settings.max_output_tokens or 0
        tier = read_tier(session.settings.service_tier)
        usd = session.cost(Usage(input=tokens, output=output, tier=tier)).usd
        reservation = await account.reserve(tokens=tokens + output, usd=usd or 0.0, turns=0)
        failed: list[Usage] = []
        try:
            if (reached := account.reached(turns=False)) is not None:
                raise reached
            return await session.stream_turn(lambda payload: failed.append(_discarded(payload)))
        except ProviderError:
            for usage in failed:
                if usage.total is not None:
                    account.count_aside(usage, session.cost(usage).usd)
            raise
        finally:
            reservation.release()

    async def _ask_model(self, request: ModelRequest) -> ModelAnswer:
        """Ask the current model for a tool, apart from the conversation."""
        settings = Settings(
            system=request.system,
            temperature=request.temperature,
            max_output_tokens=request.max_output_tokens,
            stop_sequences=list(request.stop_sequences),
            tool_choice=request.tool_choice,
        )
        name = self.models.name
        session = self.models.open_aside(list(request.messages), settings, request.tools)
        try:
            turn = await self.ask_aside(session)
            usd = turn.cost_usd if turn.cost_usd is not None else session.cost(turn.usage).usd
            if self.account is not None:
                self.account.tracker.add_delegated(turn.usage + turn.discarded, 0)
        finally:
            await session.close()
        calls = tuple(call for call in turn.tool_calls if call.invalid is None)
        return ModelAnswer(text=turn.text, model=name, stop_reason=turn.stop_reason, cost_usd=usd, calls=calls)


def _discarded(payload: Payload) -> Usage:
    """Return the usage of a failed attempt; nothing for any other event."""
    return payload.usage if isinstance(payload, MessageDiscarded) else Usage()
