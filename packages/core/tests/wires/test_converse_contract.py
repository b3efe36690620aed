"""The Converse wire against botocore's description of the API: what is sent fits it, what is read is what it reads."""

from importlib import import_module
from typing import Any

import pytest

from heald.core.json import loads
from heald.core.messages import (
    File,
    Image,
    Message,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    assistant,
    user_message,
)
from heald.core.turn import Reason, Settings
from heald.testing import wire_stream
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
LOOK = ToolDefinition(name="look", description="Look.", input_schema=SCHEMA)
CALL = ToolCall(id="tooluse_1", name="look", input={"city": "Oslo"})
HISTORY = [
    Message(
        role="user",
        content=[
            Text("Look!"),
            Image(media_type="image/png", data=PIXEL),
            File(media_type="application/pdf", data="JVBERi0=", name="a/b: plan.pdf"),
            File(media_type="application/zip", data="UEs=", name="a.zip"),
            Image(url="https://pictures.test/a.png"),
        ],
    ),
    Message(role="assistant", content=[Text("I look."), CALL]),
    Message(
        role="tool",
        content=[
            ToolResult(id=CALL.id, name="look", status="error", content=[Text("No."), Image(data=PIXEL)]),
        ],
    ),
    assistant("It failed."),
    user_message("Try it with another one."),
]
SETTINGS = [
    Settings(),
    Settings(system="Be brief.", temperature=0.5, top_p=0.9, max_output_tokens=4000, stop_sequences=["END"]),
    Settings(tool_choice="required", reasoning=Reason(effort="high")),
    Settings(tool_choice="look", output_schema=SCHEMA, cache=False),
]


def operation() -> Any:
    model: Any = import_module("botocore.session").get_session().get_service_model("bedrock-runtime")
    return model.operation_model("ConverseStream")


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("model", ["anthropic.claude-sonnet-4-v1:0", "amazon.nova-lite-v1:0"])
def test_a_request_fits_the_description(model: str, settings: Settings) -> None:
    request = TurnRequest(model=model, messages=HISTORY, tools=[LOOK], settings=settings)
    body = WIRES["converse"].build_request(request)
    validator: Any = import_module("botocore.validate").ParamValidator()
    report = validator.validate({"modelId": model, **body}, operation().input_shape)
    assert not report.has_errors(), report.generate_report()
    unknown = body.keys() - operation().input_shape.members.keys()
    assert not unknown


def test_events_are_those_of_the_description() -> None:
    stream = b"".join(wire_stream("converse", thinking="Hm.", text=["A ", "cat."], calls=[CALL]))
    buffer: Any = import_module("botocore.eventstream").EventStreamBuffer()
    parser: Any = import_module("botocore.parsers").EventStreamJSONParser()
    buffer.add_data(stream)
    shape = operation().output_shape.members["stream"]
    for message in buffer:
        kind = message.headers[":event-type"]
        assert parser.parse(message.to_response_dict(), shape) == {kind: loads(message.payload)}
