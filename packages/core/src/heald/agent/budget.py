"""The limits of one exchange."""

from typing import TypeVar

import msgspec

from heald.agent.tracker import ExchangeTracker
from heald.core.errors import ConfigurationError

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
                raise ConfigurationError(f"The budget of {name} is {value}; it must be greater than 0.")

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
            return f"The answer exceeded {limit}, so it was cut and the exchange ended."
        value = getattr(self, limit)
        if limit == "usd" and tracker.cost is None:
            return f"Something was used whose price is not known, so the budget of ${value:g} cannot be enforced."
        amount = (
            f"${value:g}"
            if limit == "usd"
            else f"{value:,} {limit}"
            if isinstance(value, int)
            else f"{value:g} {limit}"
        )
        return f"The exchange reached its budget of {amount}."


def _least(first: _Amount | None, second: _Amount | None) -> _Amount | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
