"""What some work has cost: tokens and dollars, in one line."""

from collections.abc import Sequence
from typing import Self

import msgspec

from heald.commands.amounts import format_usd
from heald.core.turn import Usage


class WorkCost(msgspec.Struct, frozen=True):
    """The tokens and the cost of some work."""

    name: str
    """What was done, as in `3 exchanges with m`."""
    usage: Usage
    usd: float | None
    """None if a price is not known."""
    known_usd: float
    """The part of the cost that is known."""

    @classmethod
    def total(cls, name: str, parts: Sequence[tuple[Usage, float | None]]) -> Self:
        """Add up parts."""
        usage = Usage()
        for part, _ in parts:
            usage += part
        known_usd = sum(usd or 0.0 for _, usd in parts)
        return cls(name, usage, None if any(usd is None for _, usd in parts) else known_usd, known_usd)

    def describe(self) -> str:
        tokens = f"{self.usage.total_input or 0:,} tokens in, {self.usage.total_output or 0:,} out"
        if self.usd is not None:
            return f"{self.name}: {tokens}, {format_usd(self.usd)}"
        money = f"at least {format_usd(self.known_usd)}" if self.known_usd else "cost unknown"
        return f"{self.name}: {tokens}, {money}"
