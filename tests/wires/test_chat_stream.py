"""Chat Completions: text, ends, usage, sources."""

from typing import Any

import pytest
from wire_samples import call_delta, chunk
from wire_streams import decode, decode_pieces, frame

from weft.core.messages import Grounding, Image, Source, Text
from weft.core.turn import Usage
from weft.wires.request import Quirks

DONE = b"[DONE]"


def test_role_only_empty_and_absent_deltas_are_silent() -> None:
    decoded = decode(
        "chat",
        chunk({"role": "assistant", "content": ""}),
        chunk({"role": "", "content": None}),
        {"choices": [{"delta": {"content": "a"}}]},  # no role, index or finish reason ever
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": None},
        {"choices": []},
        {},
        chunk({}, "stop"),
    )
    assert (decoded.text, decoded.stop) == ("a", "end_turn")
    assert decoded.message.content == [Text("a")]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end_turn"),
        ("eos", "end_turn"),
        ("something new", "end_turn"),
        ("tool_calls", "end_turn"),  # T20: no call came
        ("length", "max_tokens"),
        ("model_length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("refusal", "refusal"),
    ],
)
def test_finish_reasons(finish: str, stop: str) -> None:
    decoded = decode("chat", chunk({"content": "a"}), chunk({}, finish), DONE)
    assert (decoded.stop, decoded.decoder.provider_stop_reason) == (stop, finish)


def test_the_finish_reason_stays_though_a_later_chunk_has_none() -> None:
    """The usage tail of some gateways has a choice with finish_reason null, or repeats it."""
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    decoded = decode(
        "chat", chunk({"content": "a"}), chunk({}, "length"), chunk({"content": ""}, None, usage=usage), DONE
    )
    assert (decoded.stop, decoded.usage) == ("max_tokens", Usage(input=3, output=1))
    assert decode("chat", chunk({"content": "a"}, "stop"), chunk({}, "stop", usage=usage)).text == "a"


def test_done_without_a_finish_reason_is_an_end_only_for_servers_known_for_it() -> None:
    assert decode("chat", chunk({"content": "a"}), DONE).failure == "incomplete"
    decoded = decode("chat", chunk({"content": "a"}), DONE, quirks=Quirks(finish_optional=True))
    assert (decoded.text, decoded.stop) == ("a", "end_turn")
    assert decode("chat", chunk({"content": "a"}), quirks=Quirks(finish_optional=True)).failure == "incomplete"


def test_a_finish_reason_without_done_is_an_end() -> None:
    assert decode("chat", chunk({"content": "a"}), chunk({}, "stop")).stop == "end_turn"


def test_after_done_only_usage_counts() -> None:
    late = chunk({"content": "more"}, usage={"prompt_tokens": 1, "completion_tokens": 2})
    decoded = decode("chat", chunk({"content": "a"}, "stop"), DONE, late)
    assert (decoded.text, decoded.usage) == ("a", Usage(input=1, output=2))
    assert decoded.decoder.done


def test_only_the_first_of_several_answers_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "length"}]}
    assert decode("chat", chunk({"content": "a"}), other, chunk({"content": "b"}), chunk({}, "stop")).text == "ab"


def test_text_repeated_beside_the_delta_is_not_read_twice() -> None:
    double = {"choices": [{"index": 0, "text": "a", "delta": {"content": "a"}, "seed": 2**70}]}
    assert decode("chat", double, chunk({}, "eos")).text == "a"


def test_comments_and_blank_lines_between_events() -> None:
    stream = b"\n\n: PROCESSING\n\n" + frame("chat", chunk({"content": "a"})) + b": PROCESSING\n\n"
    assert decode_pieces("chat", [stream, frame("chat", chunk({}, "stop"))]).text == "a"


def test_a_refusal_is_an_outcome_of_its_own() -> None:
    decoded = decode("chat", chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk({}, "stop"))
    assert decoded.message.content == [Text("I cannot.", refusal=True)]
    assert decoded.stop == "refusal"
    assert decoded.native == {"role": "assistant", "content": "", "refusal": "I cannot."}


