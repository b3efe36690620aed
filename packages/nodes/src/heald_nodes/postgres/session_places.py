"""Which of several databases has a session.

A session stays in the database that it was created in. A new one goes to the database that its id ranks first; whoever
looks for one asks that database first, then the others, and remembers the answer. So a database that is added later
takes its share of the new sessions, and no session moves.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256

from heald_nodes.postgres.driver_errors import StoreUnreachable
from heald_nodes.postgres.store import PostgresStore

LOOKUP_SECONDS = 3.0
"""How long one database is asked for a session."""
_MOST_REMEMBERED = 100_000


class SessionPlaces:
    """The places of sessions: the numbers of their databases."""

    def __init__(self, stores: Sequence[PostgresStore]) -> None:
        self._stores = stores
        self.answering = set(range(len(stores)))
        """The databases that answered the last heartbeat. The others are not asked."""
        self._places: dict[str, int] = {}
        self._held: dict[str, int] = {}  # those of sessions that are open here, which are not forgotten

    def rank(self, session: str) -> list[int]:
        """Return all databases in the order of a session: rendezvous hashing, so that a further database changes the
        first one for its own share of the sessions only."""
        return sorted(range(len(self._stores)), key=lambda place: _weight(place, session), reverse=True)

    def recall(self, session: str) -> int | None:
        """Return the place of a session if it is known here."""
        return self._held.get(session, self._places.get(session))

    def remember(self, session: str, place: int) -> None:
        self._places.pop(session, None)
        self._places[session] = place
        if len(self._places) > _MOST_REMEMBERED:
            del self._places[next(iter(self._places))]

    def hold(self, session: str, place: int) -> None:
        """Remember a place until it is released."""
        self._held[session] = place

    def release(self, session: str) -> None:
        if (place := self._held.pop(session, None)) is not None:
            self.remember(session, place)

    def forget(self, session: str) -> None:
        """The session was deleted."""
        self._places.pop(session, None)
        self._held.pop(session, None)

    async def find(self, session: str) -> int:
        """Return the place of a session. That of a session which does not exist is the one that it would get. Raises
        StoreUnreachable if it may be in a database that does not answer."""
        place, away = await self.look_up(session)
        if place is None and away is not None:
            raise away
        return self.rank(session)[0] if place is None else place

    async def look_up(self, session: str) -> tuple[int | None, StoreUnreachable | None]:
        """Return the place of a session, or None if no database that answers has it; and the error of one that does
        not answer."""
        place = self.recall(session)
        if place is not None:
            return place, None
        away: StoreUnreachable | None = None
        first, *others = self.rank(session)
        for places in ([first], others):
            answers = await asyncio.gather(*(self._ask(place, session) for place in places))
            for place, answer in zip(places, answers, strict=True):
                if answer is True:
                    self.remember(session, place)
                    return place, None
                if isinstance(answer, StoreUnreachable):
                    away = answer
        return None, away

    async def _ask(self, place: int, session: str) -> bool | StoreUnreachable:
        store = self._stores[place]
        try:
            if place in self.answering:
                async with asyncio.timeout(LOOKUP_SECONDS):
                    return await store.has_session(session)
        except TimeoutError:
            pass
        except StoreUnreachable as error:
            return error
        return StoreUnreachable(f"The database at {store.name} does not answer; check that it runs.")


def _weight(place: int, session: str) -> bytes:
    return sha256(f"{place}/{session}".encode(errors="replace")).digest()
