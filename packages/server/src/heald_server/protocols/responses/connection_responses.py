"""The responses of one connection that are not stored, so that the client can continue them as long as it is open."""

from contextlib import suppress

from heald.sessions.store_errors import NoSuchSession
from heald_server.context import ServerContext
from heald_server.protocols.responses.log import StoredResponse


class ConnectionResponses:
    """Responses in sessions in memory. The sessions that were used last are held, up to a number."""

    def __init__(self, memory: ServerContext, most: int) -> None:
        self._memory = memory
        self._most = most
        self._sessions: dict[str, set[str]] = {}  # the ids of responses by session, the one used last at the end

    def has_response(self, name: str) -> bool:
        return any(name in responses for responses in self._sessions.values())

    async def add(self, response: StoredResponse) -> None:
        session = response.info.id
        self._sessions[session] = self._sessions.pop(session, set()) | {response.id}
        while len(self._sessions) > self._most:
            await self._delete(next(iter(self._sessions)))

    async def evict(self, name: str) -> None:
        """Delete the session of a response."""
        for session, responses in list(self._sessions.items()):
            if name in responses:
                await self._delete(session)

    async def close(self) -> None:
        for session in list(self._sessions):
            await self._delete(session)

    async def _delete(self, session: str) -> None:
        self._sessions.pop(session, None)
        await self._memory.open_sessions.close_session(session)  # cancels what waits for the client
        with suppress(NoSuchSession):
            await self._memory.sessions.store.delete(session)
