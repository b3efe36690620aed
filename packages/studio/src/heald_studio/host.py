"""The interface between the studio and the program that runs it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from heald.agent.interface import ExchangeInterface
from heald.core.messages import Message
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions


class SessionHost(Protocol):
    """Opens the sessions of variants, with the tools `studio_tools(studio.context_of(info))` and the strategy
    `PageText`."""

    @property
    def sessions(self) -> Sessions: ...

    def use(self, info: SessionInfo) -> AbstractAsyncContextManager[Session]:
        """Open a session, or share the open one."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session, open or not."""

    def check(self, owner: str, count: int) -> None:
        """Raise an error if the owner may not start so many exchanges now."""

    def admit(self, info: SessionInfo, session: Session) -> AbstractAsyncContextManager[None]:
        """Raise an error if the owner may start no exchange now, on any node; else count what starts in the block."""
        ...

    def begin(self, owner: str, exchange: ExchangeInterface) -> None:
        """Count an exchange for its owner."""

    async def pass_on(self, info: SessionInfo, message: Message, request: str) -> bool:
        """Store a request of a variant for another process, if it is not to be started here."""
        ...

    def models(self) -> Sequence[str]:
        """Return the models of requests that name none, in order of preference."""
        ...
