"""What an exchange costs, without letting the price list hold anything up: it is read beside the first turn."""

import asyncio
from collections.abc import Callable

from weft.agent.tracker import ExchangeTracker
from weft.core.usage import Usage
from weft.providers.base import ProviderSession


class Bill:
    """Prices usage as it comes; what comes before the list is there is priced when it is."""

    def __init__(self, tracker: ExchangeTracker, session: Callable[[], ProviderSession]) -> None:
        self._tracker = tracker
        self._session = session
        self._open: list[tuple[ProviderSession, Usage]] = []
        self._loading: asyncio.Task[None] | None = None

    def begin(self) -> None:
        session = self._session()
        if not session.prices_ready:
            self._loading = asyncio.get_running_loop().create_task(session.load_prices())

    async def ready(self, patience: float | None = None) -> None:
        """Wait for the list, and price what is still open. Without it, the price is not known."""
        if self._loading is not None:
            await asyncio.wait([self._loading], timeout=patience)
        for session, usage in self._open:
            self._tracker.spend(session.cost(usage).usd if session.prices_ready else None)
        self._open = []

    def add(self, usage: Usage, billed: float | None = None) -> None:
        """Something was used. What the provider itself billed counts more than any list."""
        session = self._session()
        if billed is not None:
            self._tracker.spend(billed)
        elif session.prices_ready:
            self._tracker.spend(session.cost(usage).usd)
        else:
            self._open.append((session, usage))
