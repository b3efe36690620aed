"""The sessions of clients of /v1, which send their conversation with every request."""

from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from time import monotonic

import msgspec
from starlette.responses import Response

from heald.agent.interface import ExchangeInterface
from heald.agent.model_chain import ModelLike
from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode
from heald.core.messages import Message
from heald.sessions.request_settings import apply_request_settings
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import NoSuchSession
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import json_response
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_texts import exchanged_texts, is_same_conversation

CLIENT_DISCONNECTED = "The client closed the connection."
_MAX_CONVERSATIONS = 10_000
"""Conversations whose session is remembered."""
_READ_SECONDS = 60.0
"""Time in which a client reads an answer that is not kept."""


class V1Sessions:
    """The sessions that continue conversations, by owner, model and requests; and sessions that are not kept."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._ended: deque[tuple[float, str]] = deque()  # sessions in memory, with the time of their end
        self._sessions: OrderedDict[bytes, str] = OrderedDict()  # by owner and the requests of the conversation

    async def find(self, conversation: ClientConversation) -> SessionInfo | None:
        """Find the stored session that holds the history of a conversation and is free."""
        session_id = self._sessions.get(_key(conversation, conversation.history))
        if session_id is None or not conversation.history:
            return None
        opened = self._context.open_sessions
        with suppress(ApiError):
            info = await opened.find_info(conversation.owner, session_id)
            async with opened.use(info) as session:
                theirs = exchanged_texts(conversation.history)
                is_free = session.current is None or bool(session.client_calls)
                if is_free and is_same_conversation(theirs, exchanged_texts(session.messages)):
                    return await self._context.sessions.store.info(session_id)
        return None

    def remember(self, conversation: ClientConversation, message: Message, info: SessionInfo) -> None:
        """Remember the session that answers a message of a conversation."""
        self._sessions[_key(conversation, [*conversation.history, message])] = info.id
        if len(self._sessions) > _MAX_CONVERSATIONS:
            self._sessions.popitem(last=False)

    def delete_later(self, exchange: ExchangeInterface, info: SessionInfo) -> None:
        """Delete a session in memory some time after the end of its exchange."""
        exchange.on_end(lambda: self._ended.append((monotonic(), info.id)))

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


def _key(conversation: ClientConversation, history: list[Message]) -> bytes:
    asked = [asked for asked, _ in exchanged_texts(history)]
    return sha256(encode([conversation.owner, conversation.model, conversation.system, asked])).digest()


async def configure_session(session: Session, settings: Mapping[str, object]) -> None:
    """Apply the parameters of a request from the next turn on, also in a process that continues it after a crash."""
    request: JsonObject = msgspec.to_builtins(dict(settings))
    if request != session.stored_settings.request:
        await session.configure(request=request)
    apply_request_settings(session, request)


_FAILURES: Mapping[object, int] = {
    "internal": 500,
    "invalid_request": 400,
    "context_overflow": 400,
    "content_blocked": 400,
    "model_not_found": 404,
    "quota_exhausted": 402,
}
"""Statuses by code; 502 for all others. Clients repeat a request for every status from 500 on."""


def failure_response(error: JsonObject, headers: dict[str, str]) -> Response:
    """The response for a request that failed: by our fault, by the provider's, or for lack of somebody to ask.

    What may succeed a second time was repeated already, and tools of the agent have run: clients shall not repeat it.
    """
    if error.get("type") == "permission_error":
        return json_response({"error": error}, 403, headers)
    code = error.get("code")
    headers = headers | {"X-Should-Retry": "false"}  # as the SDKs of this API know it
    return json_response({"error": error | {"type": code}}, _FAILURES.get(code, 502), headers)
