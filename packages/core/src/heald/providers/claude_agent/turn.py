"""Reads one turn from a query and decodes it with the decoder of the `messages` wire."""

from collections.abc import Callable, Container, Iterable

import msgspec
from claude_agent_sdk import (
    AssistantMessage,
    Message,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)

from heald.core.errors import HealdError, IncompleteStream, ProviderError
from heald.core.events import RetryScheduled
from heald.core.json import JsonObject, as_object, encode, encode_text
from heald.core.messages import Native
from heald.core.payload import Payload
from heald.providers.base import OnEvent, ProviderTurn
from heald.providers.claude_agent import PROVIDER
from heald.providers.claude_agent.errors import failure_of
from heald.providers.claude_agent.query import Query
from heald.providers.claude_agent.tools import PREFIX
from heald.wires.messages import MessagesDecoder


class TurnStream:
    """Decodes the events of one message."""

    def __init__(self, model: str, attempt: int, used_ids: Container[str]) -> None:
        self._decoder = MessagesDecoder(provider=PROVIDER, model=model, attempt=attempt, used_ids=used_ids)
        self._model = model
        self.attempt = attempt
        self.held: list[Payload] = []
        """The payloads that end the message, once `done`: published with the turn, or not at all if it failed."""

    @property
    def id(self) -> str:
        return self._decoder.id

    @property
    def done(self) -> bool:
        """The message is complete."""
        return bool(self.held)

    def open(self) -> list[Payload]:
        return self._decoder.open()

    @property
    def has_calls(self) -> bool:
        message = self._decoder.message
        return message is not None and bool(message.tool_calls)

    def feed(self, event: JsonObject) -> list[Payload]:
        decoder = self._decoder
        if decoder.done:
            return []
        payloads = decoder.feed(b"data: " + encode(_renamed(event)) + b"\n\n")
        if decoder.done and decoder.error is None:
            self.held = decoder.close()
        return payloads

    def abort(self, error: ProviderError) -> list[Payload]:
        """Discard the message. An error in the stream itself has precedence."""
        return self._decoder.abort(self._decoder.error or error)

    def turn(self, session: str, at: str) -> ProviderTurn:
        """Build the finished turn. The native form of its message is the SDK's ids."""
        decoder = self._decoder
        assert decoder.message is not None
        assert decoder.stop_reason is not None
        native = Native(wire=PROVIDER, provider=PROVIDER, model=self._model, content={"session": session, "at": at})
        return ProviderTurn(
            message=msgspec.structs.replace(decoder.message, native=native),
            stop_reason=decoder.stop_reason,
            usage=decoder.usage,
            attempts=self.attempt,
            provider_stop_reason=decoder.provider_stop_reason,
            response_id=decoder.response_id,
            response_model=decoder.response_model,
        )


