"""Chat Completions: calls put together from what real servers send (T01 to T22, V01 to V09)."""

import json
from typing import Any

import pytest
from wire_samples import call_delta, chunk
from wire_streams import Decoded, decode

from heald.core.events import InputJsonDelta, ToolUseContentBlockStart
from heald.core.json import JsonObject
from heald.core.messages import Text


def run(*deltas: JsonObject, finish: str = "tool_calls") -> Decoded:
    return decode("chat", *map(chunk, deltas), chunk({}, finish), b"[DONE]")


A, B = {"a": 1}, {"b": 2}


def test_parallel_calls_interleaved_by_index() -> None:
    decoded = run(
        call_delta(0, "x", "f", ""),
        call_delta(1, "y", "g", '{"b"'),
        call_delta(0, arguments='{"a": '),
        call_delta(1, arguments=": 2}"),
        call_delta(0, arguments="1}"),
    )
    assert decoded.named == [("f", A), ("g", B)]
    assert [call.id for call in decoded.calls] == ["x", "y"]


def test_nothing_beside_more_arguments_is_lost() -> None:
    """An event with nothing but more arguments is read on a short way; one with anything else is not."""
    begin = chunk(call_delta(0, "x", "f", '{"a"'))
    counts = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    more = call_delta(0, arguments=": 1}")
    assert decode("chat", begin, chunk(more, "tool_calls")).named == [("f", A)]
    decoded = decode("chat", begin, chunk(more, usage=counts), chunk({}, "tool_calls"), b"[DONE]")
    assert (decoded.named, decoded.usage.output) == ([("f", A)], 3)
    both = {"content": "So.", "reasoning_content": "Hm."} | more
    decoded = decode("chat", begin, chunk(both), chunk({}, "tool_calls"), b"[DONE]")
    assert (decoded.named, decoded.text, decoded.thinking) == ([("f", A)], "So.", "Hm.")
    second = {"tool_calls": [*more["tool_calls"], *call_delta(1, arguments='{"b": 2}')["tool_calls"]]}
    begins = chunk(
        {"tool_calls": [*call_delta(0, "x", "f", '{"a"')["tool_calls"], *call_delta(1, "y", "g")["tool_calls"]]}
    )
    assert decode("chat", begins, chunk(second), chunk({}, "tool_calls"), b"[DONE]").named == [("f", A), ("g", B)]
    failed = decode("chat", begin, chunk(more, error={"message": "overloaded"}))
    assert "overloaded" in str(failed.decoder.error)


def test_one_index_for_several_calls_with_ids_of_their_own() -> None:
    """T02: every call says index 0, and every chunk says it is the last."""
    chunks = [chunk(call_delta(0, f"id{n}", "f", json.dumps({"n": n})), "tool_calls") for n in range(15)]
    assert decode("chat", *chunks).named == [("f", {"n": n}) for n in range(15)]


def test_fragments_with_only_a_reused_index_belong_to_its_latest_call() -> None:
    decoded = run(
        call_delta(0, "x", "f", '{"a":'),
        call_delta(0, arguments=" 1}"),
        call_delta(0, "y", "g", ""),
        call_delta(0, arguments='{"b": 2}'),
    )
    assert decoded.named == [("f", A), ("g", B)]


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_a_finish_reason_between_two_calls_ends_nothing(finish: str) -> None:
    decoded = decode(
        "chat",
        chunk(call_delta(0, "x", "f", '{"a": 1')),
        chunk(call_delta(0, arguments="}"), finish),
        chunk(call_delta(1, "y", "g", '{"b": 2}')),
        chunk({}, finish),
    )
    assert decoded.named == [("f", A), ("g", B)]
    assert decoded.stop == "tool_use"


def test_without_an_index_the_id_reports_and_else_the_latest_call() -> None:
    decoded = run(
        call_delta(None, "x", "f", '{"a"'),
        call_delta(None, arguments=": 1}"),
        call_delta(None, "y", "g", '{"b": '),
        call_delta(None, "y", arguments="2}"),
    )
    assert decoded.named == [("f", A), ("g", B)]


