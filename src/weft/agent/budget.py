"""How much an exchange may take."""

from typing import TypeVar

import msgspec

from weft.agent.tracker import ExchangeTracker
from weft.core.errors import ConfigurationError

_Amount = TypeVar("_Amount", int, float)


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What one exchange may take. Reaching a limit ends it with status `limit`; all that was done is kept."""

    turns: int = 20
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigurationError(f"A budget of {value} {name} lets nothing happen; give more than 0.")

    def within(self, left: "Budget") -> "Budget":
        """As it is for work on behalf of an exchange that has so much left."""
        return msgspec.structs.replace(self, tokens=_least(self.tokens, left.tokens), usd=_least(self.usd, left.usd))

    def left(self, tracker: ExchangeTracker) -> "Budget":
        """What an exchange may still take: a little at least, so that whoever is given it finds out by itself."""
        tokens = None if self.tokens is None else max(self.tokens - tracker.tokens, 1)
        usd = None if self.usd is None else max(self.usd - (tracker.cost or 0.0), 1e-9)
        return msgspec.structs.replace(self, tokens=tokens, usd=usd)

    def reached(self, tracker: ExchangeTracker) -> str | None:
        """The limit that stands in the way of spending more."""
        if self.tokens is not None and tracker.tokens >= self.tokens:
            return "tokens"
        if self.usd is not None and (tracker.cost is None or tracker.cost >= self.usd):
            return "usd"
        return None

    def explain(self, limit: str, tracker: ExchangeTracker) -> str:
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
