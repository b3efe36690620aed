"""Gemini: parts, signatures, streamed arguments, both framings."""

import json
from typing import Any

import pytest
from wire_samples import GEMINI, parts
from wire_streams import decode, decode_pieces, frame

from weft.core.json import JsonObject
from weft.core.messages import Grounding, Image, Reasoning, Source, Text
from weft.core.turn import Usage

END = parts(finish="STOP")


def call(name: str | None = None, **fields: Any) -> JsonObject:
    return {"functionCall": ({"name": name} if name else {}) | fields}


def piece(path: str, more: bool = False, **value: Any) -> JsonObject:
    return {"jsonPath": path} | value | ({"willContinue": True} if more else {})


def test_the_parts_go_back_joined_with_their_signatures() -> None:
    assert decode("gemini", *GEMINI).native == [
        {"text": "hm, ü", "thought": True},
        {"text": "Let me look \U0001f600"},
        {"functionCall": {"name": "read", "args": {"path": "ä"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "list", "args": {"all": True}}},
    ]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("step", [1, 5, 100_000])
def test_one_array_reads_as_events_do(indent: int | None, step: int) -> None:
    raw = json.dumps(GEMINI, indent=indent).encode()
    decoded = decode_pieces("gemini", [raw[at : at + step] for at in range(0, len(raw), step)])
    assert decoded.named == decode("gemini", *GEMINI).named
    assert decoded.text == "Let me look \U0001f600"
    cut = raw[: raw.rindex(b"STOP")]
    assert decode_pieces("gemini", [cut]).failure in ("incomplete", "malformed_response")


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", "end_turn"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("OTHER", "end_turn"),
        ("SOMETHING_NEW", "end_turn"),
    ],
)
def test_finish_reasons(finish: str, stop: str) -> None:
    assert decode("gemini", parts({"text": "a"}, finish=finish)).stop == stop


@pytest.mark.parametrize(("finish", "why"), [("MAX_TOKENS", "truncated"), ("SAFETY", "filtered")])
def test_no_call_of_a_message_that_was_cut_runs(finish: str, why: str) -> None:
    decoded = decode("gemini", parts(call("f", args={"a": 1}), call("g"), finish=finish))
    assert [one.invalid and one.invalid.reason for one in decoded.calls] == [why, why]


@pytest.mark.parametrize("finish", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_call_that_the_api_itself_could_not_read_is_retried(finish: str) -> None:
    """R21."""
    decoded = decode("gemini", parts({"text": "a"}), parts(finish=finish))
    assert decoded.failure == "malformed_response"
    assert decoded.decoder.error is not None
    assert decoded.decoder.error.retryable


def test_a_blocked_prompt_is_a_typed_outcome() -> None:
    decoded = decode("gemini", {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}})
    assert (decoded.stop, decoded.message.content, decoded.usage) == ("content_filter", [], Usage(input=4))
    assert decode("gemini", {"promptFeedback": {"blockReason": "NEW_WORD"}}).stop == "content_filter"


def test_an_empty_candidate_is_no_end() -> None:
    assert decode("gemini", {"candidates": [{"content": {}}]}).failure == "incomplete"
    assert decode("gemini", parts(finish="FINISH_REASON_UNSPECIFIED")).failure == "incomplete"


def test_arguments_streamed_as_values_at_paths() -> None:
    decoded = decode(
        "gemini",
        parts(call("book", willContinue=True) | {"thoughtSignature": "c2ln"}),
        parts(call(partialArgs=[piece("$.city", more=True, stringValue="Os")], willContinue=True)),
        parts(call(partialArgs=[piece("$.city", more=True, stringValue="lo")], willContinue=True)),
        parts(call(partialArgs=[piece("$.city", stringValue="")], willContinue=True)),
        parts(call(partialArgs=[piece("$.nights", numberValue=2), piece("$.vip", boolValue=True)], willContinue=True)),
        parts(call()),
        END,
    )
    assert decoded.named == [("book", {"city": "Oslo", "nights": 2, "vip": True})]
    assert decoded.native == [
        {
            "functionCall": {"name": "book", "args": {"city": "Oslo", "nights": 2, "vip": True}},
            "thoughtSignature": "c2ln",
        }
    ]


@pytest.mark.parametrize("after", [[], [parts({"text": "so"})], [parts(call("g", args={}))]])
def test_streamed_arguments_end_though_their_terminator_is_missing(after: list[JsonObject]) -> None:
    decoded = decode(
        "gemini",
        parts(call("f", willContinue=True)),
        parts(call(partialArgs=[piece("$.ops[0].price", numberValue=0.3)], willContinue=True)),
        *after,
        END,
    )
    assert decoded.named[0] == ("f", {"ops": [{"price": 0.3}]})


