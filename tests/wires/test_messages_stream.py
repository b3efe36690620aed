"""Anthropic Messages: blocks, signatures, cumulative usage, ends."""

import json

import pytest
from wire_samples import MESSAGES, OPENING, delta, ending, start, stop
from wire_streams import Decoded, decode

from weft.core.json import JsonObject
from weft.core.messages import Grounding, Reasoning, Source, Text
from weft.core.turn import Usage


def run(*events: JsonObject, reason: str = "end_turn") -> Decoded:
    return decode("messages", OPENING, *events, *ending(reason, output_tokens=5))


def text_block(index: int, text: str) -> list[JsonObject]:
    return [start(index, "text", text=""), delta(index, "text_delta", text=text), stop(index)]


def calls(index: int, call_id: str, name: str, *pieces: str) -> list[JsonObject]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, "tool_use", id=call_id, name=name, input={}), *deltas, stop(index)]


def test_the_blocks_go_back_as_they_came() -> None:
    assert decode("messages", *MESSAGES).native == [
        {"type": "thinking", "thinking": "hm, ü", "signature": "c2ln"},
        {"type": "text", "text": "Let me look \U0001f600"},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "ä"}},
        {"type": "tool_use", "id": "c2", "name": "list", "input": {"all": True}},
    ]


@pytest.mark.parametrize(
    ("reason", "ours"),
    [
        ("end_turn", "end_turn"),
        ("tool_use", "end_turn"),  # T20: no call came
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        ("something new", "end_turn"),
    ],
)
def test_stop_reasons(reason: str, ours: str) -> None:
    decoded = run(*text_block(0, "a"), reason=reason)
    assert (decoded.stop, decoded.decoder.provider_stop_reason) == (ours, reason)


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "refused"),
        ("pause_turn", "truncated"),
    ],
)
@pytest.mark.parametrize("arguments", ['{"a": 1}', '{"a": '])
def test_no_call_of_a_message_that_was_cut_runs(reason: str, why: str, arguments: str) -> None:
    decoded = run(*calls(0, "c", "f", "{}"), *calls(1, "d", "g", arguments), reason=reason)
    assert [call.invalid and call.invalid.reason for call in decoded.calls] == [why, why]
    json.dumps(decoded.native[1]["input"])


@pytest.mark.parametrize("reason", ["tool_use", "end_turn", "stop_sequence"])
def test_calls_run_whatever_word_ends_them_well(reason: str) -> None:
    decoded = run(*calls(0, "c", "f", "{}"), reason=reason)
    assert (decoded.named, decoded.stop) == ([("f", {})], "tool_use")


def test_no_content_at_all() -> None:
    decoded = run(reason="stop_sequence")
    assert (decoded.message.content, decoded.native, decoded.stop) == ([], [], "stop_sequence")


def test_both_the_stop_reason_and_message_stop_are_needed() -> None:
    last, stopped = ending("end_turn")
    assert decode("messages", OPENING, *text_block(0, "a"), last).failure == "incomplete"
    assert decode("messages", OPENING, *text_block(0, "a"), stopped).failure == "incomplete"
    assert decode("messages", OPENING, *text_block(0, "a"), *ending(None)).failure == "incomplete"


def test_usage_is_cumulative_and_the_last_figure_wins() -> None:
    """U01: message_start said 10 and 1, message_delta says better."""
    decoded = decode("messages", OPENING, *text_block(0, "a"), *ending("end_turn", input_tokens=61, output_tokens=2))
    assert decoded.usage == Usage(input=61, output=2)
    kept = decode("messages", OPENING, *ending("end_turn", input_tokens=None, output_tokens=7))
    assert kept.usage == Usage(input=10, output=7)


def test_cached_input_has_buckets_of_its_own() -> None:
    """U02: here input_tokens excludes the cache already."""
    used = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}
    opening = {"type": "message_start", "message": {"usage": used}}
    assert decode("messages", opening, *ending("end_turn", output_tokens=8)).usage == Usage(3, 100, 20, 8)


def test_thinking_tokens_are_not_counted_twice() -> None:
    details = {"thinking_tokens": 6}
    decoded = decode("messages", OPENING, *ending("end_turn", output_tokens=8, output_tokens_details=details))
    assert decoded.usage == Usage(input=10, output=2, reasoning=6)


def test_thinking_without_words_keeps_its_signature_and_its_place() -> None:
    """R02, R03."""
    redacted = start(1, "redacted_thinking", data="b3BhcXVl")
    decoded = run(
        start(0, "thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        redacted,
        stop(1),
        *text_block(2, "a"),
    )
    assert decoded.native == [
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "a"},
    ]
    assert decoded.message.content == [Text("a")]


