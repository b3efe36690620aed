"""The requests. All are built by the wire itself, so that what is tested is what Weft would send."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.core.json import JsonObject, encode
from weft.core.messages import Message, assistant, tool_results, user
from weft.core.settings import Settings
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.providers.model import Model
from weft.testing.conform.answer import Answer
from weft.testing.conform.api import APIS
from weft.testing.conform.picture import red_picture
from weft.wires.request import TurnRequest

HELLO = "Say hello in one short sentence."
LOCKER = "What is the number of my locker? Answer with the number only."
LOCKER_NUMBER = "4711"
UNICODE = "Grüße aus 東京 🚀 naïve"
REPEAT = f"Repeat exactly, with nothing before or after it: {UNICODE}"
WEATHER = "What is the weather in Oslo? Use the tool."
CLOCK = "What time is it? Use the tool."
NO_TOOL = "What could the weather in Oslo be like? Guess."
TWO_CITIES = "What is the weather in Oslo and in Rome? Call the tool once for each city, both calls in the same answer."
RESULT = "17 degrees and light rain"
COUNT = "Count from 1 to 300 in words, and leave nothing out."
FOUR_WORDS = "Write these four words on one line, in small letters: alpha beta gamma delta"
STOP = "gamma"
COLOUR = "What colour is this picture? Answer with one word."
LONG = "Write the numbers from 1 to 500 in words."
LIMIT = 16
UNKNOWN_MODEL = "weft-no-such-model"
WRONG_KEY = "weft-wrong-key"

_CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GET_WEATHER = ToolDefinition(name="get_weather", description="The weather in a city now.", input_schema=_CITY)
GET_TIME = ToolDefinition(name="get_time", description="The time now.")


@dataclass(frozen=True)
class Sending:
    """One request, ready to go."""

    model: Model
    body: bytes


@dataclass(frozen=True)
class Probe:
    name: str
    make: Callable[[Model, Answer | None], Sending]
    after: str | None = None
    """The probe whose answer is needed first."""
    leave: bool = False
    """Close the connection as soon as content arrives."""
    wants_error: bool = False
    forced: bool = False
    """A call is demanded, where the API can demand one."""


def _turn(*messages: Message, tools: list[ToolDefinition] | None = None, **settings: Any) -> Callable[..., Sending]:
    def make(model: Model, _: Answer | None) -> Sending:
        return _sending(model, list(messages), tools or [], Settings(**settings))

    return make


def _sending(model: Model, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> Sending:
    return Sending(model, encode(_build(model, messages, tools, settings)))


def _build(model: Model, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> JsonObject:
    return model.wire.build(
        TurnRequest(
            model=model.name,
            messages=messages,
            tools=tools,
            settings=settings,
            provider=model.provider,
            quirks=model.endpoint.quirks,
        )
    )


def _continue(model: Model, before: Answer | None) -> Sending:
    """The server's own call goes back to it with a result; one of ours, where it made none."""
    message = before.decoded.message if before is not None else None
    if message is None or not message.tool_calls:
        call = ToolCall(id="call_weft1", name=GET_WEATHER.name, input={"city": "Oslo"})
        message = Message(role="assistant", content=[call])
    results = [ToolResult(id=call.id, name=call.name, status="ok", content=RESULT) for call in message.tool_calls]
    return _sending(model, [user(WEATHER), message, tool_results(results)], [GET_WEATHER], Settings())


def _unknown_model(model: Model, _: Answer | None) -> Sending:
    return _turn(user(HELLO))(Model.at(model.endpoint, UNKNOWN_MODEL, model.api_key), None)


def _malformed(model: Model, _: Answer | None) -> Sending:
    body = _build(model, [user(HELLO)], [], Settings())
    return Sending(model, encode(body | {APIS[model.wire.name].history: 42}))


def _half_json(model: Model, _: Answer | None) -> Sending:
    return Sending(model, b'{"model": ')


def _wrong_key(model: Model, _: Answer | None) -> Sending:
    return _turn(user(HELLO))(Model.at(model.endpoint, model.name, WRONG_KEY), None)


_LOCKER_TALK = (
    user(f"The number of my locker is {LOCKER_NUMBER}. Remember it."),
    assistant("I will remember it."),
    user("What colour is a clear sky?"),
    assistant("Blue."),
    user(LOCKER),
)

PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe("text", _turn(user(HELLO))),
        Probe("turns", _turn(*_LOCKER_TALK, system="You are brief.")),
        Probe("unicode", _turn(user(REPEAT))),
        Probe("tool-call", _turn(user(WEATHER), tools=[GET_WEATHER], tool_choice=GET_WEATHER.name), forced=True),
        Probe("no-arguments", _turn(user(CLOCK), tools=[GET_TIME], tool_choice=GET_TIME.name), forced=True),
        Probe("tool-choice-none", _turn(user(NO_TOOL), tools=[GET_WEATHER], tool_choice="none")),
        Probe("parallel", _turn(user(TWO_CITIES), tools=[GET_WEATHER])),
        Probe("continuation", _continue, after="tool-call"),
        Probe("truncation", _turn(user(COUNT), max_output_tokens=LIMIT)),
        Probe("stop-sequence", _turn(user(FOUR_WORDS), stop_sequences=[STOP])),
        Probe("image", _turn(user(COLOUR, red_picture()))),
        Probe("cancel", _turn(user(LONG)), leave=True),
        Probe("after-cancel", _turn(user(HELLO)), after="cancel"),
        Probe("unknown-model", _unknown_model, wants_error=True),
        Probe("malformed-request", _malformed, wants_error=True),
        Probe("malformed-json", _half_json, wants_error=True),
        Probe("invalid-key", _wrong_key, wants_error=True),
    )
}
