"""Counts what an exchange uses: turns, tokens and money."""

from heald.core.context_events import ConversationCompacted
from heald.core.errors import ErrorInfo
from heald.core.events import (
    ExchangeResponse,
    ExchangeStatus,
    MessageDelta,
    MessageDiscarded,
    MessageStop,
    ToolCompleted,
    ToolFailed,
)
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage


class ExchangeTracker:
    """Counts turns, tokens and money of one exchange. Discarded attempts count too."""

    def __init__(self) -> None:
        self.turns = 0
        self.usage = Usage()
        self.delegated: Usage | None = None
        self.delegated_turns = 0
        """Turns of agents that have worked for this exchange, and of those that worked for them."""
        self.cost: float | None = 0.0
        """In dollars; None once a price is not known."""
        self.stop_reason: StopReason = "error"
        self.interrupted_by: str | None = None
        """The provider's reason, if the last message did not end regularly."""
        self.notes: list[str] = []
        """Sentences about the messages: parts that they cannot hold, and repairs."""

    def feed(self, payload: Payload) -> None:
        if type(payload) is MessageDelta:
            self.usage += payload.usage
            self.stop(payload)
        elif type(payload) is MessageStop:
            self.turns += 1
        elif type(payload) is ToolCompleted or type(payload) is ToolFailed:
            self.spend(payload.cost_usd)
        elif type(payload) is MessageDiscarded:
            self.usage += payload.usage
        elif type(payload) is ConversationCompacted:
            self.usage += payload.usage
            self.spend(payload.cost_usd)

    def stop(self, message: MessageDelta) -> None:
        """Record how the last message ended."""
        self.stop_reason = message.stop_reason
        self.interrupted_by = message.provider_stop_reason if message.interrupted else None
        self.notes += [note for note in message.notes if note not in self.notes]

    def spend(self, usd: float | None) -> None:
        self.cost = None if usd is None or self.cost is None else self.cost + usd

    def delegate(self, response: ExchangeResponse, turns: int) -> None:
        """Add the usage, cost and turns of an agent that worked for this exchange."""
        self.add_delegated(response.usage + (response.delegated or Usage()), turns)
        self.spend(response.cost_usd)

    def add_delegated(self, usage: Usage, turns: int) -> None:
        """Add usage and turns of agents that worked for this exchange."""
        self.delegated = (self.delegated or Usage()) + usage
        self.delegated_turns += turns

    @property
    def tokens(self) -> int:
        """All known tokens, with those of delegated work."""
        return (self.usage.total or 0) + ((self.delegated.total or 0) if self.delegated is not None else 0)

    def response(
        self,
        status: ExchangeStatus,
        duration_ms: float,
        *,
        error: ErrorInfo | None = None,
        limit: str | None = None,
        note: str | None = None,
        failure: StopReason = "error",
    ) -> ExchangeResponse:
        """Build the last event of the exchange. `failure` is the stop reason of one that failed."""
        return ExchangeResponse(
            status,
            failure if status == "failed" else self.stop_reason,
            duration_ms,
            self.turns,
            self.usage,
            None if self.cost is None else round(self.cost, 9),
            error,
            limit,
            note,
            self.delegated,
        )