def events_of(message: AssistantMessage, *, counted: bool) -> list[JsonObject]:
    """Return the events of a message that was not streamed, without usage if that was counted already."""
    usage = {} if counted else message.usage or {}
    events: list[JsonObject] = [
        {"type": "message_start", "message": {"id": message.message_id, "model": message.model, "usage": usage}}
    ]
    for index, block in enumerate(message.content):
        start, delta = _block(block)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    calls = any(isinstance(block, ToolUseBlock) for block in message.content)
    reason = message.stop_reason or ("tool_use" if calls else "end_turn")
    return [*events, {"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]


def _block(block: object) -> tuple[JsonObject, JsonObject]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
        case ThinkingBlock(thinking=thinking):
            return {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": thinking}
        case ToolUseBlock(id=call, name=name, input=arguments):
            start: JsonObject = {"type": "tool_use", "id": call, "name": name, "input": {}}
            return start, {"type": "input_json_delta", "partial_json": encode_text(arguments)}
        case _:
            return {"type": "unknown"}, {}


def _renamed(event: JsonObject) -> JsonObject:
    """Replace the name of a tool in an event by Heald's own."""
    block = event.get("content_block")
    if not isinstance(block, dict):
        return event
    name = block.get("name")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(name, str) or not name.startswith(PREFIX):
        return event
    return event | {"content_block": block | {"name": name.removeprefix(PREFIX)}}


_RETRIED = IncompleteStream("The answer broke off, and Claude Code asked for it again.")


class Ended(msgspec.Struct, frozen=True):
    """The end of a turn, beside its message."""

    goes_on: bool = False
    """The loop continues without a new request."""
    total_usd: float | None = None
    """The cost of the SDK's session so far, if the query has its result."""


class TurnReader:
    def __init__(self, model: str, used_ids: Container[str], on_event: OnEvent) -> None:
        self._model = model
        self._used_ids = used_ids
        self._on_event = on_event
        self._attempt = 0
        self._stream: TurnStream | None = None

    async def read(self, query: Query, note: Callable[[str, str | None], object]) -> Ended:
        """Publish one message except for its end; `note` gets the SDK's ids. Raises the error of the turn."""
        while True:
            try:
                message = await query.next()
                failure = failure_of(message)
            except HealdError as error:
                message, failure = None, error
            if isinstance(message, StreamEvent | AssistantMessage | ResultMessage) and failure is None:
                note(message.session_id or "", message.uuid if isinstance(message, AssistantMessage) else None)
            if self.is_done and (failure is not None or query.begins(message)):
                if message is not None:
                    query.unread(message)
                return Ended(goes_on=True)
            if failure is not None:
                self.abort(failure)
                raise failure
            if isinstance(message, ResultMessage):
                query.over = True
                self._end(query, message)
                return Ended(total_usd=message.total_cost_usd)
            if message is not None and self._read_message(query, message):
                return Ended()

    @property
    def is_done(self) -> bool:
        """The message is complete; its end is not published yet."""
        return self._stream is not None and self._stream.done

    def _read_message(self, query: Query, message: Message) -> bool:
        """Read the next message. True if the turn is complete and has calls to run."""
        if isinstance(message, AssistantMessage) and query.begins(message):
            self._whole(query, message)
        elif isinstance(message, StreamEvent):
            if query.begins(message):
                query.streamed = query.counted = str(as_object(message.event.get("message")).get("id"))
                self._open()
            if self._stream is not None:
                self._emit(self._stream.feed(message.event))
        return self._stream is not None and self._stream.has_calls

    def _end(self, query: Query, result: ResultMessage) -> None:
        """End the query. If it sent no message, its result becomes one."""
        if self.is_done:
            return
        content = [TextBlock(text=result.result)] if result.result else []
        self._whole(query, AssistantMessage(content=list(content), model=self._model))

    def abort(self, error: HealdError) -> None:
        """End the attempt with an error. It is published even if no message had begun."""
        if not isinstance(error, ProviderError):
            return
        if self._stream is None:
            self._open()
        assert self._stream is not None
        self._emit(self._stream.abort(error))

    def finish(self, session: str, at: str) -> ProviderTurn:
        """Publish the end of the message and return the turn."""
        assert self._stream is not None
        turn = self._stream.turn(session, at)
        self._emit(self._stream.held)
        return turn

    def _open(self) -> None:
        self._attempt += 1
        if self._stream is not None:
            self._emit(self._stream.abort(_RETRIED))
            if self._on_event(RetryScheduled(self._stream.id, self._attempt, 0.0, _RETRIED.info())) is False:
                raise _RETRIED
        self._stream = TurnStream(self._model, self._attempt, self._used_ids)
        self._emit(self._stream.open())

    def _whole(self, query: Query, message: AssistantMessage) -> None:
        self._open()
        assert self._stream is not None
        is_counted = message.message_id is not None and message.message_id == query.counted
        query.counted = message.message_id
        for event in events_of(message, counted=is_counted):
            self._emit(self._stream.feed(event))

    def _emit(self, payloads: Iterable[Payload]) -> None:
        for payload in payloads:
            self._on_event(payload)