@pytest.mark.parametrize("indexes", [(1, 2), (3, 9), (5, 0)])
def test_sparse_indexes_keep_no_holes(indexes: tuple[int, int]) -> None:
    first, second = indexes
    decoded = run(call_delta(first, "x", "f", '{"a": 1}'), call_delta(second, "y", "g", '{"b": 2}'))
    assert decoded.named == [("f", A), ("g", B)]


@pytest.mark.parametrize("call_id", [None, ""])
def test_a_missing_id_is_made_up_once(call_id: str | None) -> None:
    decoded = run(
        call_delta(0, call_id, "f", '{"a":'),
        call_delta(0, call_id, arguments=" 1}"),
        call_delta(1, call_id, "g", '{"b": 2}'),
    )
    assert decoded.named == [("f", A), ("g", B)]
    first, second = decoded.calls
    assert first.id != second.id
    starts = [event for event in decoded.events if isinstance(event, ToolUseContentBlockStart)]
    assert [start.id for start in starts] == [first.id, second.id]
    assert [call["id"] for call in decoded.native["tool_calls"]] == [first.id, second.id]


def test_id_and_name_repeated_in_every_fragment_are_set_once() -> None:
    decoded = run(*(call_delta(0, "0", "f", piece) for piece in ("", '{"a"', ": 1}")))
    assert decoded.named == [("f", A)]
    assert decoded.calls[0].id == "0"


def test_a_name_in_pieces_is_joined_before_the_arguments_begin() -> None:
    decoded = run(
        call_delta(0, "x", "read"), call_delta(0, name="read_fi"), call_delta(0, name="read_file", arguments="{}")
    )
    assert decoded.named == [("read_file", {})]
    decoded = run(call_delta(0, "x", "read"), call_delta(0, name="_file"), call_delta(0, arguments="{}"))
    assert decoded.named == [("read_file", {})]


def test_an_empty_or_null_name_in_later_fragments_changes_nothing() -> None:
    null: JsonObject = {
        "tool_calls": [{"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": None}}]
    }
    decoded = run(call_delta(0, "x", "f", ""), null, call_delta(0, name="", arguments='{"a": 1}'), null)
    assert decoded.named == [("f", A)]


def test_a_name_that_comes_after_the_first_arguments() -> None:
    """T10: the start waits for the name, and then nothing of the arguments is missing."""
    decoded = run(
        call_delta(0, "x", arguments='{"a"'),
        call_delta(0, name="f"),
        call_delta(0, arguments=": 1}"),
    )
    assert decoded.named == [("f", A)]
    arguments = "".join(event.partial_json for event in decoded.events if isinstance(event, InputJsonDelta))
    assert json.loads(arguments) == A


def test_a_name_that_comes_after_the_id() -> None:
    decoded = run(call_delta(0, "x"), call_delta(0, name="f"), call_delta(0, arguments='{"a": 1}'))
    assert decoded.named == [("f", A)]


def test_one_id_for_two_calls_stays_two_calls() -> None:
    decoded = run(call_delta(0, "x", "f", '{"a": 1}'), call_delta(1, "x", "g", '{"b": 2}'))
    assert decoded.named == [("f", A), ("g", B)]
    first, second = decoded.calls
    assert (first.id, second.wire_id) == ("x", "x")
    assert second.id != "x"


def test_arguments_after_the_finish_reason_still_count() -> None:
    decoded = decode(
        "chat", chunk(call_delta(0, "x", "f", '{"a"'), "tool_calls"), chunk(call_delta(0, arguments=": 1}"))
    )
    assert decoded.named == [("f", A)]


def test_a_parsable_beginning_is_not_the_end() -> None:
    """T13: only the end of the stream decides."""
    decoded = run(call_delta(0, "x", "f", '{"a":1}'), call_delta(0, arguments=" garbage"))
    assert decoded.calls[0].invalid is not None
    assert run(call_delta(0, "x", "f", "{}"), call_delta(0, arguments=" \n")).named == [("f", {})]


def test_a_second_finish_chunk_does_not_double_the_calls() -> None:
    call = chunk(call_delta(0, "x", "f", "{}"))
    assert decode("chat", call, chunk({}, "tool_calls"), chunk({}, "tool_calls", usage={"prompt_tokens": 1})).named == [
        ("f", {})
    ]


