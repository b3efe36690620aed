"""Resource locks, granted in call order, and one timer for all time limits of a runtime."""

import asyncio
import weakref
from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import Any, TypeVar

from heald.tools.definitions import Access


class Ticket:
    """A place in the lock queue. Await `granted`, then call `release`."""

    __slots__ = ("_locks", "_waiter", "access")

    def __init__(self, locks: "Locks", access: Sequence[Access]) -> None:
        self._locks = locks
        self.access = access
        self._waiter: asyncio.Future[None] | None = None

    async def granted(self) -> None:
        """Wait until no earlier ticket conflicts with this one."""
        while self._locks.is_blocked(self):
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def release(self) -> None:
        self._locks.remove(self)

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def held(self) -> list[str]:
        """The resources that are locked exclusively."""
        return [access.resource for access in self.access if access.changes]


class Locks:
    """The lock queue of one workspace."""

    def __init__(self) -> None:
        self._tickets: dict[Ticket, None] = {}

    def ticket(self, access: Sequence[Access]) -> Ticket:
        ticket = Ticket(self, access)
        if access:
            self._tickets[ticket] = None
        return ticket

    def is_blocked(self, ticket: Ticket) -> bool:
        for earlier in self._tickets:
            if earlier is ticket:
                return False
            if _conflict(earlier.access, ticket.access):
                return True
        return False

    def remove(self, ticket: Ticket) -> None:
        if self._tickets.pop(ticket, ticket) is None:
            for other in self._tickets:
                other.wake()


def _conflict(a: Sequence[Access], b: Sequence[Access]) -> bool:
    return any((x.changes or y.changes) and _overlap(x.resource, y.resource) for x in a for y in b)


def _overlap(a: str, b: str) -> bool:
    """Return whether the resources are equal or one contains the other."""
    return a == b or _holds(a, b) or _holds(b, a)


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(outer if outer.endswith((":", "/")) else outer + "/")


Who = TypeVar("Who", bound=Hashable)


class DeadlineTimer:
    """Calls a callback with each key that is not cancelled before its deadline. Uses one timer handle."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0  # when the timer is due
        self._due: dict[Any, tuple[float, Callable[[Any], None]]] = {}

    def start(self, who: Who, seconds: float, ring: Callable[[Who], None]) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._timer = loop, None
        due = monotonic() + seconds
        self._due[who] = (due, ring)
        if self._timer is None or due < self._next:
            self._set(due)

    def cancel(self, who: Hashable) -> None:
        self._due.pop(who, None)

    def _set(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        assert self._loop is not None
        self._next = due
        seconds = max(due - monotonic(), 0.0)
        self._timer = self._loop.call_later(seconds, _check, weakref.ref(self))  # the handle must not keep it alive

    def check(self) -> None:
        assert self._loop is not None
        self._timer = None
        now = monotonic()
        late = [(who, ring) for who, (due, ring) in self._due.items() if due <= now]
        for who, ring in late:
            self._due.pop(who, None)
            ring(who)
        if self._due:
            self._set(min(due for due, _ in self._due.values()))


def _check(reference: Callable[[], DeadlineTimer | None]) -> None:
    if (timer := reference()) is not None:
        timer.check()
