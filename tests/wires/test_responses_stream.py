"""Responses: items, deltas, terminal events."""

import json
from typing import Any

import pytest
from wire_samples import RESPONSES, arguments, item, response
from wire_streams import decode, decode_pieces, frame

from weft.core.events import InputJsonDelta
from weft.core.json import JsonObject
from weft.core.messages import Grounding, Image, Reasoning, Source, Text
from weft.core.turn import Usage


def text(index: int, delta: str, part: int = 0) -> JsonObject:
    return {"type": "response.output_text.delta", "output_index": index, "content_index": part, "delta": delta}


def thought(index: int, delta: str, part: int = 0) -> JsonObject:
    kind = "response.reasoning_summary_text.delta"
    return {"type": kind, "output_index": index, "summary_index": part, "delta": delta}


def function(kind: str, index: int, call_id: str, name: str = "f", given: str = "") -> JsonObject:
    return item(kind, index, id=f"fc_{index}", type="function_call", call_id=call_id, name=name, arguments=given)


def test_the_items_go_back_as_they_were_done() -> None:
    done = [event["item"] for event in RESPONSES if event["type"] == "response.output_item.done"]
    assert decode("responses", *RESPONSES).native == done


def test_the_terminal_event_alone_is_enough() -> None:
    output = [
        {"id": "m1", "type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {"id": "f1", "type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
    ]
    decoded = decode("responses", response(output=output))
    assert (decoded.text, decoded.named) == ("hi", [("f", {"a": 1})])
    assert decoded.native == output


def test_the_terminal_event_does_not_repeat_what_was_sent() -> None:
    output = [event["item"] for event in RESPONSES if event["type"] == "response.output_item.done"]
    decoded = decode("responses", *RESPONSES[:-1], response(output=output))
    assert decoded.text == "Let me look \U0001f600"
    assert len(decoded.calls) == 2


def test_a_call_without_any_argument_delta() -> None:
    done = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a": 1}'}
    decoded = decode(
        "responses", function("added", 0, "c"), done, function("done", 0, "c", given='{"a": 1}'), response()
    )
    assert decoded.named == [("f", {"a": 1})]
    assert "".join(event.partial_json for event in decoded.events if isinstance(event, InputJsonDelta)) == '{"a": 1}'


def test_the_final_arguments_win_over_the_deltas() -> None:
    decoded = decode(
        "responses",
        function("added", 0, "c"),
        arguments(0, '{"a": 0'),
        function("done", 0, "c", given='{"a": 1}'),
        response(),
        ordered=False,
    )
    assert decoded.calls[0].input == {"a": 1}
    assert decoded.calls[0].invalid is None


def test_events_may_name_the_item_instead_of_its_place() -> None:
    call = {"id": "f1", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    decoded = decode(
        "responses",
        {"type": "response.output_item.added", "item": call},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": '{"a": 1}'},
        {"type": "response.output_item.done", "item": call | {"arguments": '{"a": 1}'}},
        response(),
    )
    assert decoded.named == [("f", {"a": 1})]


def test_a_truncated_response_runs_nothing() -> None:
    cut = response("incomplete", incomplete_details={"reason": "max_output_tokens"})
    decoded = decode("responses", function("added", 0, "c"), arguments(0, '{"x": 48'), cut)
    assert (decoded.stop, decoded.decoder.provider_stop_reason) == ("max_tokens", "incomplete:max_output_tokens")
    assert decoded.calls[0].invalid is not None
    assert decoded.calls[0].invalid.reason == "truncated"
    assert json.loads(decoded.native[0]["arguments"]) == {"INVALID_JSON": '{"x": 48'}


@pytest.mark.parametrize(
    ("details", "stop", "reason"),
    [
        ({"reason": "content_filter"}, "content_filter", "filtered"),
        ({"reason": "max_tokens"}, "max_tokens", "truncated"),
        ({}, "max_tokens", "truncated"),
        (None, "max_tokens", "truncated"),
    ],
)
def test_whole_calls_of_an_incomplete_response_run_no_more_than_cut_ones(details: Any, stop: str, reason: str) -> None:
    cut = response("incomplete", incomplete_details=details)
    decoded = decode("responses", function("done", 0, "c", given="{}"), cut)
    assert decoded.stop == stop
    assert [call.invalid and call.invalid.reason for call in decoded.calls] == [reason]


def test_an_incomplete_reason_nobody_knows_still_runs_nothing() -> None:
    cut = response("incomplete", incomplete_details={"reason": "something new"})
    decoded = decode("responses", function("done", 0, "c", given="{}"), cut)
    assert decoded.calls[0].invalid is not None


def test_an_error_and_a_failure_are_reported_once() -> None:
    error = {"type": "error", "error": {"type": "insufficient_quota", "message": "pay"}}
    failed = response("failed", error={"code": "server_error", "message": "other"})
    decoded = decode("responses", RESPONSES[0], error, failed)
    assert decoded.failure == "quota_exhausted"
    assert [event.type for event in decoded.events] == ["message_start", "message_discarded"]


def test_an_error_may_be_flat() -> None:
    assert (
        decode("responses", {"type": "error", "code": "rate_limit_exceeded", "message": "slow"}).failure
        == "rate_limited"
    )


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_failed_response_is_discarded(status: str) -> None:
    failed = {"type": "response.failed", "response": {"status": status, "error": None}}
    decoded = decode("responses", text(0, "a"), failed)
    assert decoded.failure == "server_error"


def test_pings_and_unknown_progress_are_no_content() -> None:
    decoded = decode(
        "responses",
        {"type": "keepalive"},
        {"type": "response.some_tool.searching"},
        text(0, "a"),
        response(),
        {"type": "ping"},
        text(0, "late"),
    )
    assert decoded.text == "a"
    assert decoded.decoder.ignored_count == 0
    assert decode("responses", {"type": "brand.new"}, text(0, "a"), response()).decoder.ignored_count == 1


def test_the_type_may_stand_only_in_the_event_line() -> None:
    raw = b'event: response.output_text.delta\ndata: {"output_index": 0, "delta": "a"}\n\n'
    assert decode_pieces("responses", [raw, frame("responses", response())]).text == "a"


def test_summary_parts_are_paragraphs() -> None:
    decoded = decode("responses", thought(0, "a"), thought(0, "b"), thought(0, "c", part=1), text(1, "d"), response())
    assert decoded.message.content == [Reasoning("ab\n\nc"), Text("d")]


def test_the_thinking_of_a_second_item_begins_a_block_of_its_own() -> None:
    decoded = decode(
        "responses",
        item("added", 0, id="r0", type="reasoning", summary=[]),
        thought(0, "one"),
        item("done", 0, id="r0", type="reasoning", summary=[]),
        function("done", 1, "c", given="{}"),
        item("added", 2, id="r2", type="reasoning", summary=[]),
        thought(2, "two"),
        response(),
    )
    assert [block.text.strip() for block in decoded.message.content if isinstance(block, Reasoning)] == ["one", "two"]


def test_thinking_that_only_the_done_item_holds() -> None:
    done = item("done", 0, id="r", type="reasoning", summary=[{"text": "a"}, {"text": "b"}], encrypted_content="x")
    decoded = decode("responses", done, text(1, "c"), response())
    assert decoded.thinking == "a\n\nb"
    assert decoded.native[0] == done["item"]


def test_a_reasoning_item_without_a_summary_is_kept() -> None:
    """R08: the item must stand before what it belongs to, empty or not."""
    decoded = decode(
        "responses",
        item("done", 0, id="r", type="reasoning", summary=[], encrypted_content="x"),
        function("done", 1, "c", given="{}"),
        response(),
    )
    assert [one["type"] for one in decoded.native] == ["reasoning", "function_call"]
    assert decoded.native[0]["summary"] == []


def test_a_refusal_is_an_outcome_of_its_own() -> None:
    refusal = {"type": "response.refusal.delta", "output_index": 0, "delta": "I cannot."}
    done = item("done", 0, id="m", type="message", content=[{"type": "refusal", "refusal": "I cannot."}])
    decoded = decode("responses", refusal, done, response())
    assert decoded.message.content == [Text("I cannot.", refusal=True)]
    assert decoded.stop == "refusal"


def test_text_that_the_deltas_left_out_is_made_up() -> None:
    done = item("done", 0, id="m", type="message", content=[{"type": "output_text", "text": "hello"}])
    assert decode("responses", text(0, "hel"), done, response()).text == "hello"
    assert decode("responses", done, response()).text == "hello"


def test_several_parts_of_one_message_are_reported_once() -> None:
    parts = [{"type": "output_text", "text": "one"}, {"type": "output_text", "text": "two"}]
    done = item("done", 0, id="m", type="message", content=parts)
    assert decode("responses", text(0, "one", 0), text(0, "two", 1), done, response()).text == "onetwo"
    assert decode("responses", done, response()).text == "onetwo"


def test_a_tool_that_has_free_text() -> None:
    done = item("done", 0, id="ct", type="custom_tool_call", call_id="c", name="patch", input='say "hi"\n')
    delta = {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": 'say "'}
    added = item("added", 0, id="ct", type="custom_tool_call", call_id="c", name="patch", input="")
    decoded = decode("responses", added, delta, done, response())
    assert decoded.named == [("patch", {"input": 'say "hi"\n'})]
    assert decoded.native == [done["item"]]
    assert decode("responses", done, response()).named == decoded.named


def test_tools_that_the_server_ran_are_not_calls() -> None:
    search = item("done", 0, id="ws", type="web_search_call", status="completed", action={"query": "x"})
    decoded = decode("responses", search, text(1, "found"), response())
    assert (decoded.calls, decoded.stop) == ([], "end_turn")
    assert decoded.native[0] == search["item"]


def test_sources_and_pictures() -> None:
    note = {"type": "url_citation", "url": "https://example.org", "title": "One"}
    added = {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": note}
    picture = item("done", 1, id="ig", type="image_generation_call", result="AAAA", output_format="webp")
    decoded = decode("responses", text(0, "a"), added, picture, response())
    assert Grounding([Source("One", "https://example.org")]) in decoded.message.content
    assert Image(media_type="image/webp", data="AAAA") in decoded.message.content


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"input_tokens": 10, "output_tokens": 4}, Usage(input=10, output=4)),
        (
            {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 8},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 19,
            },
            Usage(input=2, cache_read=8, output=4, reasoning=5),
        ),
        (None, Usage()),
    ],
)
def test_usage_falls_into_disjoint_buckets(raw: Any, usage: Usage) -> None:
    assert decode("responses", text(0, "a"), response(usage=raw)).usage == usage


def test_the_legacy_wrapper_becomes_real_calls_that_can_go_back() -> None:
    uses: list[JsonObject] = [
        {"recipient_name": "functions.f", "parameters": {"a": 1}},
        {"recipient_name": "functions.g", "parameters": {}},
    ]
    wrapped = function("done", 0, "c", "multi_tool_use.parallel", json.dumps({"tool_uses": uses}))
    decoded = decode("responses", wrapped, response())
    assert decoded.named == [("f", {"a": 1}), ("g", {})]
    assert [one["name"] for one in decoded.native] == ["f", "g"]
    empty = function("done", 0, "c", "multi_tool_use.parallel", '{"tool_uses": []}')
    assert decode("responses", empty, text(1, "a"), response()).calls == []
