"""Adds up the costs of an exchange."""

import asyncio
from typing import TYPE_CHECKING

from heald.agent.tracker import ExchangeTracker
from heald.core.turn import Usage
from heald.providers.base import ProviderSession

if TYPE_CHECKING:
    from heald.agent.conversation import Conversation


class CostMeter:
    """Adds up costs. Usage from before the price list is loaded is priced afterwards."""

    def __init__(self, tracker: ExchangeTracker, conversation: "Conversation") -> None:
        self._tracker = tracker
        self._conversation = conversation
        self._unpriced: list[tuple[ProviderSession, Usage]] = []
        self._loading: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is something to wait for or to price."""
        return self._loading is not None or bool(self._unpriced)

    def start_loading(self) -> None:
        session = self._conversation.session
        if not session.prices_ready:
            self._loading = asyncio.get_running_loop().create_task(session.load_prices())

    async def finish(self, patience: float | None = None) -> None:
        """Wait for the price list and price the open usage. Without the list, the cost is unknown."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=patience)
        for session, usage in self._unpriced:
            self._tracker.spend(session.cost(usage).usd if session.prices_ready else None)
        self._unpriced = []

    def price(self, usage: Usage) -> float | None:
        """Return the price of usage of the current session, if it is known by now."""
        session = self._conversation.session
        return session.cost(usage).usd if session.prices_ready else None

    def add(self, usage: Usage, billed: float | None = None, *, session: ProviderSession | None = None) -> None:
        """Add usage, of the current session if none is given. An amount that the provider billed takes precedence over
        the price list."""
        session = session or self._conversation.session
        if billed is not None:
            self._tracker.spend(billed)
        elif session.prices_ready:
            self._tracker.spend(session.cost(usage).usd)
        else:
            self._unpriced.append((session, usage))
