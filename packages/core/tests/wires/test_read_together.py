"""Events of which nobody wants to see each: more of the open text is read as one piece, and nothing else changes."""

from random import Random

import msgspec
import pytest

from heald.core.events import InputJsonDelta, TextDelta
from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.testing.streams import sse_event, wire_stream
from heald.wires.decoder import Decoder
from heald.wires.registry import WIRES

_WORDS = [f"word{number} " for number in range(60)]
_TEXT_WIRES = ("chat", "responses", "messages", "gemini")


def read(decoder: Decoder, pieces: list[bytes], join_from: int) -> list[Payload]:
    decoder.join_from = join_from
    payloads = decoder.open()
    for piece in pieces:
        payloads += decoder.feed(piece)
    return payloads + decoder.close()


def decoder_of(wire: str) -> Decoder:
    return WIRES[wire].decoder("msg_1", provider="p", model="m")


def text_of(payloads: list[Payload]) -> list[str]:
    return [payload.text for payload in payloads if isinstance(payload, TextDelta)]


@pytest.mark.parametrize("wire", list(WIRES))
def test_the_message_is_the_same_however_it_is_read(wire: str) -> None:
    calls = [ToolCall(id="call_1", name="add", input={"a": 1})]
    data = b"".join(wire_stream(wire, text=_WORDS, thinking=["Hm. ", "So."], calls=calls))
    reference = decoder_of(wire)
    one_by_one = read(reference, [data], 1_000_000)
    random = Random(7)
    for size in (len(data), 1, *(random.randint(20, 2000) for _ in range(8))):
        decoder = decoder_of(wire)
        joined = read(decoder, [data[at : at + size] for at in range(0, len(data), size)], 1)
        assert (decoder.message, decoder.usage, decoder.provider_usage) == (
            reference.message,
            reference.usage,
            reference.provider_usage,
        )
        assert "".join(text_of(joined)) == "".join(text_of(one_by_one)) == "".join(_WORDS)


