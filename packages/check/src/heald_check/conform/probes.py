"""The probes: one request each, for one ability of a server."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from heald.core.json import JsonObject, encode
from heald.core.messages import (
    Image,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    tool_results,
    user_message,
)
from heald.core.turn import Settings
from heald.providers.model import Model
from heald.wires.request import TurnRequest
from heald.wires.text_conversation import text_conversation
from heald.wires.text_edits import EXAMPLE, INSTRUCTIONS
from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.api_rules import APIS
from heald_check.conform.prompts import (
    ATTACHED,
    CLOCK,
    COLOUR,
    COUNT,
    EDIT,
    FOUR_WORDS,
    GET_TIME,
    GET_WEATHER,
    HELLO,
    LIMIT,
    LOCKER_TALK,
    LONG,
    NO_TOOL,
    RED_PNG,
    REPEAT,
    RESULT,
    STOP,
    TWO_CITIES,
    UNKNOWN_MODEL,
    WEATHER,
    WRONG_KEY,
)


class ProbeRequest(msgspec.Struct, frozen=True):
    """One encoded request."""

    model: Model
    body: bytes


class Probe(msgspec.Struct, frozen=True):
    name: str
    make: Callable[[Model, ProbeAnswer | None], ProbeRequest]
    after: str | None = None
    """The probe that must be answered first."""
    disconnect: bool = False
    """Disconnect as soon as content arrives."""
    wants_error: bool = False
    forced: bool = False
    """The request demands a call, if the API can demand one."""


def _build_body(
    model: Model, messages: Sequence[Message], tools: Sequence[ToolDefinition] = (), **settings: Any
) -> JsonObject:
    request = TurnRequest(
        model=model.name,
        messages=list(messages),
        tools=list(tools),
        settings=Settings(**settings),
        provider=model.provider,
        quirks=model.endpoint.quirks,
    )
    return model.wire.build_request(request)


def _turn_request(
    *messages: Message, tools: Sequence[ToolDefinition] = (), **settings: Any
) -> Callable[[Model, ProbeAnswer | None], ProbeRequest]:
    return lambda model, _: ProbeRequest(model, encode(_build_body(model, messages, tools, **settings)))


def _continuation_request(model: Model, before: ProbeAnswer | None) -> ProbeRequest:
    """Return the server's own call with a result, or a made-up call if it made none."""
    message = before.decoded.message if before is not None else None
    if message is None or not message.tool_calls:
        call = ToolCall(id="call_heald1", name=GET_WEATHER.name, input={"city": "Oslo"})
        message = Message(role="assistant", content=[call])
    results = [ToolResult(id=call.id, name=call.name, status="ok", content=RESULT) for call in message.tool_calls]
    return ProbeRequest(
        model, encode(_build_body(model, [user_message(WEATHER), message, tool_results(results)], [GET_WEATHER]))
    )


def _unknown_model_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return _turn_request(user_message(HELLO))(Model.at(model.endpoint, UNKNOWN_MODEL, model.api_key), None)


def _malformed_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return ProbeRequest(model, encode(_build_body(model, [user_message(HELLO)]) | {APIS[model.wire.name].history: 42}))


def _wrong_key_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return _turn_request(user_message(HELLO))(Model.at(model.endpoint, model.name, WRONG_KEY), None)


PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe("text", _turn_request(user_message(HELLO))),
        Probe("turns", _turn_request(*LOCKER_TALK, system="You are brief.")),
        Probe("unicode", _turn_request(user_message(REPEAT))),
        Probe(
            "tool-call",
            _turn_request(user_message(WEATHER), tools=[GET_WEATHER], tool_choice=GET_WEATHER.name),
            forced=True,
        ),
        Probe(
            "no-arguments", _turn_request(user_message(CLOCK), tools=[GET_TIME], tool_choice=GET_TIME.name), forced=True
        ),
        Probe("tool-choice-none", _turn_request(user_message(NO_TOOL), tools=[GET_WEATHER], tool_choice="none")),
        Probe("parallel", _turn_request(user_message(TWO_CITIES), tools=[GET_WEATHER])),
        Probe("continuation", _continuation_request, after="tool-call"),
        Probe("truncation", _turn_request(user_message(COUNT), max_output_tokens=LIMIT)),
        Probe("stop-sequence", _turn_request(user_message(FOUR_WORDS), stop_sequences=[STOP])),
        Probe(
            "text-edit",
            _turn_request(*EXAMPLE, *text_conversation([user_message(EDIT)], ATTACHED), system=INSTRUCTIONS),
        ),
        Probe("image", _turn_request(user_message(COLOUR, Image(media_type="image/png", data=RED_PNG)))),
        Probe("cancel", _turn_request(user_message(LONG)), disconnect=True),
        Probe("after-cancel", _turn_request(user_message(HELLO)), after="cancel"),
        Probe("unknown-model", _unknown_model_request, wants_error=True),
        Probe("malformed-request", _malformed_request, wants_error=True),
        Probe("malformed-json", lambda model, _: ProbeRequest(model, b'{"model": '), wants_error=True),
        Probe("invalid-key", _wrong_key_request, wants_error=True),
    )
}
