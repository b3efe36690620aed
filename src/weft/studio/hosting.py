"""Where the studio's sessions live: with whoever runs it, who knows how to open them and how much is too much."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from weft.agent.exchange import Exchange
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo


class Host(Protocol):
    """Opens sessions for the studio. The studio's tools are made for each session: see `Studio.assignment_of`."""

    @property
    def sessions(self) -> Sessions: ...

    def use(self, info: SessionInfo) -> AbstractAsyncContextManager[Session]:
        """The session, open for as long as this lasts."""
        ...

    async def delete(self, session: str) -> None:
        """Throw a session away, whether it is open or not."""
        ...

    def check(self, owner: str, wanted: int) -> None:
        """Raises if the owner may not start so many exchanges now."""
        ...

    def begin(self, owner: str, exchange: Exchange) -> None:
        """Count an exchange."""
        ...

    def models(self) -> Sequence[str]:
        """Models that variants may use where the person names none, the best mix first; empty if there are none."""
        ...
