"""`/agui`: AG-UI clients. A thread is a session, a run is an exchange or a part of one.

A run ends with an interrupt where the agent asks for an approval or an answer, and with pending calls where it called a
tool of the page. The next run of the thread brings the answers, as `resume` and as messages of role `tool`. A run
without a new message follows the thread's last exchange, whichever client asked for it.
"""

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object, as_objects, encode_text
from heald.core.message_forms import system_texts
from heald.core.messages import Message, Text
from heald.core.ui_messages import file_part
from heald.sessions.session_info import SessionInfo
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import caller_of, json_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.ag_ui.dialect import AGUIDialect
from heald_server.protocols.ag_ui.shapes import AGUIBody, AGUIEvent
from heald_server.protocols.shared.client_answers import ClientAnswers, ClientDecision, ClientResult
from heald_server.protocols.shared.client_bodies import read_body, read_conversation_messages, read_tools, text_field
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_answers import continue_conversation, last_part
from heald_server.protocols.shared.conversation_sessions import list_sessions
from heald_server.protocols.shared.conversation_start import (
    cancel_conversation,
    first_part,
    require_model,
    start_in_conversation,
)
from heald_server.protocols.shared.shapes import Stopped
from heald_server.streams.exchange_frames import ExchangeFrames
from heald_server.streams.exchange_stream import ExchangeStreamResponse

