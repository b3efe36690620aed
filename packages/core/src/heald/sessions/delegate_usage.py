"""What agents have used for an exchange that a process left open, read from their logs.

The log of a session does not hold it: an exchange counts its sub-agents while it runs. The logs of the sub-agents are
closed by now, as `close_delegates` leaves them.
"""

from collections.abc import Collection
from dataclasses import dataclass

from heald.agent.tracker import ExchangeTracker
from heald.core.events import ExchangeResponse, MessageDelta, ToolCompleted, ToolFailed
from heald.core.turn import Usage
from heald.sessions.store import Store, iterate_events


@dataclass(slots=True)
class _DelegateUsage:
    """The usage of one sub-agent and of those that worked for it."""

    usage: Usage
    turns: int
    usd: float | None
    """None if a price is not known."""

    def spend(self, usd: float | None) -> None:
        self.usd = None if usd is None or self.usd is None else self.usd + usd


async def add_delegate_usage(store: Store, session: str, calls: Collection[str], tracker: ExchangeTracker) -> None:
    """Add what the sub-agents of these calls have used to the tracker of the open exchange."""
    for delegate in await store.delegates(session):
        if delegate.cause in calls:
            used = await _read_usage(store, delegate.id)
            tracker.add_delegated(used.usage, used.turns)
            tracker.spend(used.usd)


async def _read_usage(store: Store, session: str) -> _DelegateUsage:
    """Add up the log of a sub-agent and the logs of those that worked for it.

    An answer that was not finished counts with the tokens that are known of it, and without a price.
    """
    total = _DelegateUsage(Usage(), 0, 0.0)
    billed: float | None = None
    async for event in iterate_events(store, session):
        match event.data:
            case MessageDelta(usage=usage, cost_usd=usd):
                total.spend(0.0 if usage == Usage() else usd)
            case ToolCompleted(cost_usd=usd) | ToolFailed(cost_usd=usd):
                total.spend(usd)
            case ExchangeResponse(usage=usage, turns=turns, cost_usd=billed):
                total.usage, total.turns = total.usage + usage, total.turns + turns
            case _:
                pass
    for delegate in await store.delegates(session):
        used = await _read_usage(store, delegate.id)
        total.usage, total.turns = total.usage + used.usage, total.turns + used.turns
        total.spend(used.usd)
    if billed is not None:
        total.usd = billed
    return total
