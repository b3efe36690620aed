"""Turns of one exchange: what is asked of a model, which one takes over when it fails, and what that costs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from weft.agent.bill import Bill
from weft.agent.listener import Listener
from weft.agent.previews import Previews
from weft.agent.tracker import ExchangeTracker
from weft.core.errors import ConfigurationError, ContextOverflow, ProviderError
from weft.core.events import RetryScheduled
from weft.core.usage import Usage
from weft.providers.base import ProviderTurn
from weft.tools.shape import Shape

if TYPE_CHECKING:
    from weft.agent.engine import AgentEngine


class Turns:
    """Takes one turn after the other, each on the model that is up or on one that takes over."""

    def __init__(
        self, engine: "AgentEngine", previews: Previews, tracker: ExchangeTracker, shape: Shape | None
    ) -> None:
        self.bill = Bill(tracker, lambda: engine.session)
        self._engine = engine
        self._shape = shape
        self._listener = Listener(engine.bus.publish, previews, tracker, self.bill)
        self._compacted = False

    async def begin(self) -> None:
        """Before the first one. Raises where a budget of money could not be kept."""
        self.bill.begin()
        await self._check_price()

    async def take(self, go_on: Callable[[], None]) -> ProviderTurn:
        """The next one. `go_on` raises once the end of the exchange was asked for, or its budget is used up."""
        engine, listener = self._engine, self._listener
        listener.attempts_before, listener.before_retry = 0, go_on
        while True:
            try:
                turn = await engine.session.stream_turn(listener.hear)
            except ProviderError as error:
                if not self._fits_now(error) and not await engine.models.next(error):
                    raise
                go_on()
                engine.prepare(self._shape)
                listener.attempts_before = listener.attempt
                engine.bus.publish(RetryScheduled(listener.message, listener.attempt + 1, 0.0, error.info()))
                go_on()
                continue
            self.bill.add(turn.usage, turn.billed_usd)
            return turn

    def abandon(self) -> str:
        """Close a message that will not be finished. Gives back what the user saw of its text."""
        return self._listener.abandon()

    def _fits_now(self, error: ProviderError) -> bool:
        """The conversation was too long, and could be made shorter: once in an exchange."""
        if not isinstance(error, ContextOverflow) or self._compacted:
            return False
        self._compacted = True
        return self._engine.compact()

    async def _check_price(self) -> None:
        """A budget of money needs prices: without them it could not be kept."""
        if self._engine.budget.usd is None:
            return
        await self.bill.ready()
        if self._engine.session.cost(Usage(input=1000, output=1000)).usd is not None:
            return
        raise ConfigurationError(
            f"There is no price for {self._engine.models.name}, so a budget in dollars cannot be kept; "
            "limit tokens instead."
        )