def test_streamed_calls_one_after_the_other() -> None:
    decoded = decode(
        "gemini",
        parts(call("f", willContinue=True)),
        parts(call(partialArgs=[piece("$.a", numberValue=1)], willContinue=True)),
        parts(call()),
        parts(call("g", partialArgs=[piece("$.b", stringValue="x")], willContinue=True)),
        parts(call()),
        parts(call("none", willContinue=True)),
        parts(call()),
        END,
    )
    assert decoded.named == [("f", {"a": 1}), ("g", {"b": "x"}), ("none", {})]


def test_a_call_without_arguments() -> None:
    assert decode("gemini", parts(call("f"), finish="STOP")).named == [("f", {})]
    assert decode("gemini", parts(call("f", args=None), finish="STOP")).named == [("f", {})]


def test_two_calls_of_one_tool_stay_two_and_ids_of_the_api_are_kept() -> None:
    decoded = decode("gemini", parts(call("f", args={}), call("f", args={}, id="abc"), finish="STOP"))
    one, two = decoded.calls
    assert one.id != two.id
    assert two.id == "abc"
    assert [part["functionCall"].get("id") for part in decoded.native] == [None, "abc"]


def test_signatures_on_calls_on_text_and_on_empty_text_are_kept() -> None:
    """R06."""
    decoded = decode(
        "gemini",
        parts({"text": "a", "thought": True}),
        parts({"text": "b"}),
        parts({"text": "c", "thoughtSignature": "one"}),
        parts({"text": "d"}),
        parts({"text": "", "thoughtSignature": "two"}),
        END,
    )
    assert decoded.native == [
        {"text": "a", "thought": True},
        {"text": "bc", "thoughtSignature": "one"},
        {"text": "d"},
        {"text": "", "thoughtSignature": "two"},
    ]
    assert decoded.message.content == [Reasoning("a"), Text("bcd")]


def test_usage_that_goes_down_is_merged_field_by_field() -> None:
    decoded = decode(
        "gemini",
        parts(
            {"text": "a"}, usageMetadata={"promptTokenCount": 20, "candidatesTokenCount": 3, "thoughtsTokenCount": 9}
        ),
        parts({"text": "b"}, usageMetadata={"promptTokenCount": 20}),
        parts(finish="STOP", usageMetadata={"promptTokenCount": 21, "candidatesTokenCount": 5}),
    )
    assert decoded.usage == Usage(input=21, output=5, reasoning=9)


def test_cached_and_tool_input_are_counted_once() -> None:
    raw = {"promptTokenCount": 20, "cachedContentTokenCount": 15, "toolUsePromptTokenCount": 4}
    assert decode("gemini", parts(finish="STOP", usageMetadata=raw)).usage == Usage(input=9, cache_read=15)


def test_a_bare_error_in_the_middle_of_events() -> None:
    error = json.dumps({"error": {"code": 499, "message": "gone", "status": "CANCELLED"}}, indent=2).encode()
    stream = frame("gemini", parts({"text": "a"})) + error
    assert decode_pieces("gemini", [stream]).failure == "server_error"
    assert decode_pieces("gemini", [bytes([byte]) for byte in stream]).failure == "server_error"


@pytest.mark.parametrize(("code", "failure"), [(429, "rate_limited"), (503, "overloaded"), (500, "server_error")])
def test_an_error_as_an_event_or_as_an_element(code: int, failure: str) -> None:
    events: list[Any] = [parts({"text": "a"}), {"error": {"code": code, "message": "no"}}]
    assert decode("gemini", *events).failure == failure
    assert decode_pieces("gemini", [json.dumps(events).encode()]).failure == failure


def test_only_the_first_candidate_is_read() -> None:
    both = {
        "candidates": [
            {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"},
            {"index": 1, "content": {"parts": [{"text": "B"}]}},
        ]
    }
    assert decode("gemini", both).text == "a"


def test_code_that_the_server_ran_is_kept_in_its_place() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    decoded = decode("gemini", parts({"text": "a"}, code), parts(result, {"text": "b"}), END)
    assert decoded.native == [{"text": "a"}, code, result, {"text": "b"}]
    assert decoded.message.content == [Text("a"), Text("b")]


def test_pictures_and_sources() -> None:
    picture = {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}, "thoughtSignature": "c2ln"}
    grounding = {"groundingChunks": [{"web": {"uri": "https://example.org", "title": "One"}}, {}]}
    last = {"candidates": [{"finishReason": "STOP", "groundingMetadata": grounding}]}
    decoded = decode("gemini", parts(picture), last)
    assert decoded.message.content == [
        Image(media_type="image/webp", data="AAAA"),
        Grounding([Source("One", "https://example.org")]),
    ]
    assert decoded.native == [picture]
