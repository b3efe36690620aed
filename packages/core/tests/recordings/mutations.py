"""Recorded streams with one member dropped, null or of another type, at every path that they have.

A place is the kind of an event and a path in it, in which the number of a list's item does not count. Each place is
mutated in one recording, or in several.
"""

import base64
import copy
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, cast

import msgspec
from corpus import body_of, quirks_of, recordings

import heald
from heald.core.envelope import Event, decode_event
from heald.core.errors import HealdError
from heald.core.json import JsonObject, decode, encode
from heald.core.messages import Message, ToolResult, user_message
from heald.core.payload import Payload
from heald.providers.list_price import price
from heald.testing.streams import amazon_event
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest
from heald.wires.sse import SSEParser

DROPPED = object()
VALUES: list[Any] = [
    DROPPED,
    *json.loads(
        r'[null, true, false, 0, -1, 7, 2.5, 1e30, 18446744073709551615, "", "x", "0", "\ud83d", [], [null], ["x"],'
        r' [3], [[]], [{}], {}, {"type": "x"}, {"x": 1}, {"text": 5}]'
    ),
]
"""What stands in the place of a member."""
_MODELS = {
    "chat": ("openai", "gpt-5"),
    "responses": ("openai", "gpt-5"),
    "messages": ("anthropic", "claude-sonnet-4-6"),
    "bedrock-messages": ("aws", "anthropic.claude-sonnet-4-6"),
    "converse": ("aws", "anthropic.claude-sonnet-4-6"),
    "gemini": ("google", "gemini-2.5-flash"),
    "ollama": ("ollama", "llama3"),
}
_SCHEMAS = frozenset({"parameters", "schema", "output_schema", "input_schema"})
"""Members that repeat a part of the request."""
_BEDROCK_STREAMS = 40
_CONVERSE: list[tuple[str, JsonObject]] = [
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm."}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "c2ln"}}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"reasoningContent": {"redactedContent": "YQ=="}}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    (
        "contentBlockStart",
        {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "s", "name": "web", "type": "server_tool_use"}}},
    ),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": "{}"}}}),
    ("contentBlockStop", {"contentBlockIndex": 2}),
    (
        "contentBlockStart",
        {"contentBlockIndex": 3, "start": {"toolResult": {"toolUseId": "s", "type": "web", "status": "success"}}},
    ),
    ("contentBlockDelta", {"contentBlockIndex": 3, "delta": {"toolResult": [{"text": "Rain."}, {"json": {"a": 1}}]}}),
    ("contentBlockStop", {"contentBlockIndex": 3}),
    ("contentBlockDelta", {"contentBlockIndex": 4, "delta": {"text": "It rains."}}),
    (
        "contentBlockDelta",
        {
            "contentBlockIndex": 4,
            "delta": {
                "citation": {
                    "title": "Weather",
                    "source": "w",
                    "sourceContent": [{"text": "rain"}],
                    "location": {"web": {"url": "https://example.org", "domain": "example.org"}},
                }
            },
        },
    ),
    ("contentBlockStop", {"contentBlockIndex": 4}),
    ("contentBlockStart", {"contentBlockIndex": 5, "start": {"toolUse": {"toolUseId": "t", "name": "add"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 5, "delta": {"toolUse": {"input": '{"a": 1}'}}}),
    ("contentBlockStop", {"contentBlockIndex": 5}),
    ("messageStop", {"stopReason": "tool_use", "additionalModelResponseFields": {}}),
    (
        "metadata",
        {
            "usage": {
                "inputTokens": 9,
                "outputTokens": 5,
                "totalTokens": 14,
                "cacheReadInputTokens": 1,
                "cacheWriteInputTokens": 2,
                "cacheDetails": [{"ttl": "1h", "inputTokens": 2}],
            },
            "metrics": {"latencyMs": 3},
            "serviceTier": {"type": "default"},
        },
    ),
]
"""No stream of this wire was recorded: one with every kind of block."""

_messages = msgspec.json.Decoder(Message)


class StreamEvent(NamedTuple):
    name: str
    value: Any
    """Parsed; bytes if it is not JSON."""


class Stream(NamedTuple):
    name: str
    wire: str
    provider: str
    events: list[StreamEvent]


class Place(NamedTuple):
    """A member of an event."""

    stream: Stream
    event: int
    path: tuple[str | int, ...]


class Mutation(NamedTuple):
    place: Place
    value: Any

    @property
    def body(self) -> bytes:
        """The stream with the value in its place."""
        stream, number, path = self.place
        event = stream.events[number]
        root = [copy.deepcopy(event.value)]
        parent: Any = root
        *way, last = (0, *path)
        for step in way:
            parent = parent[step]
        if self.value is DROPPED:
            del parent[last]
        else:
            parent[last] = self.value
        changed = [StreamEvent(event.name, value) for value in root]
        return write_stream(stream.wire, [*stream.events[:number], *changed, *stream.events[number + 1 :]])

    def describe(self) -> str:
        value = "dropped" if self.value is DROPPED else json.dumps(self.value)
        return f"{self.place.stream.wire} {self.place.stream.name} event {self.place.event} {self.place.path}: {value}"


@cache
def read_streams(share: int = 1) -> list[Stream]:
    """Every recorded stream, or each of so many, and those of the wires without recordings."""
    streams = [
        Stream(recording.id, recording.meta["api"], recording.meta["provider"], _read_events(recording))
        for recording in recordings()[::share]
    ]
    spoken = [stream for stream in streams if stream.wire == "messages"][:_BEDROCK_STREAMS]
    streams += [stream._replace(wire="bedrock-messages", provider="bedrock") for stream in spoken]
    return [*streams, Stream("converse", "converse", "bedrock", [StreamEvent(*event) for event in _CONVERSE])]


def choose_mutations(streams: Sequence[Stream], rounds: int, seed: int) -> list[Mutation]:
    """So many mutations, or a few more: every value at every kind of place before any in a second stream."""
    chance = random.Random(seed)
    places: dict[tuple[Any, ...], list[Place]] = {}
    for stream in streams:
        for number, event in enumerate(stream.events):
            for kind, path in _walk(event.value):
                places.setdefault((stream.wire, event.name, *kind), []).append(Place(stream, number, path))
    once = [(same, value) for same in places.values() for value in VALUES]
    chosen: list[Mutation] = []
    while len(chosen) < rounds:
        chance.shuffle(once)
        chosen += [Mutation(chance.choice(same), value) for same, value in once[: rounds - len(chosen)]]
    return chosen


def try_stream(stream: Stream, body: bytes) -> None:
    """Decode a body, store its events, price it, and build the next request, which an error of Heald may refuse."""
    wire, quirks = WIRES[stream.wire], quirks_of(stream.provider, stream.wire)
    decoder = wire.decoder("msg_test", provider=stream.provider, model="model", quirks=quirks)
    for payload in [*decoder.open(), *decoder.feed(body), *decoder.close()]:
        _store(payload)
    provider, model = _MODELS[stream.wire]
    price(heald.Model(model, base_url="http://127.0.0.1:1", provider=provider, wire=stream.wire), decoder.usage)
    if decoder.message is None:
        return
    answer = decode(_messages, encode(decoder.message))
    results = [ToolResult(id=call.id, status="ok", content="done") for call in answer.tool_calls]
    follow_up = Message(role="tool", content=list(results), id="r") if results else user_message("And then?")
    messages = [user_message("Go."), answer, follow_up]
    request = TurnRequest(model="model", messages=messages, provider=stream.provider, quirks=quirks)
    with suppress(HealdError):
        encode(wire.build_request(request))


def _store(payload: Payload) -> None:
    """Write an event to a log and read it back."""
    event = cast("Any", Event)(
        seq=1,
        id="e",
        session="s",
        exchange=None,
        type=payload.type,
        layer=payload.layer,
        time=0.0,
        epoch=0,
        data=payload,
    )
    assert decode_event(encode(event)).data == payload, payload


def _read_events(recording: Any) -> list[StreamEvent]:
    body = body_of(recording)
    if recording.meta["framing"] == "json_array":
        return [StreamEvent("message", value) for value in json.loads(body)]
    if recording.meta["api"] == "ollama":
        return [StreamEvent("message", _parse(line)) for line in body.splitlines() if line.strip()]
    parser = SSEParser()
    return [StreamEvent(event.event, _parse(event.data)) for event in [*parser.feed(body), *parser.close()]]


def write_stream(wire: str, events: Sequence[StreamEvent]) -> bytes:
    return b"".join(_write_event(wire, name, value) for name, value in events)


def _write_event(wire: str, name: str, value: Any) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    match wire:
        case "ollama":
            return data + b"\n"
        case "converse":
            return amazon_event(name, cast(JsonObject, value))
        case "bedrock-messages":
            return amazon_event("chunk", {"bytes": base64.b64encode(data).decode()})
        case _:
            return (f"event: {name}\n".encode() if name != "message" else b"") + b"data: " + data + b"\n\n"


def _walk(value: Any, kind: tuple[Any, ...] = (), path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield the kind and the path of everything in a value. Objects of different types are of different kinds."""
    yield kind, path
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        name = members.get("type")
        here = (*kind, name) if isinstance(name, str) else kind
        for key, member in members.items():
            if key not in _SCHEMAS:
                yield from _walk(member, (*here, key), (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from _walk(item, (*kind, "*"), (*path, number))


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data
