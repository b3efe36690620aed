"""Chat Completions: thinking in its many fields, and what goes back of it (R11, R12, R18)."""

from typing import Any

import pytest
from wire_samples import call_delta, chunk
from wire_streams import Decoded, decode

from heald.core.json import JsonObject
from heald.wires.request import Quirks


def run(*deltas: JsonObject, **options: Any) -> Decoded:
    return decode("chat", *map(chunk, deltas), chunk({}, "stop"), **options)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_is_shown_and_goes_back_in_its_own_field(field: str) -> None:
    decoded = run({field: "a"}, {field: "b"}, {"content": "c"})
    assert (decoded.thinking, decoded.text) == ("ab", "c")
    assert decoded.native == {"role": "assistant", "content": "c", field: "ab"}


def test_thinking_in_two_fields_at_once_is_shown_once() -> None:
    decoded = run(
        {"reasoning": "a", "reasoning_content": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a"}]}
    )
    assert decoded.thinking == "a"
    assert decoded.native["reasoning"] == decoded.native["reasoning_content"] == "a"


def test_empty_reasoning_goes_back_where_it_came_empty() -> None:
    """R11: servers that think want the field back, even empty."""
    assert run({"reasoning_content": "", "content": "a"}).native["reasoning_content"] == ""
    assert "reasoning_content" not in run({"reasoning_content": None, "content": "a"}).native


def test_details_are_merged_by_index_and_kept_whole() -> None:
    decoded = run(
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "v1", "text": "a", "signature": None}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "v1", "text": "b"}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "v1", "signature": "sig"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "format": "v1", "data": "x"}]},
        {"content": "c"},
    )
    assert decoded.thinking == "ab"
    assert decoded.native["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "format": "v1", "text": "ab", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "format": "v1", "data": "x"},
    ]


def test_thinking_ends_before_text_and_calls_begin() -> None:
    decoded = run({"reasoning": "a"}, {"content": "b"}, {"reasoning": "c"}, call_delta(0, "x", "f", "{}"))
    kinds = [event.type for event in decoded.events]
    assert kinds == [
        "message_start",
        "thinking_content_block_start",
        "thinking_delta",
        "thinking_content_block_stop",
        "text_content_block_start",
        "text_delta",
        "text_content_block_stop",
        "thinking_content_block_start",
        "thinking_delta",
        "thinking_content_block_stop",
        "tool_use_content_block_start",
        "input_json_delta",
        "tool_use_content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_thinking_alone_is_an_empty_answer() -> None:
    decoded = run({"reasoning": "a"})
    assert (decoded.text, decoded.thinking, decoded.stop) == ("", "a", "end_turn")


def test_content_as_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}
    decoded = run(
        {"content": [thinking]},
        {"content": [thinking, {"type": "text", "text": "b"}]},
        {"content": [{"type": "text", "text": "c"}, {"type": "reference", "reference_ids": [1]}]},
    )
    assert (decoded.thinking, decoded.text) == ("aa", "bc")
    assert decoded.native["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "aa"}]},
        {"type": "text", "text": "bc"},
        {"type": "reference", "reference_ids": [1]},
    ]


def test_tags_in_the_text_are_thinking_only_where_the_server_is_known_for_it() -> None:
    deltas = [{"content": piece} for piece in ("<th", "ink>hm", "</thi", "nk>\n\nso")]
    decoded = run(*deltas, quirks=Quirks(think_tags=True))
    assert (decoded.thinking, decoded.text) == ("hm", "so")
    assert run(*deltas).text == "<think>hm</think>\n\nso"


def test_an_unclosed_tag_is_thinking_to_the_end() -> None:
    decoded = run({"content": "<think>hm</thi"}, quirks=Quirks(think_tags=True))
    assert (decoded.thinking, decoded.text) == ("hm</thi", "")
    assert run({"content": "<thi"}, quirks=Quirks(think_tags=True)).text == "<thi"
