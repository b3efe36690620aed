"""Turns of one exchange: streams each answer, publishes its events, and falls back to the next model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from weft.agent.assembler import MessageAssembler
from weft.agent.previews import FilePreviews
from weft.agent.tracker import CostMeter, ExchangeTracker
from weft.core.errors import ConfigurationError, ContextOverflow, ErrorInfo, ProviderError
from weft.core.events import (
    ConversationResponding,
    ConversationThinking,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    RetryScheduled,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.core.payload import Payload
from weft.core.turn import Usage
from weft.providers.base import ProviderTurn
from weft.tools.type_schema import TypeSchema

if TYPE_CHECKING:
    from weft.agent.engine import AgentEngine

_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


class TurnListener:
    """Publishes each payload of a provider session and tracks its effects."""

    def __init__(
        self, publish: Callable[[Payload], None], previews: FilePreviews, tracker: ExchangeTracker, bill: CostMeter
    ) -> None:
        self.message = ""
        """The id of the last message."""
        self.attempt = 0
        """The attempt at the turn that made it."""
        self.attempts_before = 0
        """Attempts at the same turn by models that failed."""
        self.may_retry: Callable[[], bool] = lambda: True
        """Whether a failed attempt may be repeated."""
        self.retry_stopped = False
        """`may_retry` has refused a retry."""
        self._publish = publish
        self._previews = previews
        self._tracker = tracker
        self._bill = bill
        self._assembler = assembler = MessageAssembler()
        self._handlers: dict[type[Payload], Callable[[Any], object]] = {
            TextDelta: assembler.feed,
            ThinkingDelta: assembler.feed,
            InputJsonDelta: self._on_arguments,
            MessageStart: self._on_start,
            TextContentBlockStart: self._on_text,
            ThinkingContentBlockStart: assembler.feed,
            ToolUseContentBlockStart: self._on_call,
            MessageDelta: tracker.feed,
            MessageStop: self._on_stop,
            MessageDiscarded: self._on_discarded,
        }

    def on_payload(self, payload: Payload) -> bool:
        """Publish a payload. Returns False, and publishes nothing, for a retry that may not happen."""
        kind = type(payload)
        if kind is ToolUseContentBlockStop:
            self._previews.end_arguments(payload.block)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        elif kind is RetryScheduled and not self.may_retry():
            self.retry_stopped = True
            return False
        if self.attempts_before and isinstance(payload, MessageStart | RetryScheduled):
            payload = msgspec.structs.replace(payload, attempt=payload.attempt + self.attempts_before)
        self._publish(payload)
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(payload)
        return True

    def abandon(self) -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        assembler = self._assembler
        if not assembler.message:
            return ""
        text = assembler.text
        usage = Usage(output=-(-assembler.length // 4))
        self.on_payload(MessageDiscarded(assembler.message, _STOPPED, usage, estimated=True))
        return text

    def _on_start(self, payload: MessageStart) -> None:
        self._assembler.feed(payload)
        self.attempt = payload.attempt
        self.message = payload.message
        self._publish(ConversationThinking())

    def _on_text(self, payload: TextContentBlockStart) -> None:
        self._assembler.feed(payload)
        self._publish(ConversationResponding())

    def _on_call(self, payload: ToolUseContentBlockStart) -> None:
        self._assembler.feed(payload)
        self._previews.start_call(payload)

    def _on_arguments(self, payload: InputJsonDelta) -> None:
        self._assembler.feed(payload)
        self._previews.feed(payload)

    def _on_stop(self, payload: MessageStop) -> None:
        self._assembler.reset()  # the provider session has the whole message
        self._tracker.feed(payload)

    def _on_discarded(self, payload: MessageDiscarded) -> None:
        self._assembler.reset()
        self._tracker.feed(payload)
        self._previews.discard()
        if payload.usage.total is not None:
            self._bill.add(payload.usage)


class TurnRunner:
    """Runs the turns of one exchange, each on the current model or on a fallback."""

    def __init__(
        self, engine: "AgentEngine", previews: FilePreviews, tracker: ExchangeTracker, shape: TypeSchema | None
    ) -> None:
        self.bill = CostMeter(tracker, lambda: engine.session)
        self._engine = engine
        self._shape = shape
        self._listener = TurnListener(engine.bus.publish, previews, tracker, self.bill)
        self._compacted = False
        self._tool_choice: str | None = None  # that of the settings

    async def begin(self) -> None:
        """Prepare the first turn. Raises ConfigurationError for a budget in dollars without known prices."""
        self.bill.start_loading()
        if self._engine.budget.usd is None:
            return
        await self.bill.finish()
        if self._engine.session.cost(Usage(input=1000, output=1000)).usd is None:
            raise ConfigurationError(
                f"There is no price for {self._engine.models.name}, so a budget in dollars cannot be kept; "
                "limit tokens instead."
            )

    async def run_turn(self, stop: Callable[[], BaseException | None]) -> ProviderTurn:
        """Run the next turn. `stop` returns the exception that forbids a further request, if there is one."""
        engine, listener = self._engine, self._listener
        listener.attempts_before, listener.retry_stopped = 0, False
        listener.may_retry = lambda: stop() is None
        _raise_if(stop())
        while True:
            try:
                turn = await engine.session.stream_turn(listener.on_payload)
            except ProviderError as error:
                if listener.retry_stopped:
                    _raise_if(stop())
                if not self._compact_once(error) and not await engine.models.switch_to_next(error):
                    raise
                _raise_if(stop())
                engine.prepare(self._shape)
                if self._tool_choice is not None:
                    engine.choose_tools(self._tool_choice)
                listener.attempts_before = listener.attempt
                engine.bus.publish(RetryScheduled(listener.message, listener.attempt + 1, 0.0, error.info()))
                _raise_if(stop())
                continue
            self.bill.add(turn.usage, turn.billed_usd)
            if engine.settings.tool_choice != "none" and self._tool_choice is None:
                self.choose_tools("auto")  # a required call is required once, or the model could never answer
            return turn

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice of the remaining turns of the exchange."""
        self._tool_choice = choice
        self._engine.choose_tools(choice)

    def abandon(self) -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        return self._listener.abandon()

    def _compact_once(self, error: ProviderError) -> bool:
        """Shorten a conversation that is too long, once in an exchange. Returns whether that helped."""
        if not isinstance(error, ContextOverflow) or self._compacted:
            return False
        self._compacted = True
        return self._engine.compact()


def _raise_if(error: BaseException | None) -> None:
    if error is not None:
        raise error
