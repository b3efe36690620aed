"""loop: four server-sent events."""

from dialect_support import (
    BUSY,
    CANCELLED,
    S,
    answered,
    asked,
    begun,
    dropped,
    ended,
    log_of,
    look,
    played,
    spoken,
    text,
)
from heald.core.json import loads
from heald.core.messages import Image, ResultPart, Text, ToolCall, ToolResult
from heald.core.payload import Payload
from heald.wires.sse import SSEParser
from heald_server.dialects.frame import Frame
from heald_server.protocols.loop.dialect import LoopDialect

CALL = ToolCall(id="call_1", name="weather", input={"city": "Oslo"})


def pairs(*payloads: Payload | list[Payload]) -> list[tuple[str | None, object]]:
    return [(frame.event, frame.data) for frame in spoken(LoopDialect(), log_of(*payloads))]


def test_the_documented_sequence() -> None:
    result = ToolResult(id="call_1", status="ok", content="3 °C", name="weather")
    assert pairs(
        asked(), begun(), text("Let me ", "see."), ended(), CALL, result,
        begun("msg_2"), text("Cold.", block="msg_2.0"), ended("msg_2"), answered(),
    ) == [
        ("content_delta", {"delta": "Let me "}),
        ("content_delta", {"delta": "see."}),
        ("tool_call_start", {"id": "call_1", "name": "weather", "arguments": {"city": "Oslo"}}),
        ("tool_call_result", {"id": "call_1", "result": "3 °C", "is_error": False}),
        ("content_delta", {"delta": "Cold."}),
        ("done", {}),
    ]  # fmt: skip


def test_a_failed_call() -> None:
    content: list[ResultPart] = [Text("No such city."), Image(data="AAAA")]
    said = pairs(asked(), CALL, ToolResult(id="call_1", status="error", content=content), answered())
    assert said[1] == (
        "tool_call_result",
        {"id": "call_1", "result": "No such city.\n[image/png]", "is_error": True},
    )


def test_a_dropped_attempt_begins_anew() -> None:
    again = [begun("msg_2", 2), *text("Hello.", block="msg_2.0"), *ended("msg_2"), answered()]
    assert pairs(asked(), begun(), text("Hel"), dropped(), again) == [
        ("content_delta", {"delta": "Hel"}),
        ("content_delta", {"delta": "\n\n", "reset": 3}),
        ("content_delta", {"delta": "Hello."}),
        ("done", {}),
    ]
    assert pairs(asked(), begun(), dropped(), again)[0] == ("content_delta", {"delta": "Hello."})


def test_how_it_ends_otherwise() -> None:
    assert pairs(asked(), answered("failed", "error", BUSY)) == [
        ("done", {"status": "failed", "error": "The provider is overloaded."})
    ]
    assert pairs(asked(), begun(), text("Hel"), dropped(error=CANCELLED), answered("cancelled")) == [
        ("content_delta", {"delta": "Hel"}),
        ("done", {"status": "cancelled"}),
    ]
    assert pairs(asked(), answered("limit")) == [("done", {"status": "limit"})]


def test_a_log_that_breaks_off() -> None:
    said = pairs(asked(), begun(), text("Hel"), CALL)
    assert [event for event, _ in said] == ["content_delta", "tool_call_start", "tool_call_result", "done"]


async def test_an_ordinary_reader_of_server_sent_events() -> None:
    events = await played(["Let me see. ", S.call("look", place="Oslo")], "Nothing.", tools=[look])
    dialect = LoopDialect()
    parser = SSEParser()
    read = parser.feed(b"".join(map(dialect.sse, spoken(dialect, events))))
    assert {item.event for item in read} == {"content_delta", "tool_call_start", "tool_call_result", "done"}
    deltas = [loads(item.data)["delta"] for item in read if item.event == "content_delta"]
    assert "".join(deltas) == "Let me see. Nothing."
    assert int(read[-1].id) == events[-1].seq


def test_a_frame_has_its_payload_as_text() -> None:
    assert Frame({"delta": "é"}).payload == '{"delta":"é"}'.encode()
