"""Who may touch what, in the order of asking.

A ticket holds its place from the moment it is taken and is granted as a whole, once nobody before it needs the same
thing in a way that matters. So calls that share a file run in call order, all others side by side, and none deadlock.
"""

import asyncio
from collections.abc import Sequence

from weft.tools.tool import Access


class Ticket:
    """A place in the queue. Await `granted`, give it back with `release`."""

    __slots__ = ("_locks", "_waiter", "access")

    def __init__(self, locks: "Locks", access: Sequence[Access]) -> None:
        self._locks = locks
        self.access = access
        self._waiter: asyncio.Future[None] | None = None

    async def granted(self) -> None:
        """Wait until nobody before this one is in the way."""
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
        """The resources that nobody else may touch meanwhile."""
        return [access.resource for access in self.access if access.changes]


class Locks:
    """The queue of one workspace."""

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
    """The same, or one is a folder around the other."""
    return a == b or _holds(a, b) or _holds(b, a)


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(outer if outer.endswith((":", "/")) else outer + "/")
