"""The plain readers: each deviation from an API's stream is one fault, and a right stream has none."""

from collections.abc import Callable
from json import loads

import pytest

from heald.core.json import JsonObject, as_object, encode
from heald.core.messages import ToolCall
from heald.testing.streams import wire_stream
from heald_check.conform.api_rules import APIS
from heald_check.conform.checks import PROBED_WIRES
from heald_check.conform.reading import ReadUsage, StreamReading

CALL = ToolCall(id="call_1", name="get_weather", input={"city": "Oslo"})

Events = list[tuple[bytes, JsonObject]]
"""What stands before the data of each event, and the data."""


def read(wire: str, edit: Callable[[Events], object]) -> StreamReading:
    events: Events = []
    tail = b""
    for step in wire_stream(wire, text=["Hello ", "there."], calls=[CALL]):
        head, mark, data = step.rpartition(b"data: ")
        if data.startswith(b"[DONE]"):
            tail = step
        else:
            events.append((head + mark, loads(data)))
    edit(events)
    end = b"\n" if wire == "ollama" else b"\n\n"
    return APIS[wire].reader.read(b"".join(head + encode(data) + end for head, data in events) + tail)


def at(place: int, **fields: object) -> Callable[[Events], object]:
    """Change fields of one event."""
    return lambda events: events[place][1].update(fields)


def inside(place: int, holder: str, /, **fields: object) -> Callable[[Events], object]:
    """Change fields of an object in one event."""
    return lambda events: as_object(events[place][1][holder]).update(fields)


def choice(place: int, **delta: object) -> Callable[[Events], object]:
    return lambda events: events[place][1]["choices"][0]["delta"].update(delta)


def duplicate_event(place: int, where: int | None = None) -> Callable[[Events], object]:
    """Send an event a second time."""
    return lambda events: events.insert(place if where is None else where, events[place])


def without(place: int) -> Callable[[Events], object]:
    return lambda events: events.pop(place)


def last_index(events: Events) -> None:
    events[1][1]["choices"][0]["index"] = 3