@pytest.mark.parametrize("finish", ["stop", "end_turn", "eos", "eos_token", "stop_sequence", "STOP"])
def test_calls_run_whatever_word_ends_them_well(finish: str) -> None:
    decoded = run(call_delta(0, "x", "f", "{}"), finish=finish)
    assert (decoded.named, decoded.stop) == ([("f", {})], "tool_use")


@pytest.mark.parametrize(
    ("finish", "stop", "reason"),
    [
        ("length", "max_tokens", "truncated"),
        ("something new", "max_tokens", "truncated"),
        ("content_filter", "content_filter", "filtered"),
        ("refusal", "refusal", "refused"),
    ],
)
@pytest.mark.parametrize("arguments", ['{"a": 1}', '{"a": '])
def test_no_call_of_a_message_that_was_cut_runs(finish: str, stop: str, reason: str, arguments: str) -> None:
    decoded = run(call_delta(0, "x", "f", "{}"), call_delta(1, "y", "g", arguments), finish=finish)
    assert decoded.stop == stop
    assert [call.invalid and call.invalid.reason for call in decoded.calls] == [reason, reason]


def test_malformed_arguments_go_back_as_valid_json() -> None:
    decoded = run(call_delta(0, "x", "f", '{"a": oops}'))
    invalid = decoded.calls[0].invalid
    assert invalid is not None
    assert (invalid.reason, invalid.raw) == ("malformed", '{"a": oops}')
    assert json.loads(decoded.native["tool_calls"][0]["function"]["arguments"]) == {"INVALID_JSON": '{"a": oops}'}


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    assert run(call_delta(0, "x", "f", arguments)).named == [("f", {})]


@pytest.mark.parametrize("arguments", [A, json.dumps(json.dumps(A))])
def test_arguments_as_an_object_or_encoded_twice(arguments: Any) -> None:
    assert run(call_delta(0, "x", "f", arguments)).named == [("f", A)]


def test_text_before_a_call_is_narration_and_blank_text_is_not_replayed() -> None:
    decoded = run({"content": "Looking."}, call_delta(0, "x", "f", "{}"))
    assert decoded.message.content[0] == Text("Looking.")
    assert decoded.native["content"] == "Looking."
    assert run({"content": ""}, call_delta(0, "x", "f", "{}")).native["content"] is None


def test_text_after_a_call_without_arguments_keeps_its_place() -> None:
    decoded = run(call_delta(0, "x", "f", ""), {"content": "Done."})
    assert decoded.named == [("f", {})]
    assert decoded.text == "Done."


def test_the_old_function_call_field() -> None:
    deltas = [{"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": '{"a": 1}'}}]
    assert run(*deltas, finish="function_call").named == [("f", A)]


def test_whole_calls_without_index_and_id_stay_apart() -> None:
    first = {"tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]}
    second = {"tool_calls": [{"function": {"name": "g", "arguments": '{"b": 2}'}}]}
    assert run(first, second).named == [("f", A), ("g", B)]
    assert run(first, first).named == [("f", A), ("f", A)]


def test_the_legacy_wrapper_becomes_real_calls() -> None:
    uses = [{"recipient_name": "functions.f", "parameters": A}, {"recipient_name": "functions.g", "parameters": B}]
    decoded = run(call_delta(0, "x", "multi_tool_use.parallel", json.dumps({"tool_uses": uses})))
    assert decoded.named == [("f", A), ("g", B)]
    assert [call["function"]["name"] for call in decoded.native["tool_calls"]] == ["f", "g"]


def test_an_empty_legacy_wrapper_is_a_message_without_calls() -> None:
    decoded = run({"content": "a"}, call_delta(0, "x", "multi_tool_use.parallel", '{"tool_uses": []}'))
    assert (decoded.calls, decoded.stop) == ([], "end_turn")


@pytest.mark.parametrize("name", ["constructor", "__class__", "toString", "bad name!"])
def test_odd_names_are_kept_and_made_legal_on_return(name: str) -> None:
    decoded = run(call_delta(0, "x", name, "{}"))
    assert decoded.calls[0].name == name
    assert decoded.native["tool_calls"][0]["function"]["name"] == name.replace(" ", "_").replace("!", "_")


def test_markup_in_the_text_is_text() -> None:
    markup = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    decoded = run({"content": markup}, finish="stop")
    assert (decoded.text, decoded.calls) == (markup, [])
