"""Chats of pages: the sessions that their messages continue, and the UI messages of these sessions."""

from heald.core.events import ExchangeRequest, ExchangeResponse, SessionRewound
from heald.core.json import JsonObject, as_objects
from heald.core.message_forms import system_texts
from heald.core.ui_messages import from_ui_messages
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import iterate_events
from heald_server.context import ServerContext
from heald_server.dialects.registry import open_dialect
from heald_server.http.errors import ApiError
from heald_server.protocols.ai_sdk.chat_body import read_chat_tools
from heald_server.protocols.ai_sdk.dialect import AISDKDialect
from heald_server.protocols.ai_sdk.message_builder import UIMessageBuilder, user_ui_message
from heald_server.protocols.ai_sdk.model_messages import (
    find_name,
    from_model_messages,
    has_model_messages,
    read_results,
)
from heald_server.protocols.ai_sdk.ui_messages import read_answers
from heald_server.protocols.shared.client_answers import ClientAnswers
from heald_server.protocols.shared.client_bodies import read_conversation_messages, text_field
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_answers import continue_conversation, last_exchange
from heald_server.protocols.shared.conversation_sessions import list_sessions
from heald_server.protocols.shared.conversation_start import (
    cancel_conversation,
    first_part,
    require_model,
    start_in_conversation,
)
from heald_server.protocols.shared.v1_sessions import cancel_unwatched, configure_session
from heald_server.streams.exchange_frames import ExchangeFrames, ExchangePart

KIND = "ai-sdk"


class Chats:
    """The chats of one server."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def start(self, owner: str, body: JsonObject, dialect: str) -> tuple[SessionInfo, ExchangeFrames]:
        """Start or continue the exchange that a body asks for."""
        messages = as_objects(body["messages"])
        is_ui = any("parts" in message for message in messages)
        if dialect != KIND and body.get("tools"):
            raise ApiError("invalid", f"A client of the dialect {dialect} cannot run tools; the agent has its own.")
        is_model = dialect == KIND and not is_ui and has_model_messages(body)
        messages = from_model_messages(messages) if is_model else messages
        name = text_field(body, "id") or (find_name(body) if is_model else None)
        answers = None
        if is_ui and messages[-1].get("role") == "assistant":
            answers = read_answers(messages[-1])
        elif is_model and messages and messages[-1].get("role") == "tool":
            answers = read_results(messages[-1])
        if answers is not None:
            conversation = ClientConversation(owner=owner, kind=KIND, name=name)
            continued = await continue_conversation(self._context, conversation, answers, AISDKDialect)
            if continued is not None:
                return continued
            _check_answers(answers)
        plain = from_ui_messages(messages) if is_ui else messages
        *history, message = read_conversation_messages(plain)
        conversation = ClientConversation(
            owner=owner,
            kind=dialect,
            name=name,
            history=history,
            system=system_texts(plain),
            model=require_model(self._context, text_field(body, "model") or ""),
            tools=read_chat_tools(body) if dialect == KIND else None,
        )
        goes_back = is_ui and (body.get("trigger") == "regenerate-message" or bool(body.get("messageId")))
        is_new = is_ui and not goes_back and answers is None
        request_id = text_field(messages[-1], "id") if is_new else None
        info, accepted, _ = await start_in_conversation(
            self._context,
            conversation,
            message,
            request_id=request_id,
            rewinds=goes_back and answers is None,
            appends=not history and not goes_back and not is_model,  # a page may send its last message only
            ends_unheard=True,
            configure=lambda session: _instruct(session, text_field(body, "system") if dialect == KIND else None),
        )
        message_id = text_field(messages[-1], "id") if answers is not None and is_ui else None
        encoder = AISDKDialect(info.id, message_id=message_id) if dialect == KIND else open_dialect(dialect, info.id)
        return info, ExchangeFrames(encoder, await first_part(self._context, info, accepted))

    async def find_running(self, owner: str, name: str) -> tuple[SessionInfo, ExchangeFrames] | None:
        """The frames of the open exchange of a chat, on whichever node it runs."""
        for info in reversed(await self.list_sessions(owner, name)):
            session = self._context.open_sessions.find_open(info.id)
            if info.work == "idle" if session is None else session.current is None:
                continue
            if session is not None:
                await session.flush()
            events = await last_exchange(self._context, info)
            if events and not any(isinstance(event.data, ExchangeResponse) for event in events):
                part = ExchangePart(events[0].exchange or "", 0, pause_from=events[-1].seq)
                return info, ExchangeFrames(AISDKDialect(info.id), part)
        return None

    def cancel_unwatched(self, info: SessionInfo, exchange_id: str) -> None:
        """Cancel an exchange whose page has gone and cannot resume it, unless another client watches it."""
        session = self._context.open_sessions.find_open(info.id)
        exchange = session.find_exchange(exchange_id) if session is not None else None
        if exchange is not None:
            cancel_unwatched(self._context, info, exchange)

    async def cancel(self, owner: str, name: str) -> bool:
        return await cancel_conversation(self._context, ClientConversation(owner=owner, kind=KIND, name=name))

    async def list_sessions(self, owner: str, name: str) -> list[SessionInfo]:
        return await list_sessions(self._context, ClientConversation(owner=owner, kind=KIND, name=name))

    async def read_messages(self, info: SessionInfo) -> list[JsonObject]:
        """Fold the log of a session into UI messages, each with the seq of its exchange's end."""
        dialect, builder = AISDKDialect(info.id), UIMessageBuilder()
        messages: list[tuple[int, JsonObject]] = []
        async for event in iterate_events(self._context.sessions.store, info.id):
            match event.data:
                case SessionRewound(seq=seq):
                    messages, builder = [entry for entry in messages if entry[0] <= seq], UIMessageBuilder()
                case ExchangeRequest(message=message, client_request_id=request) if event.session == info.id:
                    if message.role == "user":
                        messages.append((event.seq, user_ui_message(message, request or f"{event.exchange}-request")))
                    builder = UIMessageBuilder()
                case _:
                    pass
            for frame in dialect.feed(event):
                builder.feed(frame)
            if builder.message is not None and (not messages or messages[-1][1] is not builder.message):
                messages.append((event.seq, builder.message))
        return [message for _, message in messages]


async def _instruct(session: Session, system: str | None) -> None:
    """Show the model the instructions of a page after the server's own, for this request."""
    texts = [text for text in (session.settings.system, system) if text]
    await configure_session(session, {"system": "\n\n".join(texts)} if system else {})


def _check_answers(answers: ClientAnswers) -> None:
    """Raise unless the conversation can continue from the client's messages alone."""
    if answers.decisions and not answers.results:
        raise ApiError("conflict", "The approval is not open any more; send the request again.")
    if not answers.results:
        raise ApiError("invalid", "The last message must be the request, of role 'user'; put it at the end.")
