from typing import Any

import pytest

from heald.core.messages import InvalidCall, ToolCall
from heald.wires.finished_call import build_call, expand_parallel_calls, replayable_input


def finish(text: str, stop: Any = "tool_use", name: str = "f") -> ToolCall:
    return build_call("call_1", None, name, text, stop)


def test_arguments_are_the_object_that_was_sent() -> None:
    assert finish('{"a": [1, {"b": null}]}') == ToolCall(id="call_1", name="f", input={"a": [1, {"b": None}]})


@pytest.mark.parametrize("text", ["", "  ", "\n", "null", " null ", "{}"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    call = finish(text)
    assert (call.input, call.invalid) == ({}, None)


def test_arguments_encoded_twice_are_unwrapped_once() -> None:
    assert finish(r'"{\"a\": 1}"').input == {"a": 1}
    thrice = finish(r'"\"{}\""')
    assert thrice.invalid is not None
    assert thrice.invalid.reason == "malformed"


@pytest.mark.parametrize(
    "text",
    ['{"a":', "{'a': 1}", "[1]", "1", "true", '"text"', '{"a": NaN}', '{"a": 1, "a": 2}', "{} {}", "[" * 5000, "\x00"],
)
def test_what_is_no_object_never_runs(text: str) -> None:
    call = finish(text)
    assert call.invalid is not None
    assert (call.invalid.reason, call.invalid.raw, call.input) == ("malformed", text, {})


def test_the_model_is_reported_what_is_wrong_and_where() -> None:
    invalid = finish('{"a": 1,}').invalid
    assert invalid is not None
    assert "line 1 column" in invalid.message
    assert "expected an object, got list" in (finish("[]").invalid or invalid).message


def test_the_explanation_is_bounded() -> None:
    """V17: it goes to the model and into the log."""
    key = "k" * 10_000
    invalid = finish(f'{{"{key}": 1, "{key}": 2}}').invalid
    assert invalid is not None
    assert len(invalid.message) < 300


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", "truncated"),
        ("content_filter", "filtered"),
        ("refusal", "refused"),
        ("pause_turn", "truncated"),
        ("error", "truncated"),
    ],
)
@pytest.mark.parametrize("text", ['{"a": 1}', '{"a"', ""])
def test_a_call_of_a_message_that_did_not_end_well_never_runs(stop: str, reason: str, text: str) -> None:
    invalid = finish(text, stop).invalid
    assert invalid is not None
    assert (invalid.reason, invalid.raw) == (reason, text)


@pytest.mark.parametrize("stop", ["end_turn", "tool_use", "stop_sequence"])
def test_a_message_that_ended_well_may_run_its_calls(stop: str) -> None:
    assert finish("{}", stop).invalid is None


def test_a_call_without_a_name_never_runs() -> None:
    invalid = finish("{}", name="").invalid
    assert invalid is not None
    assert "names no tool" in invalid.message


def test_names_and_keys_of_python_itself_are_plain_words() -> None:
    call = finish('{"__class__": {"__init__": 1}}', name="__class__")
    assert (call.name, call.input, call.invalid) == ("__class__", {"__class__": {"__init__": 1}}, None)


def test_the_legacy_wrapper_is_unpacked() -> None:
    text = (
        '{"tool_uses": [{"recipient_name": "functions.f", "parameters": {"a": 1}},'
        ' {"recipient_name": "g", "parameters": null}]}'
    )
    assert expand_parallel_calls(text) == [("f", {"a": 1}), ("g", {})]


@pytest.mark.parametrize(
    "text", ["", "{}", '{"tool_uses": 1}', '{"tool_uses": [1]}', '{"tool_uses": [{"parameters": {}}]}', '{"tool_uses"']
)
def test_what_is_no_legacy_wrapper_is_left_alone(text: str) -> None:
    assert expand_parallel_calls(text) is None


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (ToolCall(id="c", name="f", input={"a": 1}), {"a": 1}),
        (ToolCall(id="c", name="f", input={}), {}),
        (ToolCall(id="c", name="f", input={}, invalid=InvalidCall("malformed", "", '{"a')), {"INVALID_JSON": '{"a'}),
        (ToolCall(id="c", name="f", input={}, invalid=InvalidCall("truncated", "", " ")), {}),
        (ToolCall(id="c", name="f", input={"a": 1}, invalid=InvalidCall("truncated", "", '{"a":1}')), {"a": 1}),
    ],
)
def test_a_history_holds_only_valid_arguments(call: ToolCall, sent: dict[str, Any]) -> None:
    assert replayable_input(call) == sent
