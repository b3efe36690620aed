"""What an exchange has taken so far, and how it ended. A pure fold: no clock, no I/O."""

from weft.core.errors import ErrorInfo
from weft.core.events import (
    ExchangeResponse,
    ExchangeStatus,
    MessageDelta,
    MessageDiscarded,
    MessageStop,
    ToolCompleted,
    ToolFailed,
)
from weft.core.payload import Payload
from weft.core.stop import StopReason
from weft.core.usage import Usage


class ExchangeTracker:
    """Counts turns, tokens and money of one exchange. Discarded attempts count too."""

    def __init__(self) -> None:
        self.turns = 0
        self.usage = Usage()
        self.delegated: Usage | None = None
        self.cost: float | None = 0.0
        """In dollars; None once something was used whose price is not known."""
        self.stop_reason: StopReason = "error"

    def feed(self, payload: Payload) -> None:
        match payload:
            case MessageDelta(usage=usage, stop_reason=stop_reason):
                self.usage += usage
                self.stop_reason = stop_reason
            case MessageStop():
                self.turns += 1
            case MessageDiscarded(usage=usage):
                self.usage += usage
            case ToolCompleted(cost_usd=usd) | ToolFailed(cost_usd=usd):
                self.spend(usd)
            case _:
                pass

    def spend(self, usd: float | None) -> None:
        self.cost = None if usd is None or self.cost is None else self.cost + usd

    def delegate(self, response: ExchangeResponse) -> None:
        """An agent that worked for this one is done."""
        self.delegated = (self.delegated or Usage()) + response.usage + (response.delegated or Usage())
        self.spend(response.cost_usd)

    @property
    def tokens(self) -> int:
        """All tokens that are known of, those of delegated work included."""
        return (self.usage.total or 0) + ((self.delegated.total or 0) if self.delegated is not None else 0)

    def response(
        self,
        status: ExchangeStatus,
        duration_ms: float,
        *,
        error: ErrorInfo | None = None,
        limit: str | None = None,
        note: str | None = None,
    ) -> ExchangeResponse:
        """The one signal that work is over."""
        return ExchangeResponse(
            status,
            "error" if status == "failed" else self.stop_reason,
            duration_ms,
            self.turns,
            self.usage,
            None if self.cost is None else round(self.cost, 9),
            error,
            limit,
            note,
            self.delegated,
        )
