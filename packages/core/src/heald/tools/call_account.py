"""The account of an exchange, as the calls of tools see it."""

from typing import Protocol


class CallAccount(Protocol):
    """Counts what calls spend while they run."""

    def spend(self, call: str, usd: float | None) -> None:
        """Count the dollars that a running call has used so far; None if an amount is unknown."""
        ...
