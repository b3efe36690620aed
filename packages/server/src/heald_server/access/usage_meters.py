"""Meters the usage of each owner and enforces its limits."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from time import monotonic

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.core.ids import new_id
from heald.core.turn import Usage
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore, Spending
from heald.sessions.store_errors import StoreError
from heald_server.access.users import Users
from heald_server.http.errors import ApiError, too_many
from heald_server.server_limits import ServerLimits

DAY = 24 * 3600.0
_REFRESH_SECONDS = 1.0
_RETRY_DELAYS = (0.5, 1.0, 2.0, 5.0, 15.0)
"""Seconds until usage that could not be stored is stored again."""
_CLOSE_SECONDS = 10.0

_log = logging.getLogger("heald_server.access.limits")


@dataclass(slots=True)
class _OwnerUsage:
    exchanges: set[str] = field(default_factory=set[str])
    streams: int = 0
    created: deque[float] = field(default_factory=deque[float])
    spent: deque[tuple[float, int, float | None]] = field(default_factory=deque[tuple[float, int, float | None]])
    """Time, tokens and dollars of each exchange; None for an unknown price."""
    stored: Spending = field(default_factory=Spending)
    """The spending of all nodes, as it was read last."""
    running: int = 0
    """Sessions of all nodes with an open exchange, as they were counted last."""
    read_at: float = float("-inf")


class UsageMeters:
    """Counts usage by owner. Money and tokens are those of the last day: of this process, and of all nodes on its
    store, whose figures may be a second old."""

    def __init__(
        self,
        limits: ServerLimits,
        clock: Callable[[], float] = monotonic,
        *,
        store: SharedStore | None = None,
        users: Users | None = None,
    ) -> None:
        self.limits = limits
        self._users = users or Users()
        self._clock = clock
        self._owners: dict[str, _OwnerUsage] = {}
        self._store = store
        self._writing: set[asyncio.Task[None]] = set()

    def limits_of(self, owner: str) -> ServerLimits:
        """Return the limits of an owner: its own, and those of the server where it has none."""
        user = self._users.users.get(owner)
        if user is None:
            return self.limits
        user_limits = {
            "exchanges": user.max_exchanges,
            "tokens_per_day": user.max_tokens_per_day,
            "usd_per_day": user.max_usd_per_day,
        }
        changes = {name: limit for name, limit in user_limits.items() if limit is not None}
        return msgspec.structs.replace(self.limits, **changes)

    async def refresh(self, owner: str) -> None:
        """Read what all nodes use for an owner, before `check_exchange`."""
        usage, limits = self._usage_of(owner), self.limits_of(owner)
        is_old = self._clock() - usage.read_at > _REFRESH_SECONDS
        if self._store is None or not (is_old or usage.running >= limits.exchanges):
            return
        usage.running = await self._store.count_running(owner)
        if limits.tokens_per_day is not None or limits.usd_per_day is not None:
            usage.stored = await self._store.read_spending(owner, seconds=DAY)
        usage.read_at = self._clock()

    async def admit(self, info: SessionInfo) -> None:
        """Raise if the owner of a session may start no exchange in it, by the figures of all nodes at this moment. The
        session counts as working from now on. The caller holds it, and stores its work next."""
        usage, limits = self._usage_of(info.owner), self.limits_of(info.owner)
        if self._store is None:
            return
        if limits.tokens_per_day is not None or limits.usd_per_day is not None:
            usage.stored = await self._store.read_spending(info.owner, seconds=DAY)
            self._check_spending(usage, limits)
        running = await self._store.admit_work(info.id, info.owner, limit=limits.exchanges)
        if running >= limits.exchanges:
            usage.running, usage.read_at = running, self._clock()
            raise _too_many_exchanges(running, limits)

    def check_here(self, owner: str) -> None:
        """Raise if the owner may start no further exchange, by those that run in this process."""
        running, limits = len(self._usage_of(owner).exchanges), self.limits_of(owner)
        if running >= limits.exchanges:
            raise _too_many_exchanges(running, limits)

    async def close(self) -> None:
        """Wait until the usage so far is stored, but not long for a store that does not answer."""
        if not self._writing:
            return
        _, unstored = await asyncio.wait(self._writing, timeout=_CLOSE_SECONDS)
        for task in unstored:
            task.cancel()
        if unstored:
            await asyncio.wait(unstored)
            _log.error("the usage of %d exchanges is not stored: the store does not answer", len(unstored))

    def track_exchange(self, owner: str, exchange: ExchangeInterface) -> None:
        """Count an exchange until it ends."""
        usage = self._usage_of(owner)
        if exchange.id in usage.exchanges:
            return
        usage.exchanges.add(exchange.id)
        exchange.on_end(lambda: usage.exchanges.discard(exchange.id))

    def count_request(self, owner: str) -> Callable[[], None]:
        """Count a request that is passed on to a provider like an exchange. Returns a function that ends it."""
        usage, name = self._usage_of(owner), new_id("req")
        usage.exchanges.add(name)
        return lambda: usage.exchanges.discard(name)

    def usage_reactor(self, owner: str, session: str) -> Callable[[Event], None]:
        """Return a reactor that adds the usage of a session to its owner's."""

        def on_event(event: Event) -> None:
            response = event.data
            if not isinstance(response, ExchangeResponse) or event.session != session:
                return  # the usage of a delegate is part of its caller's
            tokens = (response.usage + (response.delegated or Usage())).total or 0
            self.record_usage(owner, tokens, response.cost_usd)

        return on_event

    def record_usage(self, owner: str, tokens: int, usd: float | None) -> None:
        """Add tokens and dollars to an owner's; None for an unknown price."""
        self._usage_of(owner).spent.append((self._clock(), tokens, usd))
        if self._store is not None:
            payment = new_id("pay")  # storing it again does not count it again
            record = partial(self._store.record_spending, owner, tokens=tokens, usd=usd, payment=payment)
            task = asyncio.create_task(_store_usage(record))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    def check_exchange(self, owner: str, count: int = 1) -> None:
        """Raise if the owner may not start `count` exchanges now."""
        usage, limits = self._usage_of(owner), self.limits_of(owner)
        running = max(len(usage.exchanges), usage.running)
        if running + count > limits.exchanges:
            raise _too_many_exchanges(running, limits)
        self._check_spending(usage, limits)

    def _check_spending(self, usage: _OwnerUsage, limits: ServerLimits) -> None:
        self._forget_old(usage)
        if limits.tokens_per_day is not None:
            tokens = max(sum(spent[1] for spent in usage.spent), usage.stored.tokens)
            if tokens >= limits.tokens_per_day:
                raise _used_up(f"The {limits.tokens_per_day} tokens of the day are used up", usage, self._clock())
        if limits.usd_per_day is None:
            return
        if usage.stored.unpriced or any(usd is None for _, _, usd in usage.spent):
            unknown = "Something was used whose price is not known, so the dollars of the day cannot be counted"
            raise _used_up(unknown, usage, self._clock())
        if max(sum(usd or 0.0 for _, _, usd in usage.spent), usage.stored.usd) >= limits.usd_per_day:
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


def _too_many_exchanges(running: int, limits: ServerLimits) -> ApiError:
    return too_many(
        f"{running} exchanges run or wait, of {limits.exchanges} that may; "
        "wait until one ends, stop one, or start fewer.",
        2,
    )


async def _store_usage(record: Callable[[], Awaitable[None]]) -> None:
    """Store the usage of an exchange, as soon as the store can."""
    for delay in chain(_RETRY_DELAYS, repeat(_RETRY_DELAYS[-1])):
        try:
            await record()
            return
        except StoreError as error:
            _log.warning("the usage of an exchange is stored later: %s", error)
        except Exception:
            _log.exception("The usage of an exchange is not stored.")
            return
        await asyncio.sleep(delay)


def _used_up(what: str, usage: _OwnerUsage, now: float) -> ApiError:
    age = max(now - usage.spent[0][0] if usage.spent else 0.0, usage.stored.age)
    wait = max(1, int(DAY - age))
    return ApiError("budget", f"{what}; ask again later, or raise the limit.", headers={"Retry-After": str(wait)})
