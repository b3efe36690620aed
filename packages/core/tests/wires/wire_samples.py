"""One message on every wire, and short ways to write more streams by hand."""

from typing import Any

from heald.core.json import JsonObject


def chunk(delta: JsonObject | None = None, finish: str | None = None, **fields: Any) -> JsonObject:
    """A chunk of Chat Completions."""
    return {"id": "r1", "model": "m", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}]} | fields


def call_delta(index: Any, call_id: Any = None, name: Any = None, arguments: Any = None) -> JsonObject:
    """A fragment of a call of Chat Completions; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": call_id, "function": function}
    return {"tool_calls": [{key: value for key, value in fields.items() if value is not None}]}


CHAT: list[Any] = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "hm, ü"}),
    chunk({"content": "Let me "}),
    chunk({"content": "look \U0001f600"}),
    chunk(call_delta(0, "c1", "read", "")),
    chunk(call_delta(0, arguments='{"path": ')),
    chunk(call_delta(1, "c2", "list", '{"all"')),
    chunk(call_delta(0, arguments='"ä"}')),
    chunk(call_delta(1, arguments=": true}")),
    chunk({}, "tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}},
    b"[DONE]",
]


def item(kind: str, index: int, **fields: Any) -> JsonObject:
    """An item of Responses, added or done."""
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": fields}


def arguments(index: int, delta: str) -> JsonObject:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": delta}


def response(status: str = "completed", **fields: Any) -> JsonObject:
    """The terminal event of Responses."""
    return {"type": f"response.{status}", "response": {"id": "r1", "status": status, "output": []} | fields}


RESPONSES: list[Any] = [
    {"type": "response.created", "response": {"id": "r1", "model": "m", "status": "in_progress"}},
    item("added", 0, id="rs", type="reasoning", summary=[]),
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm, ü"},
    item("done", 0, id="rs", type="reasoning", summary=[{"type": "summary_text", "text": "hm, ü"}]),
    item("added", 1, id="m1", type="message", content=[]),
    {"type": "response.output_text.delta", "output_index": 1, "item_id": "m1", "delta": "Let me look \U0001f600"},
    item("done", 1, id="m1", type="message", content=[{"type": "output_text", "text": "Let me look \U0001f600"}]),
    item("added", 2, id="f1", type="function_call", call_id="c1", name="read", arguments=""),
    arguments(2, '{"path": '),
    arguments(2, '"ä"}'),
    item("done", 2, id="f1", type="function_call", call_id="c1", name="read", arguments='{"path": "ä"}'),
    item("done", 3, id="f2", type="function_call", call_id="c2", name="list", arguments='{"all": true}'),
    response(usage={"input_tokens": 10, "output_tokens": 5}),
]


def start(index: int, kind: str, **fields: Any) -> JsonObject:
    """The start of a block of Messages."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind} | fields}


def delta(index: int, kind: str, **fields: Any) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind} | fields}


def stop(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def ending(reason: str | None, **usage: Any) -> list[JsonObject]:
    """The two last events of Messages."""
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}]


OPENING: JsonObject = {
    "type": "message_start",
    "message": {"id": "r1", "model": "m", "usage": {"input_tokens": 10, "output_tokens": 1}},
}
MESSAGES: list[Any] = [
    OPENING,
    start(0, "thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="hm, ü"),
    delta(0, "signature_delta", signature="c2ln"),
    stop(0),
    start(1, "text", text=""),
    delta(1, "text_delta", text="Let me look \U0001f600"),
    stop(1),
    start(2, "tool_use", id="c1", name="read", input={}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"path": "ä"}'),
    stop(2),
    {"type": "ping"},
    start(3, "tool_use", id="c2", name="list", input={}),
    delta(3, "input_json_delta", partial_json='{"all": true}'),
    stop(3),
    *ending("tool_use", output_tokens=5),
]


def parts(*content: JsonObject, finish: str | None = None, **fields: Any) -> JsonObject:
    """A chunk of generateContent."""
    candidate: JsonObject = {"index": 0, "content": {"role": "model", "parts": list(content)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], "responseId": "r1"} | fields


GEMINI: list[Any] = [
    parts({"text": "hm, ü", "thought": True}),
    parts({"text": "Let me "}),
    parts({"text": "look \U0001f600"}),
    parts({"functionCall": {"name": "read", "args": {"path": "ä"}}, "thoughtSignature": "c2ln"}),
    parts(
        {"functionCall": {"name": "list", "args": {"all": True}}},
        finish="STOP",
        usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 5},
    ),
]
OLLAMA: list[Any] = [
    {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm, ü"}, "done": False},
    {"model": "m", "message": {"role": "assistant", "content": "Let me look \U0001f600"}, "done": False},
    {"model": "m", "message": {"tool_calls": [{"function": {"name": "read", "arguments": {"path": "ä"}}}]}},
    {"model": "m", "message": {"tool_calls": [{"function": {"name": "list", "arguments": {"all": True}}}]}},
    {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5},
]

SAMPLES: dict[str, list[Any]] = {
    "chat": CHAT,
    "responses": RESPONSES,
    "messages": MESSAGES,
    "gemini": GEMINI,
    "ollama": OLLAMA,
}
"""The same message on every wire: thinking, text, two calls, a normal end."""

TERMINAL = {"chat": 9, "responses": 12, "messages": 16, "gemini": 4, "ollama": 4}
"""The place of the event that finishes the message."""
