"""`POST /v1/responses/compact`: a conversation as one item, which the client sends instead of it.

The model writes a summary of the conversation. The item holds it in a form that only its server reads; the client,
who sent the conversation, may know it.
"""

import base64
from time import time
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from heald.agent.compaction import INSTRUCTIONS, replacement, transcript
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object, as_objects
from heald.core.message_forms import read_messages
from heald.core.messages import Message, user_message
from heald_server.context import ServerContext
from heald_server.http.operations import caller_of, json_response
from heald_server.protocols.responses.dialect import ResponsesDialect
from heald_server.protocols.responses.input_items import (
    COMPACTION_MARK,
    SYSTEM_ROLES,
    list_items,
    listed_item,
    read_input,
)
from heald_server.protocols.responses.log import find_response, history_at
from heald_server.protocols.responses.start import KIND, ResponseStarter, require_end
from heald_server.protocols.shared.client_bodies import read_json, text_field
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_sessions import create_session
from heald_server.protocols.shared.conversation_start import require_model
from heald_server.protocols.shared.exchange_failure import ExchangeFailure
from heald_server.protocols.shared.v1_parameters import refusal
from heald_server.protocols.shared.v1_sessions import CLIENT_DISCONNECTED, V1Sessions, configure_session
from heald_server.session_request import deps_of
from heald_server.streams.exchange_frames import ExchangeFrames, ExchangePart
from heald_server.streams.exchange_stream import collect_frames

_WORDS = 1200
_MAX_CHARACTERS = 4000
"""The length of the request in progress, which is repeated after the summary."""
_ASSISTANT = "The assistant had these instructions:"
_FAILED = ExchangeFailure("The model wrote no summary; ask again, or use another model.", "empty_answer")


class ResponseCompactor:
    """Compacts conversations of clients. Each is an exchange in memory: it has the limits of one, and its cost."""

    def __init__(self, context: ServerContext, sessions: V1Sessions, starter: ResponseStarter) -> None:
        self._context = context
        self._sessions = sessions
        self._starter = starter

    async def compact(self, request: Request) -> Response:
        fields = as_object(await read_json(request))
        name = text_field(fields, "model")
        if name is None:
            raise refusal("model", "model is needed: it names the model that writes the summary.")
        model = require_model(self._context, name)
        owner = caller_of(request).owner
        items = list_items(fields["input"]) if fields.get("input") is not None else []
        messages = [*await self._history(owner, fields), *await self._input(owner, items)]
        if not messages:
            raise refusal("input", "There is nothing to compact; send an input or a previous_response_id.")
        dialect = await self._summarise(request, model, messages, text_field(fields, "instructions"))
        if dialect is None:
            return Response(status_code=499)
        if dialect.failure is not None:
            return dialect.failure.response({})
        summary = "".join(
            str(part.get("text", ""))
            for item in as_objects(dialect.response["output"])
            for part in as_objects(item.get("content"))
        ).strip()
        if not summary:
            return _FAILED.response({})
        text = replacement(messages, [], summary, max_characters=_MAX_CHARACTERS).text
        return json_response(_compacted(items, text, dialect.response["usage"]))

    async def _history(self, owner: str, fields: JsonObject) -> list[Message]:
        """The conversation of the response that the client names."""
        name = text_field(fields, "previous_response_id")
        if name is None:
            return []
        previous = await find_response(self._context, owner, name, "previous_response_id")
        read = await require_end(self._context, previous)
        return (await history_at(self._context, previous, read.end or 0))[0]

    async def _input(self, owner: str, items: list[JsonObject]) -> list[Message]:
        read = read_input(await self._starter.resolve_references(owner, items))
        try:
            return read_messages(read.messages)
        except ConfigurationError as error:
            raise refusal("input", str(error)) from None

    async def _summarise(
        self, request: Request, model: str, messages: list[Message], instructions: str | None
    ) -> ResponsesDialect | None:
        """Let the model write a summary. Returns None if the client closed the connection."""
        caller, memory = caller_of(request), self._context.in_memory()
        await self._context.meters.refresh(caller.owner)
        self._context.meters.check_exchange(caller.owner)
        await self._sessions.delete_ended()
        tools = tuple(self._context.defaults.tools)
        conversation = ClientConversation(owner=caller.owner, kind=KIND, model=model, hidden_tools=tools, is_kept=False)
        info = await create_session(memory, conversation)
        system = INSTRUCTIONS.format(words=_WORDS)
        if instructions:
            system = f"{system}\n\n{_ASSISTANT}\n{instructions}"
        async with memory.open_sessions.use(info) as session:
            await configure_session(session, {"system": system, "tool_choice": "none"})
            deps = await deps_of(memory.make_deps, info)
            begin = session.last_seq
            exchange = session.send(user_message(transcript(messages)), deps=deps)
            memory.meters.track_exchange(caller.owner, exchange)
            await session.accepted(exchange)
        self._sessions.delete_later(exchange, info)
        dialect = ResponsesDialect(info.id, unattended=True)
        frames = ExchangeFrames(dialect, ExchangePart(exchange.id, begin, pause_from=0))
        if await collect_frames(request, memory, caller, info, frames) is None:
            exchange.cancel(CLIENT_DISCONNECTED)
            return None
        if dialect.refused is not None:
            exchange.cancel(dialect.refused)
        return dialect


def _compacted(items: list[JsonObject], text: str, usage: JsonObject | None) -> JsonObject:
    """The response: the instructions among the items as they were, and all the others as one item."""
    name = uuid4().hex
    instructions = [
        listed_item(item, f"resp_{name}", number)
        for number, item in enumerate(items)
        if item.get("role") in SYSTEM_ROLES
    ]
    content = COMPACTION_MARK + base64.b64encode(text.encode()).decode()
    return {
        "id": f"resp_{name}",
        "object": "response.compaction",
        "created_at": int(time()),
        "output": [*instructions, {"id": f"cmp_{name}", "type": "compaction", "encrypted_content": content}],
        "usage": usage,
    }
