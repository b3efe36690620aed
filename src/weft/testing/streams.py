"""What a model says, as the bytes that each wire would carry.

    wire_stream("chat", text="Let me look.", calls=[ToolCall(id="call_1", name="read_file", input={"path": "a.py"})])

gives one piece of bytes for each event, so that a test says what the model says and not how it is framed. `wire_reply`
makes a reply of it for `ScriptedServer`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from weft.core.json import JsonObject, encode, encode_text
from weft.core.stop import StopReason
from weft.core.tools import ToolCall
from weft.testing.replies import EVENT_STREAM, Reply, Step

_MODEL = "scripted"
_USAGE = (11, 7)


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a model, in neutral words. Texts are lists of deltas."""

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
    """The events of one answer. A text given as a list comes in these deltas; `usage` is input and output."""
    said = _Said(
        text=_deltas(text),
        thinking=_deltas(thinking),
        calls=list(calls),
        stop=stop or ("tool_use" if calls else "end_turn"),
        usage=usage,
        signature=signature,
    )
    return list(_WRITERS[wire](said))


def wire_reply(wire: str, *before: Step, after: Sequence[Step] = (), **said: Any) -> Reply:
    """A reply whose body is such a stream, with steps before and after it."""
    content_type = "application/x-ndjson" if wire == "ollama" else EVENT_STREAM
    return Reply([*before, *wire_stream(wire, **said), *after], content_type=content_type)


def event(data: JsonObject | str, name: str = "") -> bytes:
    """One server-sent event."""
    line = data.encode() if isinstance(data, str) else encode(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + line + b"\n\n"


# --- chat -----------------------------------------------------------------------------------------------------

_CHAT_STOPS: dict[StopReason, str] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


def _chat(said: _Said) -> Iterator[bytes]:
    yield _chat_chunk({"role": "assistant", "content": ""})
    for piece in said.thinking:
        yield _chat_chunk({"reasoning_content": piece})
    for piece in said.text:
        yield _chat_chunk({"refusal" if said.stop == "refusal" else "content": piece})
    for index, call in enumerate(said.calls):
        function = {"name": call.name, "arguments": ""}
        yield _chat_chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in _halves(encode_text(call.input)):
            yield _chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chat_chunk({}, _CHAT_STOPS.get(said.stop, "stop"))
    if said.usage is not None:
        prompt, completion = said.usage
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        yield event(_CHAT_HEAD | {"choices": [], "usage": usage})
    yield event("[DONE]")


_CHAT_HEAD = {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": _MODEL}


def _chat_chunk(delta: JsonObject, finish: str | None = None) -> bytes:
    return event(_CHAT_HEAD | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


# --- responses ------------------------------------------------------------------------------------------------

_INCOMPLETE: dict[StopReason, str] = {"max_tokens": "max_output_tokens", "content_filter": "content_filter"}


def _responses(said: _Said) -> Iterator[bytes]:
    """Events are numbered as they go out, which is why one function writes all of them."""
    number = 0
    items: list[JsonObject] = []

    def write(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number - 1} | fields, kind)

    def write_item(item: JsonObject, kind: str, pieces: list[str], **place: int) -> Iterator[bytes]:
        at = len(items)
        yield write("response.output_item.added", output_index=at, item=_opened(item))
        for piece in pieces:
            yield write(f"response.{kind}.delta", output_index=at, item_id=item["id"], delta=piece, **place)
        items.append(item)
        yield write("response.output_item.done", output_index=at, item=item)

    head = {"id": "resp_scripted", "object": "response", "model": _MODEL}
    yield write("response.created", response=head | {"status": "in_progress", "output": []})
    if said.thinking:
        summary = [{"type": "summary_text", "text": "".join(said.thinking)}]
        item = {"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": said.signature}
        yield from write_item(item, "reasoning_summary_text", said.thinking, summary_index=0)
    if said.text:
        refused = said.stop == "refusal"
        part: JsonObject = {"type": "refusal", "refusal": "".join(said.text)}
        if not refused:
            part = {"type": "output_text", "text": "".join(said.text), "annotations": []}
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        yield from write_item(item, "refusal" if refused else "output_text", said.text, content_index=0)
    for index, call in enumerate(said.calls):
        arguments = encode_text(call.input)
        item = {"id": f"fc_{index}", "type": "function_call", "status": "completed", "call_id": call.id}
        item |= {"name": call.name, "arguments": arguments}
        yield from write_item(item, "function_call_arguments", _halves(arguments))
    reason = _INCOMPLETE.get(said.stop)
    end: JsonObject = head | {"status": "incomplete" if reason else "completed", "output": items}
    if reason:
        end["incomplete_details"] = {"reason": reason}
    if said.usage is not None:
        read, written = said.usage
        end["usage"] = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    yield write("response.incomplete" if reason else "response.completed", response=end)


def _opened(item: JsonObject) -> JsonObject:
    """An item before anything was written into it."""
    empty: JsonObject = {"summary": [], "content": [], "arguments": "", "status": "in_progress"}
    return item | {name: value for name, value in empty.items() if name in item}


# --- messages -------------------------------------------------------------------------------------------------


def _messages(said: _Said) -> Iterator[bytes]:
    read, written = said.usage or (0, 0)
    message: JsonObject = {"id": "msg_scripted", "type": "message", "role": "assistant", "model": _MODEL}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None}
    if said.usage is not None:
        message["usage"] = {"input_tokens": read, "output_tokens": 1}
    yield _messages_event("message_start", message=message)
    index = 0
    if said.thinking:
        deltas: list[JsonObject] = [{"type": "thinking_delta", "thinking": piece} for piece in said.thinking]
        deltas.append({"type": "signature_delta", "signature": said.signature})
        yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if said.text:
        yield from _block(
            index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in said.text]
        )
        index += 1
    for at, call in enumerate(said.calls, index):
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _halves(encode_text(call.input))]
        yield from _block(at, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas)
    stop = "refusal" if said.stop == "content_filter" else said.stop
    end: JsonObject = {"delta": {"stop_reason": stop, "stop_sequence": None}}
    if said.usage is not None:
        end["usage"] = {"output_tokens": written}
    yield _messages_event("message_delta", **end)
    yield _messages_event("message_stop")


