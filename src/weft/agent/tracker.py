"""Counts what an exchange uses (turns, tokens, money, repeated calls) and compares it with its budget."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import msgspec

from weft.core.context_events import ConversationCompacted
from weft.core.errors import ConfigurationError, ErrorInfo
from weft.core.events import (
    ExchangeResponse,
    ExchangeStatus,
    MessageDelta,
    MessageDiscarded,
    MessageStop,
    ToolCompleted,
    ToolFailed,
)
from weft.core.json import JsonObject
from weft.core.messages import ToolCall
from weft.core.payload import Payload
from weft.core.turn import StopReason, Usage
from weft.providers.base import ProviderSession


class ExchangeTracker:
    """Counts turns, tokens and money of one exchange. Discarded attempts count too."""

    def __init__(self) -> None:
        self.turns = 0
        self.usage = Usage()
        self.delegated: Usage | None = None
        self.cost: float | None = 0.0
        """In dollars; None once a price is not known."""
        self.stop_reason: StopReason = "error"

    def feed(self, payload: Payload) -> None:
        if type(payload) is MessageDelta:
            self.usage += payload.usage
            self.stop_reason = payload.stop_reason
        elif type(payload) is MessageStop:
            self.turns += 1
        elif type(payload) is ToolCompleted or type(payload) is ToolFailed:
            self.spend(payload.cost_usd)
        elif type(payload) is MessageDiscarded:
            self.usage += payload.usage
        elif type(payload) is ConversationCompacted:
            self.usage += payload.usage
            self.spend(payload.cost_usd)

    def spend(self, usd: float | None) -> None:
        self.cost = None if usd is None or self.cost is None else self.cost + usd

    def delegate(self, response: ExchangeResponse) -> None:
        """Add the usage and cost of an agent that worked for this exchange."""
        self.delegated = (self.delegated or Usage()) + response.usage + (response.delegated or Usage())
        self.spend(response.cost_usd)

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
    ) -> ExchangeResponse:
        """Build the last event of the exchange."""
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


class CostMeter:
    """Adds up costs. Usage from before the price list is loaded is priced afterwards."""

    def __init__(self, tracker: ExchangeTracker, session: Callable[[], ProviderSession]) -> None:
        self._tracker = tracker
        self._session = session
        self._unpriced: list[tuple[ProviderSession, Usage]] = []
        self._loading: asyncio.Task[None] | None = None

    def start_loading(self) -> None:
        session = self._session()
        if not session.prices_ready:
            self._loading = asyncio.get_running_loop().create_task(session.load_prices())

    async def finish(self, patience: float | None = None) -> None:
        """Wait for the price list and price the open usage. Without the list, the cost is unknown."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=patience)
        for session, usage in self._unpriced:
            self._tracker.spend(session.cost(usage).usd if session.prices_ready else None)
        self._unpriced = []

    def add(self, usage: Usage, billed: float | None = None, *, session: ProviderSession | None = None) -> None:
        """Add usage, of the current session if none is given. An amount that the provider billed takes precedence over
        the price list."""
        session = session or self._session()
        if billed is not None:
            self._tracker.spend(billed)
        elif session.prices_ready:
            self._tracker.spend(session.cost(usage).usd)
        else:
            self._unpriced.append((session, usage))


_Amount = TypeVar("_Amount", int, float)


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one exchange. Reaching one ends it with status `limit`; finished work is kept."""

    turns: int = 20
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    message_tokens: int | None = 256_000
    """Estimated tokens of one answer, more than any model writes. A server that never ends is cut there."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigurationError(f"A budget of {value} {name} lets nothing happen; give more than 0.")

    def within(self, left: "Budget") -> "Budget":
        """Restrict this budget to the remaining one of the exchange that the work is for."""
        return msgspec.structs.replace(self, tokens=_least(self.tokens, left.tokens), usd=_least(self.usd, left.usd))

    def remaining(self, tracker: ExchangeTracker) -> "Budget":
        """Return the remaining budget. It is never zero, so that a delegate reaches the limit by itself."""
        tokens = None if self.tokens is None else max(self.tokens - tracker.tokens, 1)
        usd = None if self.usd is None else max(self.usd - (tracker.cost or 0.0), 1e-9)
        return msgspec.structs.replace(self, tokens=tokens, usd=usd)

    def reached(self, tracker: ExchangeTracker) -> str | None:
        """Return the limit that is used up, if there is one."""
        if self.tokens is not None and tracker.tokens >= self.tokens:
            return "tokens"
        if self.usd is not None and (tracker.cost is None or tracker.cost >= self.usd):
            return "usd"
        return None

    def explain(self, limit: str, tracker: ExchangeTracker) -> str:
        if limit in ("message_tokens", "max_output_tokens"):
            return f"The model wrote on beyond {limit}, so its answer was cut and the exchange ended."
        value = getattr(self, limit)
        if limit == "usd" and tracker.cost is None:
            return f"Something was used whose price is not known, so the budget of ${value:g} cannot be kept."
        shown = (
            f"${value:g}"
            if limit == "usd"
            else f"{value:,} {limit}"
            if isinstance(value, int)
            else f"{value:g} {limit}"
        )
        return f"The exchange reached its budget of {shown}."


def _least(one: _Amount | None, other: _Amount | None) -> _Amount | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


REPEAT_LIMIT = 3
"""The number of identical turns in a row after which the model gets a note."""


class RepeatCounter:
    """Counts turns that repeat exactly the calls of the turn before."""

    def __init__(self) -> None:
        self._last: list[str | JsonObject] = []  # the names and arguments
        self._count = 0

    def notes(self, calls: list[ToolCall]) -> dict[str, str]:
        """Return notes for the model, by call."""
        current: list[str | JsonObject] = []
        for call in calls:
            current += (call.name, call.input)
        self._count = self._count + 1 if current == self._last else 1
        self._last = current
        if self._count < REPEAT_LIMIT:
            return {}
        note = (
            f"(You have made exactly this call {self._count} times in a row. "
            "Unless you wait for something to change, do something else or finish.)"
        )
        return {calls[0].id: note}
