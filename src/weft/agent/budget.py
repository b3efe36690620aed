"""How much an exchange may take."""

import msgspec

from weft.agent.tracker import ExchangeTracker
from weft.core.errors import ConfigurationError


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

    def reached(self, tracker: ExchangeTracker) -> str | None:
        """The limit that stands in the way of spending more."""
        if self.tokens is not None and tracker.tokens >= self.tokens:
            return "tokens"
        if self.usd is not None and (tracker.cost is None or tracker.cost >= self.usd):
            return "usd"
        return None

    def explain(self, limit: str) -> str:
        value = getattr(self, limit)
        shown = (
            f"${value:g}"
            if limit == "usd"
            else f"{value:,} {limit}"
            if isinstance(value, int)
            else f"{value:g} {limit}"
        )
        return f"The exchange reached its budget of {shown}."