@pytest.mark.parametrize("wire", _TEXT_WIRES)
def test_events_with_text_alone_are_decoded_as_such(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one opens the text; all others but the last ones go the short way."""
    decoder = decoder_of(wire)
    texts: list[str] = []
    add = type(decoder)._add_open_text  # pyright: ignore[reportPrivateUsage]

    def note(decoder: Decoder, text: str) -> None:
        texts.append(text)
        add(decoder, text)

    monkeypatch.setattr(type(decoder), "_add_open_text", note)
    payloads = read(decoder, [b"".join(wire_stream(wire, text=_WORDS))], 17)
    assert text_of(payloads) == ["".join(_WORDS)]
    assert "".join(_WORDS[1:-1]) in texts[-1]


def test_fewer_events_than_said_stay_as_they_are() -> None:
    decoder = decoder_of("chat")
    assert text_of(read(decoder, [b"".join(wire_stream("chat", text=["a", "b", "c"]))], 17)) == ["a", "b", "c"]


def chunk(**delta: object) -> bytes:
    return sse_event({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]})


@pytest.mark.parametrize(
    ("odd", "text"),
    [
        (chunk(content="x", reasoning="why"), "abxcd"),
        (chunk(content="x", refusal="no"), "abxnocd"),
        (chunk(content=[{"type": "text", "text": "x"}]), "abxcd"),
        (sse_event({"choices": [{"index": 1, "delta": {"content": "other"}}]}), "abcd"),
        (sse_event({"choices": [], "usage": {"prompt_tokens": 7}}), "abcd"),
        (sse_event('{"choices":[{"delta":{"content":"\\ud83d"}}]}'), "abcd"),
        (sse_event('{"choices":[{"delta":{"content":"\\ud83d\\ude00"}}]}'), "ab\U0001f600cd"),
    ],
    ids=["thinking", "refusal", "parts", "other-choice", "usage", "half-a-pair", "pair"],
)
def test_an_event_with_more_than_text_is_read_by_itself(odd: bytes, text: str) -> None:
    data = chunk(content="a") + chunk(content="b") + odd + chunk(content="c") + chunk(content="d")
    data += sse_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + sse_event("[DONE]")
    reference, decoder = decoder_of("chat"), decoder_of("chat")
    one_by_one, joined = read(reference, [data], 1000), read(decoder, [data], 1)
    assert "".join(text_of(joined)) == "".join(text_of(one_by_one))
    assert "".join(text_of(joined)).replace("\ufffd", "") == text
    assert (decoder.message, decoder.usage) == (reference.message, reference.usage)


def test_a_repeated_number_of_responses_is_dropped() -> None:
    events = wire_stream("responses", text=_WORDS)
    number = next(at for at, event in enumerate(events) if b"output_text.delta" in event) + 20
    data = b"".join([*events[:number], events[number - 1], *events[number:]])
    assert b"sequence_number" in data
    decoder = decoder_of("responses")
    assert "".join(text_of(read(decoder, [data], 1))) == "".join(_WORDS)


def test_log_probabilities_of_every_event_are_read() -> None:
    token: JsonObject = {"token": "a", "logprob": -0.5, "top_logprobs": []}
    event: JsonObject = {
        "id": "c",
        "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [token]}}],
    }
    data = b"".join(sse_event(event) for _ in range(30)) + b"".join(wire_stream("chat", text=["b"]))
    decoder = WIRES["chat"].decoder("msg_1", provider="p", model="m", logprobs=True)
    read(decoder, [data], 1)
    assert len(decoder.logprobs) == 30
    assert msgspec.to_builtins(decoder.logprobs[0])["logprob"] == -0.5


def piece(text: str, path: str = "$.content", **more: object) -> bytes:
    argument = {"jsonPath": path, "stringValue": text, "willContinue": True} | more
    return part({"functionCall": {"partialArgs": [argument], "willContinue": True}})


def part(content: JsonObject, **candidate: object) -> bytes:
    usage = {"promptTokenCount": 3}
    chunk = {"candidates": [{"content": {"parts": [content], "role": "model"}, "index": 0} | candidate]}
    return sse_event(chunk | {"usageMetadata": usage, "responseId": "r", "modelVersion": "m"})


@pytest.mark.parametrize(
    ("odd", "content"),
    [
        (piece("x"), "abxcd"),
        (piece('"\n\\'), 'ab"\n\\cd'),
        (piece("p", "$.path"), None),
        (piece("?").replace(b"?", rb"\ud83d\ude00"), "ab\U0001f600cd"),
    ],
    ids=["more", "escapes", "another-argument", "pair"],
)
def test_pieces_of_an_argument_are_read_as_one(odd: bytes, content: str | None) -> None:
    """Gemini streams arguments as values at paths; more of the same string is read as one piece."""
    first = part({"functionCall": {"name": "write", "willContinue": True}, "thoughtSignature": "s"})
    data = first + piece("a") + piece("b") + odd + piece("c") + piece("d", willContinue=False)
    data += part({"functionCall": {}}) + part({"text": ""}, finishReason="STOP")
    reference = decoder_of("gemini")
    one_by_one = read(reference, [data], 1000)
    assert reference.message is not None
    [call] = reference.message.tool_calls
    assert content is None or call.input == {"content": content}
    random = Random(7)
    for size in (len(data), *(random.randint(20, 600) for _ in range(8))):
        decoder = decoder_of("gemini")
        joined = read(decoder, [data[at : at + size] for at in range(0, len(data), size)], 1)
        [again] = decoder.message.tool_calls if decoder.message is not None else []
        assert (again.input, decoder.usage) == (call.input, reference.usage)
        assert arguments_of(joined) == arguments_of(one_by_one)


def arguments_of(payloads: list[Payload]) -> str:
    return "".join(payload.partial_json for payload in payloads if isinstance(payload, InputJsonDelta))


def test_pieces_of_an_argument_go_the_short_way() -> None:
    first = part({"functionCall": {"name": "write", "willContinue": True}})
    data = first + b"".join(piece(word) for word in _WORDS) + piece("", willContinue=False)
    data += part({"functionCall": {}}) + part({"text": ""}, finishReason="STOP")
    decoder = decoder_of("gemini")
    payloads = decoder.open() + read_counted(decoder, data)
    [written] = [payload.partial_json for payload in payloads if isinstance(payload, InputJsonDelta)]
    assert "".join(_WORDS[1:]) in written


def read_counted(decoder: Decoder, data: bytes) -> list[Payload]:
    """Feed the bytes in one read, and see that few of the events were read one by one."""
    slow = 0
    read_event = type(decoder)._read_event  # pyright: ignore[reportPrivateUsage]

    def count(decoder: Decoder, data: bytes, event: str) -> None:
        nonlocal slow
        slow += 1
        read_event(decoder, data, event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(decoder), "_read_event", count)
        decoder.join_from = 1
        payloads = decoder.feed(data)
    assert slow < 8
    return payloads + decoder.close()