def whole_arguments(text: str) -> Callable[[Events], object]:
    """The arguments of chat's call, in place of its two halves."""

    def edit(events: Events) -> None:
        events[4][1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = text
        events[5][1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = ""

    return edit


def two_reasons(events: Events) -> None:
    events[0][1]["candidates"][0]["finishReason"] = "MAX_TOKENS"


@pytest.mark.parametrize("wire", PROBED_WIRES)
def test_a_right_stream_has_no_fault(wire: str) -> None:
    reading = read(wire, lambda _: None)
    assert reading.faults == ()
    assert reading.text == "Hello there."
    assert [(call.name, call.input) for call in reading.calls] == [("get_weather", {"city": "Oslo"})]
    assert reading.tokens is not None
    assert (reading.tokens.input, reading.tokens.output) == (11, 7)


FAULTS: list[tuple[str, Callable[[Events], object], str, str]] = [
    # --- chat ------------------------------------------------------------------------------------------------
    ("chat", last_index, "envelope", "a choice other than number 0, though one was asked for"),
    ("chat", at(1, object="chat.completion"), "envelope", "a chunk's object is not “chat.completion.chunk”"),
    ("chat", at(1, created=None), "envelope", "a chunk has no created"),
    ("chat", choice(1, content=[{"type": "text", "text": "Hello "}]), "envelope", "content that is not a string"),
    ("chat", choice(1, function_call={"name": "f"}), "call-fields", "a call in the old field function_call"),
    ("chat", whole_arguments("[1]"), "arguments", "“[1]” is not an object"),
    ("chat", whole_arguments('"{}"'), "arguments", "arguments that are JSON inside a JSON string"),
    ("chat", whole_arguments('{"a":1,"a":2}'), "arguments", '“{"a":1,"a":2}” is not JSON: duplicate key \'a\''),
    ("chat", whole_arguments(" "), "empty-arguments", "empty arguments"),
    # --- responses -------------------------------------------------------------------------------------------
    ("responses", without(0), "order", "response.output_item.added came before response.created"),
    ("responses", at(2, sequence_number=0), "order", "sequence_number does not grow"),
    ("responses", inside(0, "response", object="answer"), "envelope", "the response's object is not “response”"),
    ("responses", inside(0, "response", model=""), "envelope", "the response has no model"),
    ("responses", at(1, output_index=4), "order", "output item 0 has the index 4"),
    ("responses", at(2, output_index=9), "order", "response.output_text.delta belongs to no output item"),
    ("responses", at(2, item_id="x"), "order", "response.output_text.delta names another item than its output_index"),
    ("responses", inside(5, "item", name=""), "call-fields", "a call begins without its name"),
    ("responses", inside(8, "item", call_id="call_9"), "call-ids", "a call has another id when it is done"),
    ("responses", inside(9, "response", status="queued"), "finish", "response.completed with the status “queued”"),
    ("responses", inside(9, "response", output=[]), "order", "response.completed lists 0 of 2 output items"),
    # --- messages --------------------------------------------------------------------------------------------
    ("messages", duplicate_event(0), "order", "message_start came twice"),
    ("messages", inside(0, "message", type="reply"), "envelope", "the message's type is not “message”"),
    ("messages", inside(0, "message", id=None), "envelope", "the message has no id"),
    ("messages", without(4), "order", "a content block started before the one before it was stopped"),
    ("messages", at(5, index=7), "order", "content block 1 has the index 7"),
    (
        "messages",
        inside(5, "content_block", input=None),
        "call-fields",
        "a tool_use block starts without an input object",
    ),
    ("messages", at(2, index=3), "order", "a delta belongs to no open content block"),
    ("messages", duplicate_event(4), "order", "a content block was stopped that was not open"),
    # --- gemini ----------------------------------------------------------------------------------------------
    ("gemini", two_reasons, "finish", "two finish reasons"),
    ("gemini", inside(-1, "usageMetadata", promptTokenCount=None), "usage", "usageMetadata has no promptTokenCount"),
    # --- ollama ----------------------------------------------------------------------------------------------
    ("ollama", at(0, done=None), "envelope", "a line has no done"),
    ("ollama", at(-1, eval_count=None), "usage", "usage has no eval_count"),
    ("ollama", at(-1, eval_count=0), "usage", "output was sent and none was counted"),
]


@pytest.mark.parametrize(("wire", "edit", "rule", "what"), FAULTS, ids=[f"{f[0]}-{f[3]}" for f in FAULTS])
def test_a_fault(wire: str, edit: Callable[[Events], object], rule: str, what: str) -> None:
    assert (rule, what) in {(fault.rule, fault.what) for fault in read(wire, edit).faults}


def test_an_event_that_is_no_object() -> None:
    (fault,) = APIS["gemini"].reader.read(b"data: 7\n\n").faults_of("json")
    assert fault.what == "“7” is not an object"


def test_a_second_done() -> None:
    body = b"".join([*wire_stream("chat", text="Hello."), b"data: [DONE]\n\n"])
    assert [fault.what for fault in APIS["chat"].reader.read(body).faults] == ["a second [DONE]"]


def test_text_at_the_start_of_a_block() -> None:
    reading = read("messages", inside(1, "content_block", text="Oh. "))
    assert (reading.text, reading.faults) == ("Oh. Hello there.", ())


def test_input_at_the_start_of_a_block() -> None:
    def edit(events: Events) -> None:
        events[5][1]["content_block"]["input"] = {"city": "Rome"}
        del events[6:8]

    reading = read("messages", edit)
    calls = [(call.id, call.name, call.arguments) for call in reading.calls]
    assert (calls, reading.faults) == ([("call_1", "get_weather", '{"city":"Rome"}')], ())


def test_arguments_cut_at_the_limit_are_no_fault() -> None:
    body = b"".join(wire_stream("chat", calls=[CALL], stop="max_tokens")).replace(b'Oslo\\"}', b"Os")
    reading = APIS["chat"].reader.read(body)
    assert (reading.finish, reading.faults, reading.tokens) == ("length", (), ReadUsage(11, 7, 18))
    assert reading.calls[0].input is None
