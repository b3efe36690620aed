"""Meters the usage of each client and enforces its limits."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from weft.agent.exchange import Exchange
from weft.core.envelope import Event
from weft.core.events import ExchangeResponse
from weft.core.turn import Usage
from weft.server.errors import ApiError, too_many
from weft.server.settings import ServerLimits

DAY = 24 * 3600.0


@dataclass(slots=True)
class _OwnerUsage:
    exchanges: set[str] = field(default_factory=set[str])
    streams: int = 0
    created: deque[float] = field(default_factory=deque[float])
    spent: deque[tuple[float, int, float | None]] = field(default_factory=deque[tuple[float, int, float | None]])
    """Time, tokens and dollars of each exchange; None for an unknown price."""


class UsageMeters:
    """Counts usage by owner. Money and tokens are those of the last day, as far as the process has run."""

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._owners: dict[str, _OwnerUsage] = {}

    def track_exchange(self, owner: str, exchange: Exchange) -> None:
        """Count an exchange until it ends."""
        usage = self._usage_of(owner)
        if exchange.id in usage.exchanges:
            return
        usage.exchanges.add(exchange.id)
        exchange.on_end(lambda: usage.exchanges.discard(exchange.id))

    def usage_reactor(self, owner: str, session: str) -> Callable[[Event], None]:
        """Return a reactor that adds the usage of a session to its owner's."""
        usage = self._usage_of(owner)

        def on_event(event: Event) -> None:
            response = event.data
            if not isinstance(response, ExchangeResponse) or event.session != session:
                return  # the usage of a delegate is part of its caller's
            tokens = (response.usage + (response.delegated or Usage())).total or 0
            usage.spent.append((self._clock(), tokens, response.cost_usd))

        return on_event

    def check_exchange(self, owner: str, count: int = 1) -> None:
        """Raise if the owner may not start `count` exchanges now."""
        usage, limits = self._usage_of(owner), self.limits
        if len(usage.exchanges) + count > limits.exchanges:
            raise too_many(
                f"{len(usage.exchanges)} exchanges run or wait, of {limits.exchanges} that may; "
                "wait until one ends, cancel one, or start fewer.",
                2,
            )
        self._forget_old(usage)
        if limits.tokens_per_day is not None and sum(spent[1] for spent in usage.spent) >= limits.tokens_per_day:
            raise _used_up(f"The {limits.tokens_per_day} tokens of the day are used up", usage, self._clock())
        if limits.usd_per_day is None:
            return
        if any(usd is None for _, _, usd in usage.spent):
            unknown = "Something was used whose price is not known, so the dollars of the day cannot be counted"
            raise _used_up(unknown, usage, self._clock())
        if sum(usd or 0.0 for _, _, usd in usage.spent) >= limits.usd_per_day:
            raise _used_up(f"The {limits.usd_per_day} dollars of the day are used up", usage, self._clock())

    def check_new_session(self, owner: str) -> None:
        usage, now = self._usage_of(owner), self._clock()
        while usage.created and usage.created[0] < now - 60:
            usage.created.popleft()
        if len(usage.created) >= self.limits.sessions_per_minute:
            wait = int(usage.created[0] + 60 - now) + 1
            raise too_many(f"{len(usage.created)} sessions were made within a minute; wait {wait} s.", wait)
        usage.created.append(now)

    def open_stream(self, owner: str) -> Callable[[], None]:
        """Count a stream. Returns a function that ends it."""
        usage = self._usage_of(owner)
        if usage.streams >= self.limits.streams:
            raise too_many(f"{usage.streams} streams are open already; close one.", 5)
        usage.streams += 1
        ended = False

        def end() -> None:
            nonlocal ended
            if not ended:
                ended = True
                usage.streams -= 1

        return end

    def _usage_of(self, owner: str) -> _OwnerUsage:
        return self._owners.setdefault(owner, _OwnerUsage())

    def _forget_old(self, usage: _OwnerUsage) -> None:
        since = self._clock() - DAY
        while usage.spent and usage.spent[0][0] < since:
            usage.spent.popleft()


def _used_up(what: str, usage: _OwnerUsage, now: float) -> ApiError:
    wait = max(1, int(usage.spent[0][0] + DAY - now))
    return ApiError("budget", f"{what}; ask again later, or raise the limit.", headers={"Retry-After": str(wait)})


class RateLimiter:
    """Allows a number of messages per second, after an initial burst of the same number."""

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
