"""What requests of /v1 share: sessions that are not kept, and parameters for one request."""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.agent.model_chain import ModelLike
from heald.core.errors import HealdError
from heald.core.events import FileChanged
from heald.core.json import JsonObject
from heald.sessions.request_settings import apply_request_settings
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald.sessions.store_copy import copy_session
from heald.sessions.store_errors import NoSuchSession
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError

CLIENT_DISCONNECTED = "The client closed the connection."
_READ_SECONDS = 60.0
"""Time in which a client reads an answer that is not kept."""


class V1Sessions:
    """Sessions that are not kept, and the models of requests."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._ended: deque[tuple[float, str]] = deque()  # sessions in memory, with the time of their end

    def delete_later(self, exchange: ExchangeInterface, info: SessionInfo) -> None:
        """Delete a session in memory some time after the end of its exchange."""
        exchange.on_end(lambda: self._ended.append((monotonic(), info.id)))

    async def keep_files(self, exchange: ExchangeInterface, info: SessionInfo) -> bool:
        """Store a session in memory after all if files were written in it. Returns whether it is stored."""
        memory = self._context.in_memory()
        if SessionSettings.of(info.settings).workspace is not None:
            return False  # they are in the folder
        await exchange.result()
        with suppress(ApiError):  # a server that stops opens no session any more, and has flushed this one
            async with memory.open_sessions.use(info) as session:
                await session.flush()
        events = iterate_events(memory.sessions.store, info.id)
        if not any([isinstance(event.data, FileChanged) async for event in events]):
            return False
        await copy_session(memory.sessions.store, self._context.sessions.store, info.id)
        return True

    async def delete_ended(self) -> None:
        """Delete the sessions of requests that were answered without keeping one."""
        memory = self._context.in_memory()
        while self._ended and self._ended[0][0] < monotonic() - _READ_SECONDS:
            _, session = self._ended.popleft()
            await memory.open_sessions.close_session(session)
            with suppress(NoSuchSession):
                await memory.sessions.store.delete(session)

    def open_model(self, name: str) -> ModelLike | None:
        """Open the model that answers, as far as it is known."""
        with suppress(HealdError):
            return self._context.models.open(name or self._context.models.default)
        return None


def cancel_unwatched(context: ServerContext, info: SessionInfo, exchange: ExchangeInterface) -> None:
    """Cancel what a client that has gone asked for, unless another client watches it."""
    if not context.open_sessions.is_watched(info.id):
        exchange.cancel(CLIENT_DISCONNECTED)


async def configure_session(session: Session, settings: Mapping[str, object]) -> None:
    """Apply the parameters of a request from the next turn on, also in a process that continues it after a crash."""
    request: JsonObject = msgspec.to_builtins(dict(settings))
    if request != session.stored_settings.request:
        await session.configure(request=request)
    apply_request_settings(session, request)
