import pytest
from core_values import messages
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.json import encode
from heald.core.message_forms import read_messages
from heald.core.messages import (
    Image,
    Message,
    Reasoning,
    ResultPart,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    assistant,
    decode_messages,
    tool_results,
    user_message,
)


@settings(max_examples=scaled(150))
@given(st.lists(messages, max_size=4))
def test_messages_survive_encoding(written: list[Message]) -> None:
    assert decode_messages(encode(written)) == written


@pytest.mark.parametrize("half", ["\ud800", "x\udfffy", "\udc00\ud800"])
def test_messages_with_half_a_surrogate_pair_survive_encoding(half: str) -> None:
    written = [
        Message(role="assistant", content=[Text(half), ToolCall(id="c", name="f", input={"k" + half: [half]})]),
        tool_results([ToolResult(id="c", status="ok", content=half)]),
    ]
    assert decode_messages(encode(written)) == written


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**40, 0.1, 1e300, -0.0])
def test_numbers_of_any_size_survive_in_arguments(number: float) -> None:
    written = [Message(role="assistant", content=[ToolCall(id="c", name="f", input={"n": number})])]
    read = decode_messages(encode(written))
    assert repr(read[0].tool_calls[0].input["n"]) == repr(number)


def test_unknown_fields_of_messages_and_blocks_are_ignored() -> None:
    raw = b'[{"role":"user","later":1,"content":[{"type":"text","text":"hi","later":[]}]}]'
    assert decode_messages(raw) == [user_message("hi")]


def test_a_stored_request_as_data_is_read_and_stored_unchanged() -> None:
    stored = (
        b'[{"role":"user","content":[{"type":"text","text":"Build this"}],"design":{"kind":"update",'
        b'"instruction":"Wider","files":[{"path":"index.html","block":0,"start":1,"end":5}]}}]'
    )
    (message,) = decode_messages(stored)
    assert message.structured is not None
    assert message.structured["instruction"] == "Wider"
    assert encode([message]) == stored


def test_text_and_calls_of_a_message() -> None:
    first, second = ToolCall(id="1", name="f", input={}), ToolCall(id="2", name="g", input={})
    message = Message(role="assistant", content=[Reasoning("hm"), Text("a"), first, Text("b"), second])
    assert message.text == "ab"
    assert message.tool_calls == [first, second]


def test_shorthands_to_write_messages() -> None:
    picture = Image(data="AAAA")
    result = ToolResult(id="1", status="ok", content="fine")
    assert user_message("see", picture) == Message(role="user", content=[Text("see"), picture])
    assert assistant("yes") == Message(role="assistant", content=[Text("yes")])
    assert tool_results([result]) == Message(role="tool", content=[result])


@pytest.mark.parametrize("status", ["error", "denied", "cancelled", "timeout", "interrupted", "unknown_tool"])
def test_every_status_but_ok_reads_as_a_failure(status: str) -> None:
    assert ToolResult(id="1", status=status, content="").is_error is True  # pyright: ignore[reportArgumentType]


def test_a_result_may_state_for_itself_whether_it_failed() -> None:
    assert ToolResult(id="1", status="ok", content="").is_error is False
    assert ToolResult(id="1", status="error", content="", is_error=False).is_error is False
    assert ToolResult(id="1", status="ok", content="", is_error=True).is_error is True


def test_the_text_of_a_result() -> None:
    parts: list[ResultPart] = [Text("a"), Image(data="AAAA"), Text("b")]
    assert ToolResult(id="1", status="ok", content="plain").text == "plain"
    assert ToolResult(id="1", status="ok", content=parts).text == "a\nb"
    assert ToolResult(id="1", status="ok", content=[]).text == ""


def test_a_tool_without_parameters_accepts_an_empty_object() -> None:
    first, second = ToolDefinition(name="a"), ToolDefinition(name="b")
    assert first.input_schema == {"type": "object", "properties": {}}
    assert first.input_schema is not second.input_schema


def test_a_picture_of_another_program_keeps_its_detail() -> None:
    url = {"url": "https://a.example/1.png"}
    parts = [{"type": "image_url", "image_url": url | {"detail": detail}} for detail in ("low", "of no kind", 3)]
    (message,) = read_messages([{"role": "user", "content": parts}])
    assert [block.detail for block in message.content if isinstance(block, Image)] == ["low", None, None]