def _block(index: int, block: JsonObject, deltas: list[JsonObject]) -> Iterator[bytes]:
    yield _messages_event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield _messages_event("content_block_delta", index=index, delta=delta)
    yield _messages_event("content_block_stop", index=index)


def _messages_event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind} | fields, kind)


# --- gemini ---------------------------------------------------------------------------------------------------

_GEMINI_STOPS: dict[StopReason, str] = {"max_tokens": "MAX_TOKENS", "content_filter": "SAFETY", "refusal": "SAFETY"}


def _gemini(said: _Said) -> Iterator[bytes]:
    for piece in said.thinking:
        yield _gemini_chunk([{"text": piece, "thought": True}])
    for piece in said.text:
        yield _gemini_chunk([{"text": piece}])
    for call in said.calls:
        part: JsonObject = {"functionCall": {"id": call.id, "name": call.name, "args": call.input}}
        yield _gemini_chunk([part | ({"thoughtSignature": said.signature} if said.thinking else {})])
    usage: JsonObject = {}
    if said.usage is not None:
        read, written = said.usage
        counts = {"promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written}
        usage = {"usageMetadata": counts}
    yield _gemini_chunk([{"text": ""}], _GEMINI_STOPS.get(said.stop, "STOP"), **usage)


def _gemini_chunk(parts: list[JsonObject], finish: str | None = None, **more: Any) -> bytes:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return event({"candidates": [candidate]} | more | {"modelVersion": _MODEL, "responseId": "scripted"})


# --- ollama ---------------------------------------------------------------------------------------------------


def _ollama(said: _Said) -> Iterator[bytes]:
    for piece in said.thinking:
        yield _ollama_line({"content": "", "thinking": piece})
    for piece in said.text:
        yield _ollama_line({"content": piece})
    for call in said.calls:
        function = {"name": call.name, "arguments": call.input}
        yield _ollama_line({"content": "", "tool_calls": [{"id": call.id, "function": function}]})
    end: JsonObject = {"done": True, "done_reason": "length" if said.stop == "max_tokens" else "stop"}
    if said.usage is not None:
        end |= {"prompt_eval_count": said.usage[0], "eval_count": said.usage[1]}
    yield _ollama_line({"content": ""}, **end)


def _ollama_line(message: JsonObject, **more: Any) -> bytes:
    line = {"model": _MODEL, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant"} | message}
    return encode(line | {"done": False} | more) + b"\n"


_WRITERS: dict[str, Callable[[_Said], Iterator[bytes]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
    "ollama": _ollama,
}


def _deltas(text: str | Sequence[str]) -> list[str]:
    if isinstance(text, str):
        return [text] if text else []
    return list(text)


def _halves(text: str) -> list[str]:
    """Arguments come in more than one piece, as they do from a real server."""
    middle = len(text) // 2
    return [text[:middle], text[middle:]]
