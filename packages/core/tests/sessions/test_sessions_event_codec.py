"""Events in their stored form: small, and whole again."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.envelope import Event
from heald.core.events import AssistantMessage, ConversationQueued, UserMessage
from heald.core.json import encode
from heald.core.messages import Image, Message, Text, ToolCall, ToolResult, user_message
from heald.sessions.event_codec import MAX_EVENT_BYTES, MAX_TEXT, decode_stored, encode_stored
from sessions_bench import event

texts = st.one_of(
    st.text(st.characters(), max_size=20),
    st.tuples(st.text(st.characters(), min_size=1, max_size=4), st.integers(1, 200_000)).map(lambda t: t[0] * t[1]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=6), inner, max_size=5)),
    max_leaves=12,
)
inputs = st.dictionaries(st.text(max_size=6), values, max_size=4)


def round_trip(of: Event) -> Event:
    form = encode_stored(of)
    assert len(form.body) <= MAX_EVENT_BYTES
    return decode_stored(form.body, form.refs, form.blobs.__getitem__)


@given(inputs, texts)
@settings(deadline=None)
def test_any_event_is_small_and_comes_back_whole(arguments: dict[str, Any], text: str) -> None:
    call = ToolCall(id="c", name="t", input=arguments)
    message = Message(role="assistant", content=[Text(text), Image(data=text), call], id="m")
    for payload in (call, AssistantMessage(message), ToolResult(id="c", status="ok", content=text)):
        given_event = event("ses", 1, payload)
        assert round_trip(given_event) == given_event


def test_very_many_small_things_go_out_whole() -> None:
    given_event = event("ses", 1, ToolCall(id="c", name="t", input={"rows": list(range(500_000))}))
    assert round_trip(given_event) == given_event


def test_what_looks_like_a_reference_is_content() -> None:
    tricky = {"refs": [[["data"], "0" * 64]], "$blob": "0" * 64, "big": "x" * (MAX_EVENT_BYTES + 1)}
    given_event = event("ses", 1, ToolCall(id="c", name="t", input=tricky))
    assert round_trip(given_event) == given_event


def test_a_small_event_is_its_json() -> None:
    given_event = event("ses", 1, ConversationQueued(1))
    form = encode_stored(given_event)
    assert (form.body, form.refs, form.blobs) == (encode(given_event), None, {})


def test_a_picture_goes_out_of_an_event_that_is_not_large() -> None:
    form = encode_stored(event("ses", 1, UserMessage(user_message(Image(data="A" * (MAX_TEXT + 1))))))
    assert list(form.blobs.values()) == [b"A" * (MAX_TEXT + 1)]
