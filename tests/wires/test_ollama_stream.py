"""Ollama's own chat: lines of JSON."""

from typing import Any

import pytest
from wire_samples import OLLAMA
from wire_streams import decode, decode_pieces, frame

from weft.core.json import JsonObject
from weft.core.messages import Reasoning, Text
from weft.core.turn import Usage


def line(**message: Any) -> JsonObject:
    return {"model": "m", "message": {"role": "assistant", "content": ""} | message, "done": False}


def end(reason: str | None = "stop", **fields: Any) -> JsonObject:
    return {"model": "m", "done": True, "done_reason": reason} | fields


def call(name: str, arguments: Any) -> JsonObject:
    return {"function": {"name": name, "arguments": arguments}}


def test_the_message_goes_back_as_one() -> None:
    assert decode("ollama", *OLLAMA).native == {
        "role": "assistant",
        "content": "Let me look \U0001f600",
        "thinking": "hm, ü",
        "tool_calls": [call("read", {"path": "ä"}), call("list", {"all": True})],
    }


@pytest.mark.parametrize(
    ("reason", "stop"), [("stop", "end_turn"), ("length", "max_tokens"), (None, "end_turn"), ("unload", "end_turn")]
)
def test_ends(reason: str | None, stop: str) -> None:
    assert decode("ollama", line(content="a"), end(reason)).stop == stop


def test_the_last_line_may_carry_content_and_lack_its_line_end() -> None:
    last = frame("ollama", end() | {"message": {"content": "b"}}).rstrip()
    decoded = decode_pieces("ollama", [frame("ollama", line(content="a")), last])
    assert decoded.message.content == [Text("ab")]


def test_thinking_then_text() -> None:
    decoded = decode("ollama", line(thinking="h"), line(thinking="m"), line(content="a"), end())
    assert decoded.message.content == [Reasoning("hm"), Text("a")]


def test_several_calls_in_one_line_each_with_an_id_of_its_own() -> None:
    decoded = decode("ollama", line(tool_calls=[call("f", {"a": 1}), call("f", {"a": 1})]), end())
    assert decoded.named == [("f", {"a": 1}), ("f", {"a": 1})]
    assert len({one.id for one in decoded.calls}) == 2
    assert decoded.stop == "tool_use"


@pytest.mark.parametrize("arguments", [{}, None, "", "{}"])
def test_a_call_without_arguments(arguments: Any) -> None:
    assert decode("ollama", line(tool_calls=[call("f", arguments)]), end()).named == [("f", {})]


def test_arguments_as_text() -> None:
    assert decode("ollama", line(tool_calls=[call("f", '{"a": 1}')]), end()).named == [("f", {"a": 1})]


def test_no_call_of_a_message_that_was_cut_runs() -> None:
    decoded = decode("ollama", line(tool_calls=[call("f", {"a": 1})]), end("length"))
    assert [one.invalid and one.invalid.reason for one in decoded.calls] == ["truncated"]


def test_usage_and_its_absence() -> None:
    counted: JsonObject = {"prompt_eval_count": 7, "eval_count": 3, "total_duration": 10}
    decoded = decode("ollama", line(content="a"), end() | counted)
    assert (decoded.usage, decoded.decoder.provider_usage) == (Usage(input=7, output=3), counted)
    assert decode("ollama", line(content="a"), end()).usage == Usage()


@pytest.mark.parametrize("place", [0, 1])
def test_an_error_line_discards_the_message(place: int) -> None:
    lines: list[JsonObject] = [line(content="a"), end()]
    lines.insert(place, {"error": "model 'nope' not found"})
    assert decode("ollama", *lines).failure == "model_not_found"
