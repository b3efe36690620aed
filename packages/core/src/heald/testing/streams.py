"""Encodes a model's answer as the bytes that each wire would carry.

    wire_stream("chat", text="Let me look.", calls=[ToolCall(id="call_1", name="read_file", input={"path": "a.py"})])

returns one piece of bytes for each event. `wire_reply` makes a reply for `ScriptedServer` from it.
"""

import struct
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from zlib import crc32

import msgspec

from heald.core.json import JsonObject, encode, encode_text
from heald.core.messages import ToolCall
from heald.core.turn import StopReason
from heald.testing.server import EVENT_STREAM, Reply, Step

_MODEL = "scripted"
_USAGE = (11, 7)


class _ModelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a model. Texts are lists of deltas."""

    text: list[str]
    thinking: list[str]
    calls: list[ToolCall]
    stop: StopReason
    usage: tuple[int, int] | None
    signature: str


def wire_stream(
    wire: str,
    *,
    text: str | Sequence[str] = (),
    thinking: str | Sequence[str] = (),
    calls: Sequence[ToolCall] = (),
    stop: StopReason | None = None,
    usage: tuple[int, int] | None = _USAGE,
    signature: str = "c2lnbmF0dXJl",
) -> list[bytes]:
    """Encode one answer. The items of a text that is a list are its deltas; `usage` is input and output tokens."""
    answer = _ModelAnswer(
        text=_deltas(text),
        thinking=_deltas(thinking),
        calls=list(calls),
        stop=stop or ("tool_use" if calls else "end_turn"),
        usage=usage,
        signature=signature,
    )
    return list(_WRITERS[wire](answer))


def wire_reply(wire: str, *before: Step, after: Sequence[Step] = (), **answer: Any) -> Reply:
    """Return a reply whose body is the stream of one answer, with steps before and after it."""
    content_type = _CONTENT_TYPES.get(wire, EVENT_STREAM)
    return Reply([*before, *wire_stream(wire, **answer), *after], content_type=content_type)


def sse_event(data: JsonObject | str, name: str = "") -> bytes:
    """Encode one server-sent event."""
    line = data.encode() if isinstance(data, str) else encode(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + line + b"\n\n"


# --- chat -----------------------------------------------------------------------------------------------------

_CHAT_STOPS: dict[StopReason, str] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


def _chat(answer: _ModelAnswer) -> Iterator[bytes]:
    yield _chat_chunk({"role": "assistant", "content": ""})
    for piece in answer.thinking:
        yield _chat_chunk({"reasoning_content": piece})
    for piece in answer.text:
        yield _chat_chunk({"refusal" if answer.stop == "refusal" else "content": piece})
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        yield _chat_chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in _split_in_half(encode_text(call.input)):
            yield _chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chat_chunk({}, _CHAT_STOPS.get(answer.stop, "stop"))
    if answer.usage is not None:
        prompt, completion = answer.usage
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        yield sse_event(_CHAT_HEAD | {"choices": [], "usage": usage})
    yield sse_event("[DONE]")


_CHAT_HEAD = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": _MODEL}


def _chat_chunk(delta: JsonObject, finish: str | None = None) -> bytes:
    return sse_event(_CHAT_HEAD | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


# --- responses ------------------------------------------------------------------------------------------------

_INCOMPLETE: dict[StopReason, str] = {"max_tokens": "max_output_tokens", "content_filter": "content_filter"}


def _responses(answer: _ModelAnswer) -> Iterator[bytes]:
    """Yield all events. They share one sequence number, so one function writes them."""
    number = 0
    items: list[JsonObject] = []

    def write(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return sse_event({"type": kind, "sequence_number": number - 1} | fields, kind)

    def write_item(item: JsonObject, kind: str, pieces: list[str], **place: int) -> Iterator[bytes]:
        at = len(items)
        yield write("response.output_item.added", output_index=at, item=_opened(item))
        for piece in pieces:
            yield write(f"response.{kind}.delta", output_index=at, item_id=item["id"], delta=piece, **place)
        items.append(item)
        yield write("response.output_item.done", output_index=at, item=item)

    head = {"id": "resp_scripted", "object": "response", "model": _MODEL}
    yield write("response.created", response=head | {"status": "in_progress", "output": []})
    if answer.thinking:
        summary = [{"type": "summary_text", "text": "".join(answer.thinking)}]
        item = {"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": answer.signature}
        yield from write_item(item, "reasoning_summary_text", answer.thinking, summary_index=0)
    if answer.text:
        refused = answer.stop == "refusal"
        part: JsonObject = {"type": "refusal", "refusal": "".join(answer.text)}
        if not refused:
            part = {"type": "output_text", "text": "".join(answer.text), "annotations": []}
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        yield from write_item(item, "refusal" if refused else "output_text", answer.text, content_index=0)
    for index, call in enumerate(answer.calls):
        arguments = encode_text(call.input)
        item = {"id": f"fc_{index}", "type": "function_call", "status": "completed", "call_id": call.id}
        item |= {"name": call.name, "arguments": arguments}
        yield from write_item(item, "function_call_arguments", _split_in_half(arguments))
    reason = _INCOMPLETE.get(answer.stop)
    end: JsonObject = head | {"status": "incomplete" if reason else "completed", "output": items}
    if reason:
        end["incomplete_details"] = {"reason": reason}
    if answer.usage is not None:
        read, written = answer.usage
        end["usage"] = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    yield write("response.incomplete" if reason else "response.completed", response=end)


def _opened(item: JsonObject) -> JsonObject:
    """Return the item as it is announced: without content."""
    empty: JsonObject = {"summary": [], "content": [], "arguments": "", "status": "in_progress"}
    return item | {name: value for name, value in empty.items() if name in item}


# --- messages -------------------------------------------------------------------------------------------------


def _messages(answer: _ModelAnswer) -> Iterator[bytes]:
    read, written = answer.usage or (0, 0)
    message: JsonObject = {"id": "msg_scripted", "type": "message", "role": "assistant", "model": _MODEL}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None}
    if answer.usage is not None:
        message["usage"] = {"input_tokens": read, "output_tokens": 1}
    yield _messages_event("message_start", message=message)
    index = 0
    if answer.thinking:
        deltas: list[JsonObject] = [{"type": "thinking_delta", "thinking": piece} for piece in answer.thinking]
        deltas.append({"type": "signature_delta", "signature": answer.signature})
        yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if answer.text:
        yield from _block(
            index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in answer.text]
        )
        index += 1
    for at, call in enumerate(answer.calls, index):
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in _split_in_half(encode_text(call.input))
        ]
        yield from _block(at, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas)
    stop = "refusal" if answer.stop == "content_filter" else answer.stop
    end: JsonObject = {"delta": {"stop_reason": stop, "stop_sequence": None}}
    if answer.usage is not None:
        end["usage"] = {"output_tokens": written}
    yield _messages_event("message_delta", **end)
    yield _messages_event("message_stop")


def _block(index: int, block: JsonObject, deltas: list[JsonObject]) -> Iterator[bytes]:
    yield _messages_event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield _messages_event("content_block_delta", index=index, delta=delta)
    yield _messages_event("content_block_stop", index=index)


def _messages_event(kind: str, **fields: Any) -> bytes:
    return sse_event({"type": kind} | fields, kind)


# --- gemini ---------------------------------------------------------------------------------------------------

_GEMINI_STOPS: dict[StopReason, str] = {"max_tokens": "MAX_TOKENS", "content_filter": "SAFETY", "refusal": "SAFETY"}


def _gemini(answer: _ModelAnswer) -> Iterator[bytes]:
    for piece in answer.thinking:
        yield _gemini_chunk([{"text": piece, "thought": True}])
    for piece in answer.text:
        yield _gemini_chunk([{"text": piece}])
    for call in answer.calls:
        part: JsonObject = {"functionCall": {"id": call.id, "name": call.name, "args": call.input}}
        yield _gemini_chunk([part | ({"thoughtSignature": answer.signature} if answer.thinking else {})])
    usage: JsonObject = {}
    if answer.usage is not None:
        read, written = answer.usage
        counts = {"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written}
        usage = {"usageMetadata": counts}
    yield _gemini_chunk([{"text": ""}], _GEMINI_STOPS.get(answer.stop, "STOP"), **usage)


def _gemini_chunk(parts: list[JsonObject], finish: str | None = None, **more: Any) -> bytes:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return sse_event({"candidates": [candidate]} | more | {"modelVersion": _MODEL, "responseId": "scripted"})


# --- ollama ---------------------------------------------------------------------------------------------------


def _ollama(answer: _ModelAnswer) -> Iterator[bytes]:
    for piece in answer.thinking:
        yield _ollama_line({"content": "", "thinking": piece})
    for piece in answer.text:
        yield _ollama_line({"content": piece})
    for call in answer.calls:
        function = {"name": call.name, "arguments": call.input}
        yield _ollama_line({"content": "", "tool_calls": [{"id": call.id, "function": function}]})
    end: JsonObject = {"done": True, "done_reason": "length" if answer.stop == "max_tokens" else "stop"}
    if answer.usage is not None:
        end |= {"prompt_eval_count": answer.usage[0], "eval_count": answer.usage[1]}
    yield _ollama_line({"content": ""}, **end)


def _ollama_line(message: JsonObject, **more: Any) -> bytes:
    line = {"model": _MODEL, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant"} | message}
    return encode(line | {"done": False} | more) + b"\n"


# --- Amazon Bedrock -------------------------------------------------------------------------------------------

AMAZON_STREAM = "application/vnd.amazon.eventstream"


def amazon_event(name: str, payload: JsonObject, kind: str = "event") -> bytes:
    """Encode one message of an Amazon event stream. The kind is `event` or `exception`."""
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    encoded = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in headers.items()
    )
    data = encode(payload)
    prelude = struct.pack(">II", len(encoded) + len(data) + 16, len(encoded))
    message = prelude + struct.pack(">I", crc32(prelude)) + encoded + data
    return message + struct.pack(">I", crc32(message))


_CONVERSE_STOPS: dict[StopReason, str] = {"content_filter": "content_filtered", "refusal": "content_filtered"}


def _converse(answer: _ModelAnswer) -> Iterator[bytes]:
    yield amazon_event("messageStart", {"role": "assistant"})
    blocks: list[tuple[JsonObject, list[JsonObject]]] = []
    if answer.thinking:
        thoughts: list[JsonObject] = [{"reasoningContent": {"text": piece}} for piece in answer.thinking]
        blocks.append(({}, [*thoughts, {"reasoningContent": {"signature": answer.signature}}]))
    if answer.text:
        blocks.append(({}, [{"text": piece} for piece in answer.text]))
    for call in answer.calls:
        pieces = [{"toolUse": {"input": piece}} for piece in _split_in_half(encode_text(call.input))]
        blocks.append(({"toolUse": {"toolUseId": call.id, "name": call.name}}, pieces))
    for index, (start, deltas) in enumerate(blocks):
        if start:
            yield amazon_event("contentBlockStart", {"contentBlockIndex": index, "start": start})
        for delta in deltas:
            yield amazon_event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
        yield amazon_event("contentBlockStop", {"contentBlockIndex": index})
    yield amazon_event("messageStop", {"stopReason": _CONVERSE_STOPS.get(answer.stop, answer.stop)})
    if answer.usage is not None:
        read, written = answer.usage
        usage = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
        yield amazon_event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})


def _bedrock_messages(answer: _ModelAnswer) -> Iterator[bytes]:
    for event in _messages(answer):
        data = event.partition(b"data: ")[2].strip()
        yield amazon_event("chunk", {"bytes": b64encode(data).decode()})


_WRITERS: dict[str, Callable[[_ModelAnswer], Iterator[bytes]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
    "ollama": _ollama,
    "converse": _converse,
    "bedrock-messages": _bedrock_messages,
    "vertex-messages": _messages,
}
_CONTENT_TYPES = {
    "ollama": "application/x-ndjson",
    "converse": AMAZON_STREAM,
    "bedrock-messages": AMAZON_STREAM,
}


def _deltas(text: str | Sequence[str]) -> list[str]:
    if isinstance(text, str):
        return [text] if text else []
    return list(text)


def _split_in_half(text: str) -> list[str]:
    """Split arguments into two pieces: a real server also sends them in several."""
    middle = len(text) // 2
    return [text[:middle], text[middle:]]
