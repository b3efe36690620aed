"""What Claude Code says, line by line, as its stream-json output has it. All of it is made up."""

import json
from collections.abc import Sequence
from typing import Any

from claude_agent_support import Line

SESSION = "s-1"


def init(session: str = SESSION) -> Line:
    return {"type": "system", "subtype": "init", "session_id": session, "tools": [], "uuid": "u-init"}


def event(session: str = SESSION, parent: str | None = None, **fields: Any) -> Line:
    return {"type": "stream_event", "event": fields, "session_id": session, "uuid": "u-e", "parent_tool_use_id": parent}


def text(said: str) -> Line:
    return {"type": "text", "text": said}


def thinking(said: str) -> Line:
    return {"type": "thinking", "thinking": said, "signature": "c2ln"}


def call(name: str, call_id: str, /, **arguments: Any) -> Line:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def message(
    message_id: str, *blocks: Line, stop: str | None = None, usage: tuple[int, int] = (10, 5), session: str = SESSION
) -> list[Line]:
    """A message as it is streamed, each block said once more as a whole when it ends."""
    used = {"input_tokens": usage[0], "output_tokens": 1}
    lines = [event(session, type="message_start", message=_head(message_id, [], used))]
    for index, block in enumerate(blocks):
        start, deltas = _opened(block)
        lines.append(event(session, type="content_block_start", index=index, content_block=start))
        lines += [event(session, type="content_block_delta", index=index, delta=delta) for delta in deltas]
        lines.append(whole(message_id, block, session=session, uuid=f"{message_id}-{index}"))
        lines.append(event(session, type="content_block_stop", index=index))
    stop = stop or ("tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn")
    lines.append(event(session, type="message_delta", delta={"stop_reason": stop}, usage={"output_tokens": usage[1]}))
    return [*lines, event(session, type="message_stop")]


def whole(
    message_id: str, *blocks: Line, session: str = SESSION, uuid: str = "", parent: str | None = None, **more: Any
) -> Line:
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {
        "type": "assistant",
        "message": _head(message_id, list(blocks), usage),
        "parent_tool_use_id": parent,
        "session_id": session,
        "uuid": uuid or f"{message_id}-w",
    } | more


def result(said: str = "", *, session: str = SESSION, cost: float | None = 0.01, **more: Any) -> Line:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 5,
        "duration_api_ms": 4,
        "num_turns": 1,
        "session_id": session,
        "total_cost_usd": cost,
        "usage": {"input_tokens": 999, "output_tokens": 999},
        "result": said,
    } | more


def answer(said: str, message_id: str = "msg_1", **more: Any) -> list[Line]:
    """One message of text, and the end."""
    session = more.get("session", SESSION)
    return [init(session), *message(message_id, text(said), session=session), result(said, **more)]


def _head(message_id: str, content: Sequence[Line], usage: Line) -> Line:
    model = "claude-sonnet-4-6"
    return {"id": message_id, "role": "assistant", "model": model, "content": list(content), "usage": usage}


def _opened(block: Line) -> tuple[Line, list[Line]]:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": half} for half in _halves(block["text"])
            ]
        case "thinking":
            pieces = [{"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])]
            return {"type": "thinking", "thinking": ""}, [*pieces, {"type": "signature_delta", "signature": "c2ln"}]
        case _:
            arguments = [
                {"type": "input_json_delta", "partial_json": half} for half in _halves(json.dumps(block["input"]))
            ]
            return block | {"input": {}}, arguments


def _halves(said: str) -> list[str]:
    return [said[: len(said) // 2], said[len(said) // 2 :]]
