"""The limits of one exchange."""

from typing import TypeVar

import msgspec

from heald.core.arguments import CheckedFields, check_fields
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject

DEFAULT_TURNS = 20
"""The turns of each agent whose budget does not limit them."""

_Amount = TypeVar("_Amount", int, float)


class Budget(msgspec.Struct, frozen=True, kw_only=True, metaclass=CheckedFields):
    """The limits of one exchange and of all agents that work for it. Reaching one ends it with status `limit`; finished
    work is kept."""

    turns: int | msgspec.UnsetType = msgspec.UNSET
    """Answers of models, those of sub-agents included. If it is not set, each agent has 20 of its own."""
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    message_tokens: int | None = 256_000
    """Estimated tokens of one answer, more than any model writes. A server that never ends is cut there."""

    def __post_init__(self) -> None:
        check_fields(self)
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value is not msgspec.UNSET and value <= 0:
                raise ConfigurationError(f"The budget of {name} is {value}; it must be greater than 0.")

    @property
    def max_turns(self) -> int:
        """The turns of an agent."""
        return DEFAULT_TURNS if self.turns is msgspec.UNSET else self.turns

    def within(self, other: "Budget") -> "Budget":
        """Restrict this budget to the limits of another one."""
        turns = other.turns if self.turns is msgspec.UNSET else self.turns
        if turns is not msgspec.UNSET and other.turns is not msgspec.UNSET:
            turns = min(turns, other.turns)
        return Budget(
            turns=turns,
            tokens=_least(self.tokens, other.tokens),
            usd=_least(self.usd, other.usd),
            seconds=_least(self.seconds, other.seconds),
            message_tokens=_least(self.message_tokens, other.message_tokens),
        )

    def as_json(self) -> JsonObject:
        """Return the limits that are set, as the log holds them."""
        limits: JsonObject = msgspec.to_builtins(self)
        return {name: limit for name, limit in limits.items() if limit is not None}

    def describe(self, limit: str) -> str:
        """Describe one limit: its amount and unit."""
        value = self.max_turns if limit == "turns" else getattr(self, limit)
        if limit == "usd":
            return f"${value:g}"
        return f"{value:,} {limit}" if isinstance(value, int) else f"{value:g} {limit}"


def _least(first: _Amount | None, second: _Amount | None) -> _Amount | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