def test_several_thinking_blocks_keep_their_own_signatures() -> None:
    """R04."""
    events: list[JsonObject] = []
    for index, words in ((0, "one"), (2, "two")):
        events += [
            start(index, "thinking", thinking="", signature=""),
            delta(index, "thinking_delta", thinking=words),
            delta(index, "signature_delta", signature=f"sig {words}"),
            stop(index),
            *calls(index + 1, f"c{index}", "f", "{}"),
        ]
    decoded = run(*events, reason="tool_use")
    assert [block.text for block in decoded.message.content if isinstance(block, Reasoning)] == ["one", "two"]
    assert [block["signature"] for block in decoded.native if block["type"] == "thinking"] == ["sig one", "sig two"]


def test_unsigned_thinking_and_empty_text_never_go_back() -> None:
    """R05, G06."""
    decoded = run(
        start(0, "thinking", thinking=""),
        delta(0, "thinking_delta", thinking="hm"),
        stop(0),
        start(1, "text", text=""),
        stop(1),
        *text_block(2, "a"),
    )
    assert decoded.thinking == "hm"
    assert decoded.native == [{"type": "text", "text": "a"}]
    assert decoded.message.content == [Reasoning("hm"), Text("a")]


def test_text_and_input_that_stand_in_the_start() -> None:
    decoded = run(
        start(0, "text", text="He"),
        delta(0, "text_delta", text="llo"),
        stop(0),
        start(1, "text", text="whole"),
        stop(1),
        start(2, "tool_use", id="c", name="f", input={"a": 1}),
        stop(2),
    )
    assert decoded.text == "Hellowhole"
    assert decoded.named == [("f", {"a": 1})]
    assert [block.get("text") for block in decoded.native] == ["Hello", "whole", None]


@pytest.mark.parametrize("pieces", [(), ("",), (" ",)])
def test_a_call_without_arguments(pieces: tuple[str, ...]) -> None:
    assert run(*calls(0, "c", "f", *pieces)).named == [("f", {})]


def test_eager_input_that_is_no_json_is_kept_as_valid_json() -> None:
    """V12."""
    decoded = run(*calls(0, "c", "f", '{"a": ', "oops"), reason="tool_use")
    assert decoded.calls[0].invalid is not None
    assert decoded.native[0]["input"] == {"INVALID_JSON": '{"a": oops'}


def test_tools_that_the_server_runs_are_never_ours() -> None:
    """T23, R22."""
    result = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"type": "web_search_result"}]}
    decoded = run(
        *text_block(0, "I search."),
        start(1, "server_tool_use", id="srv", name="web_search", input={}),
        delta(1, "input_json_delta", partial_json='{"query": '),
        delta(1, "input_json_delta", partial_json='"x"}'),
        stop(1),
        {"type": "content_block_start", "index": 2, "content_block": result},
        stop(2),
        *text_block(3, "Found."),
    )
    assert (decoded.calls, decoded.stop, decoded.text) == ([], "end_turn", "I search.Found.")
    assert decoded.native[1] == {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
    assert decoded.native[2] == result


def test_citations_that_begin_as_null() -> None:
    cited = {"type": "char_location", "document_title": "Doc", "cited_text": "words"}
    decoded = run(
        start(0, "text", text="", citations=None),
        delta(0, "citations_delta", citation=cited),
        delta(0, "text_delta", text="a"),
        stop(0),
    )
    assert decoded.native == [{"type": "text", "text": "a", "citations": [cited]}]
    assert Grounding([Source("Doc", None, "words")]) in decoded.message.content


@pytest.mark.parametrize("place", [0, 1, 4])
def test_an_error_event_discards_the_message(place: int) -> None:
    events = [OPENING, *text_block(0, "a"), *ending("end_turn")]
    events.insert(place, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    decoded = decode("messages", *events)
    assert decoded.failure == "overloaded"


def test_unknown_events_deltas_and_blocks_are_ignored_and_counted() -> None:
    decoded = run(
        {"type": "brand_new"},
        start(0, "brand_new_block", data=1),
        delta(0, "brand_new_delta", data=1),
        stop(0),
        *text_block(1, "a"),
    )
    assert decoded.text == "a"
    assert decoded.decoder.ignored_count == 2
    assert decoded.native[0] == {"type": "brand_new_block", "data": 1}


def test_nothing_but_usage_counts_after_the_end() -> None:
    late = [*text_block(1, "late"), {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}}]
    decoded = decode("messages", OPENING, *text_block(0, "a"), *ending("end_turn"), *late)
    assert (decoded.text, decoded.usage.output) == ("a", 9)


def test_parallel_calls_interleaved_by_index() -> None:
    decoded = run(
        start(0, "tool_use", id="c", name="f", input={}),
        start(1, "tool_use", id="d", name="g", input={}),
        delta(1, "input_json_delta", partial_json='{"b": '),
        delta(0, "input_json_delta", partial_json='{"a": 1}'),
        delta(1, "input_json_delta", partial_json="2}"),
        stop(1),
        stop(0),
        reason="tool_use",
    )
    assert decoded.named == [("f", {"a": 1}), ("g", {"b": 2})]