def test_a_call_beside_a_refusal_never_runs() -> None:
    decoded = decode("chat", chunk(call_delta(0, "c", "f", "{}")), chunk({"refusal": "No."}), chunk({}, "stop"))
    assert decoded.stop == "refusal"
    assert [call.invalid and call.invalid.reason for call in decoded.calls] == ["refused"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_error_in_a_normal_chunk_discards_the_message(place: int) -> None:
    events: list[Any] = [chunk({"content": "a"}), chunk({}, "stop")]
    events.insert(place, {"error": {"code": 502, "message": "upstream"}, "choices": []})
    assert decode("chat", *events, DONE).failure == "server_error"


def test_finish_reason_error_discards_the_message() -> None:
    assert decode("chat", chunk({"content": "a"}, "error"), DONE).failure == "server_error"


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4}, Usage(input=10, output=4)),
        ({"prompt_tokens": 10, "completion_tokens": None, "total_tokens": None}, Usage(input=10)),
        (
            {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}},
            Usage(input=4, cache_read=6, output=4),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 4, "prompt_cache_hit_tokens": 7}, Usage(3, 7, output=4)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 9,
                "total_tokens": 19,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(input=10, output=4, reasoning=5),
        ),
        (  # xAI: reasoning beside the completion
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "total_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 6},
            },
            Usage(input=10, output=4, reasoning=6),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": None}, Usage(input=10, output=4)),
        ({"prompt_tokens": "10", "completion_tokens": True}, Usage()),
    ],
)
def test_usage_falls_into_disjoint_buckets(raw: dict[str, Any], usage: Usage) -> None:
    decoded = decode("chat", chunk({}, "stop"), {"choices": [], "usage": raw}, DONE)
    assert decoded.usage == usage
    assert decoded.decoder.provider_usage == raw


def test_usage_in_every_chunk_is_replaced_not_added() -> None:
    chunks = [chunk({"content": "a"}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in (1, 2, 3)]
    assert decode("chat", *chunks, chunk({}, "stop")).usage == Usage(input=9, output=3)


def test_a_later_chunk_without_usage_or_of_zeros_keeps_what_was_sent() -> None:
    """U05."""
    used = chunk({"content": "a"}, usage={"prompt_tokens": 9, "completion_tokens": 3})
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert decode("chat", used, chunk({}, "stop", usage=None), chunk({}, usage=zeros)).usage == Usage(input=9, output=3)


def test_no_usage_is_unknown_not_zero() -> None:
    assert decode("chat", chunk({"content": "a"}, "stop")).usage == Usage()


def test_usage_may_stand_in_a_field_of_the_vendor() -> None:
    groq = {"x_groq": {"id": "r", "usage": {"prompt_tokens": 9, "completion_tokens": 3}}}
    assert decode("chat", chunk({}, "stop") | groq).usage == Usage(input=9, output=3)


def test_sources_become_grounding_without_doubles() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://example.org/1", "title": "One"}}
    decoded = decode(
        "chat",
        chunk({"content": "a", "annotations": [note, note, {"type": "other"}]}),
        chunk({}, "stop", citations=["https://example.org/2"]),
    )
    sources = [Source("https://example.org/2", "https://example.org/2"), Source("One", "https://example.org/1")]
    (grounding,) = [block for block in decoded.message.content if isinstance(block, Grounding)]
    assert sorted(grounding.sources, key=lambda source: source.title) == sorted(
        sources, key=lambda source: source.title
    )


def test_a_picture_in_the_answer_is_kept() -> None:
    url = "data:image/png;base64,AAAA"
    picture = chunk({"content": "", "images": [{"type": "image_url", "image_url": {"url": url}}]})
    assert Image(media_type="image/png", data="AAAA") in decode("chat", picture, chunk({}, "stop")).message.content


def test_the_first_ids_of_the_response_are_kept() -> None:
    decoder = decode("chat", chunk({"content": "a"}), chunk({}, "stop", id="", model="other")).decoder
    assert (decoder.response_id, decoder.response_model) == ("r1", "m")
