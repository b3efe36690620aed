"""What each client has taken, and when it is enough."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from weft.agent.exchange import Exchange
from weft.core.envelope import Event
from weft.core.events import ExchangeResponse
from weft.core.usage import Usage
from weft.server.refusal import Refusal, too_many
from weft.server.settings import Limits

DAY = 24 * 3600.0


@dataclass(slots=True)
class _Taken:
    exchanges: set[str] = field(default_factory=set[str])
    streams: int = 0
    created: deque[float] = field(default_factory=deque[float])
    spent: deque[tuple[float, int, float | None]] = field(default_factory=deque[tuple[float, int, float | None]])
    """When, how many tokens, how many dollars; None where nobody knows."""


class Meters:
    """Counts by owner. Money and tokens are those of the last day, for as long as the server runs."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._owners: dict[str, _Taken] = {}

    def begin(self, owner: str, exchange: Exchange) -> None:
        """Count an exchange until it is over, and what it took."""
        taken = self._of(owner)
        if exchange.id in taken.exchanges:
            return
        taken.exchanges.add(exchange.id)
        exchange.on_end(lambda: taken.exchanges.discard(exchange.id))

    def watch(self, owner: str, session: str) -> Callable[[Event], None]:
        """A reactor for the events of one of the owner's sessions."""
        taken = self._of(owner)

        def hear(event: Event) -> None:
            response = event.data
            if not isinstance(response, ExchangeResponse) or event.session != session:
                return  # what an agent took that works for another one is in the other's bill
            tokens = (response.usage + (response.delegated or Usage())).total or 0
            taken.spent.append((self._clock(), tokens, response.cost_usd))

        return hear

    def check_exchange(self, owner: str, wanted: int = 1) -> None:
        """Raises if the owner may start no exchange now, or not so many."""
        taken, limits = self._of(owner), self.limits
        if len(taken.exchanges) + wanted > limits.exchanges:
            raise too_many(
                f"{len(taken.exchanges)} exchanges run or wait, of {limits.exchanges} that may; "
                "wait until one ends, cancel one, or ask for fewer.",
                2,
            )
        self._forget_old(taken)
        if limits.tokens_per_day is not None and sum(spent[1] for spent in taken.spent) >= limits.tokens_per_day:
            raise _used_up(f"The {limits.tokens_per_day} tokens of the day are used up", taken, self._clock())
        if limits.usd_per_day is None:
            return
        if any(usd is None for _, _, usd in taken.spent):
            unknown = "Something was used whose price is not known, so the dollars of the day cannot be counted"
            raise _used_up(unknown, taken, self._clock())
        if sum(usd or 0.0 for _, _, usd in taken.spent) >= limits.usd_per_day:
            raise _used_up(f"The {limits.usd_per_day} dollars of the day are used up", taken, self._clock())

    def check_new_session(self, owner: str) -> None:
        taken, now = self._of(owner), self._clock()
        while taken.created and taken.created[0] < now - 60:
            taken.created.popleft()
        if len(taken.created) >= self.limits.sessions_per_minute:
            wait = int(taken.created[0] + 60 - now) + 1
            raise too_many(f"{len(taken.created)} sessions were made within a minute; wait {wait} s.", wait)
        taken.created.append(now)

    def open_stream(self, owner: str) -> Callable[[], None]:
        """Count a stream. Gives the way to end it."""
        taken = self._of(owner)
        if taken.streams >= self.limits.streams:
            raise too_many(f"{taken.streams} streams are open already; close one.", 5)
        taken.streams += 1
        ended = False

        def end() -> None:
            nonlocal ended
            if not ended:
                ended = True
                taken.streams -= 1

        return end

    def _of(self, owner: str) -> _Taken:
        return self._owners.setdefault(owner, _Taken())

    def _forget_old(self, taken: _Taken) -> None:
        since = self._clock() - DAY
        while taken.spent and taken.spent[0][0] < since:
            taken.spent.popleft()


def _used_up(what: str, taken: _Taken, now: float) -> Refusal:
    wait = max(1, int(taken.spent[0][0] + DAY - now))
    return Refusal("budget", f"{what}; ask again later, or raise the limit.", headers={"Retry-After": str(wait)})


class Pace:
    """How many messages a second, after a first burst of as many."""

    def __init__(self, per_second: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._left = float(per_second)
        self._last = clock()

    def allows(self) -> bool:
        now = self._clock()
        self._left = min(float(self._rate), self._left + (now - self._last) * self._rate)
        self._last = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