KIND = "ag-ui"
_DESCRIPTIONS = (
    RouteDescription(
        "POST",
        "/agui",
        "A run of an AG-UI client; its events stream.",
        "ag-ui",
        body=AGUIBody,
        events=(AGUIEvent,),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    RouteDescription("POST", "/agui/{name}/stop", "Cancel what runs in a thread.", "ag-ui", response=Stopped),
)
ABORT_SECONDS = 3.0
"""Time in which a client whose connection broke may repeat its run, before the exchange is cancelled."""

_DISPLAY_ROLES = ("reasoning", "activity")
"""Roles of messages that are only displayed; the session has its own, with all that its provider needs."""

_ANSWER_ROLES = ("assistant", *_DISPLAY_ROLES)
"""Roles of the last message of a client that asks for nothing new."""


class AGUIRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._readers: dict[str, int] = {}  # responses by exchange

    def routes(self) -> list[BaseRoute | RouteDescription]:
        stop = self._context.node.forwarder.at_holder("POST /agui/{name}/stop", self.stop)
        return [
            Route("/agui", self.run, methods=["POST"]),
            Route("/agui/{name}/stop", stop, methods=["POST"]),
            *_DESCRIPTIONS,
        ]

    async def run(self, request: Request) -> Response:
        body = await read_body(request)
        owner, thread, run = caller_of(request).owner, text_field(body, "threadId"), text_field(body, "runId")
        followed = await self._follow(owner, thread, run, body)
        if followed is not None:
            return ExchangeStreamResponse(self._context, caller_of(request), *followed)
        continued = await self._continue(owner, thread, run, body)
        info, frames = continued or await self._start(owner, thread, run, body)
        exchange = frames.part.exchange
        self._readers[exchange] = self._readers.get(exchange, 0) + 1
        return ExchangeStreamResponse(
            self._context,
            caller_of(request),
            info,
            frames,
            on_disconnect=partial(self._on_disconnect, info, exchange),
            on_end=partial(self._forget_reader, exchange),
        )

    async def _start(
        self, owner: str, thread: str | None, run: str | None, body: JsonObject
    ) -> tuple[SessionInfo, ExchangeFrames]:
        messages = [entry for entry in as_objects(body["messages"]) if entry.get("role") not in _DISPLAY_ROLES]
        plain = [_from_agui(message, number) for number, message in enumerate(messages)]
        *history, message = read_conversation_messages(plain)
        conversation = ClientConversation(
            owner=owner,
            kind=KIND,
            name=thread,
            history=history,
            system=system_texts(plain),
            model=require_model(self._context, text_field(body, "model") or ""),
            tools=read_tools(body),
        )
        message = _with_context(message, body)
        info, accepted, _ = await start_in_conversation(self._context, conversation, message, request_id=run)
        part = await first_part(self._context, info, accepted)
        return info, ExchangeFrames(_open_dialect(body, thread, run)(info.id), part)

    async def _follow(
        self, owner: str, thread: str | None, run: str | None, body: JsonObject
    ) -> tuple[SessionInfo, ExchangeFrames] | None:
        """The last exchange of a thread from its beginning, for a run that brings nothing new."""
        messages = as_objects(body["messages"])
        if body.get("resume") or (messages and messages[-1].get("role") not in _ANSWER_ROLES):
            return None
        for info in reversed(await list_sessions(self._context, _thread(owner, thread))):
            part = await last_part(self._context, info)
            if part is not None:
                return info, ExchangeFrames(_open_dialect(body, thread, run)(info.id), part)
        return None

    async def _continue(
        self, owner: str, thread: str | None, run: str | None, body: JsonObject
    ) -> tuple[SessionInfo, ExchangeFrames] | None:
        """Continue the exchange that waits for the answers of this run."""
        answers = _read_answers(body)
        if not answers.ids:
            return None
        open_dialect = _open_dialect(body, thread, run)
        continued = await continue_conversation(self._context, _thread(owner, thread), answers, open_dialect)
        if continued is None and answers.decisions:
            raise ApiError("conflict", "The interrupt is not open any more; send the request again.")
        return continued

    async def stop(self, request: Request) -> Response:
        """Cancel what runs in a thread."""
        thread = _thread(caller_of(request).owner, request.path_params["name"])
        return json_response({"cancelled": await cancel_conversation(self._context, thread)})

    # --- clients that abort ------------------------------------------------------------------------------------------

    def _forget_reader(self, exchange: str) -> bool:
        """Forget one response. Returns whether it was the last."""
        left = self._readers.get(exchange, 1) - 1
        if left > 0:
            self._readers[exchange] = left
        else:
            self._readers.pop(exchange, None)
        return left <= 0

    def _on_disconnect(self, info: SessionInfo, exchange: str) -> None:
        """Cancel the exchange of a client that aborted its run, unless the run is repeated in time, or another client
        of any protocol watches the session or comes to it."""
        if self._forget_reader(exchange):
            loop = asyncio.get_running_loop()
            visits = self._context.open_sessions.hub(info.id).visits
            loop.call_later(ABORT_SECONDS, self._cancel_unread, info, exchange, visits)

    def _cancel_unread(self, info: SessionInfo, exchange: str, visits: int) -> None:
        session = self._context.open_sessions.find_open(info.id)
        current = session.current if session is not None else None
        hub = self._context.open_sessions.hub(info.id)
        is_read = exchange in self._readers or hub.readers > 0 or hub.visits > visits
        if current is not None and current.id == exchange and not is_read:
            current.cancel("The client aborted the run.")


def _thread(owner: str, name: str | None) -> ClientConversation:
    return ClientConversation(owner=owner, kind=KIND, name=name)


def _open_dialect(body: JsonObject, thread: str | None, run: str | None) -> Callable[[str], AGUIDialect]:
    """The dialect of a run. Clients name the version that they speak since 1.0."""
    return partial(AGUIDialect, thread=thread, run=run, is_early="protocolVersion" not in body)


def _read_answers(body: JsonObject) -> ClientAnswers:
    answers = ClientAnswers()
    for entry in as_objects(body.get("resume")):
        name, payload = text_field(entry, "interruptId"), entry.get("payload")
        if name is None:
            raise ApiError("invalid", "An entry of resume has no interruptId.")
        fields = as_object(payload)
        is_resolved = entry.get("status") == "resolved"
        edited = fields.get("editedArgs")
        answers.decisions[name] = ClientDecision(
            is_resolved and payload is not False and fields.get("approved") is not False,
            str(fields.get("reason") or ""),
            as_object(edited) if isinstance(edited, dict) else None,
        )
        answers.answers[name] = _answer_text(payload) if is_resolved else "The user gave no answer."
    for message in reversed(as_objects(body["messages"])):
        if message.get("role") != "tool":
            break
        call = text_field(message, "toolCallId")
        if call is not None:
            error = message.get("error")
            answers.results[call] = ClientResult(message.get("content") or error or "", bool(error))
    return answers


def _answer_text(payload: object) -> str:
    if isinstance(payload, str):
        return payload
    answer = as_object(payload).get("answer")
    return answer if isinstance(answer, str) else encode_text(payload)


def _with_context(message: Message, body: JsonObject) -> Message:
    """Put the context of the page before the user's text. Comparisons use the text alone."""
    lines = [
        f"- {item.get('description') or 'context'}: {item.get('value', '')}" for item in as_objects(body.get("context"))
    ]
    state = {name: value for name, value in as_object(body.get("state")).items() if name != "files"}
    if state:
        lines.append(f"- state of the page: {encode_text(state)}")
    if not lines or message.role != "user":
        return message
    text = Text("Context from the page:\n" + "\n".join(lines))
    return msgspec.structs.replace(message, content=[text, *message.content], said=message.text)


def _from_agui(message: JsonObject, number: int) -> JsonObject:
    """An AG-UI message as a chat message."""
    plain: JsonObject = {"role": message.get("role"), "content": message.get("content")}
    if message.get("role") == "tool" and message.get("error") and not message.get("content"):
        plain["content"] = message["error"]
    if isinstance(message.get("content"), list):
        if len(as_objects(message["content"])) < len(as_list(message["content"])):
            raise ConfigurationError(f"A part of message {number} is not an object.")
        plain["content"] = [_from_part(part, number) for part in as_objects(message["content"])]
    if message.get("toolCalls"):
        plain["tool_calls"] = message["toolCalls"]
    if message.get("toolCallId"):
        plain["tool_call_id"] = message["toolCallId"]
    return plain


def _from_part(part: JsonObject, number: int) -> JsonObject:
    source, name = as_object(part.get("source")), as_object(part.get("metadata")).get("filename")
    match part.get("type"):
        case "binary":
            kind = part.get("mimeType")
            url = part.get("url") or f"data:{kind};base64,{part.get('data', '')}"
            return file_part(url, kind, part.get("filename"), number)
        case "image" | "audio" | "video" | "document" as shape if source:
            if source.get("type") == "file":
                raise ConfigurationError(
                    f"Message {number} names a file of a provider; send its data, or an address that can be fetched."
                )
            kind = source.get("mimeType") or ("image/png" if shape == "image" else "application/octet-stream")
            is_url = source.get("type") == "url"
            return file_part(
                source.get("value") if is_url else f"data:{kind};base64,{source.get('value')}", kind, name, number
            )
        case _:
            return part
