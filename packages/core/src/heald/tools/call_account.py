"""The account of an exchange, as the calls of tools see it."""

from typing import Protocol

from heald.core.errors import HealdError


class CallAccount(Protocol):
    """Counts what calls spend while they run."""

    def spend(self, call: str, usd: float | None) -> None:
        """Count the dollars that a running call has used so far; None if an amount is unknown."""
        ...

    def reached(self, *, turns: bool = True) -> HealdError | None:
        """Return the limit that is used up, if there is one. Without `turns`, those may be used up."""
        ...
