"""OpenAI Responses, as a server streams it."""

from collections.abc import Sequence

from benchmarks.content import to_json
from benchmarks.scenarios import Call
from benchmarks.streams.stream import Json, Stream, named, obfuscation

_RESPONSE = "resp_0155dde90b04b06900691405a8bd4c81989b36d12008bench"
_MESSAGE = "msg_0155dde90b04b06900691405a922588198bf4452e1a3ebench"
_RESULT = b'"function_call_output"'


def text(model: str, deltas: Sequence[str]) -> Stream:
    whole = "".join(deltas)
    after = len(deltas) + 4
    place: Json = {"item_id": _MESSAGE, "output_index": 0, "content_index": 0}
    item: Json = {"id": _MESSAGE, "type": "message", "role": "assistant"}
    part: Json = {"type": "output_text", "annotations": [], "logprobs": [], "text": whole}
    started: Json = item | {"status": "in_progress", "content": list[Json]()}
    done: Json = item | {"status": "completed", "content": [part]}
    return Stream(
        opening=(
            *_opening(model),
            _event("response.output_item.added", 2, output_index=0, item=started),
            _event("response.content_part.added", 3, **place, part=part | {"text": ""}),
        ),
        deltas=tuple(
            _event(
                "response.output_text.delta",
                number,
                **place,
                delta=piece,
                logprobs=[],
                obfuscation=obfuscation(piece),
            )
            for number, piece in enumerate(deltas, 4)
        ),
        closing=(
            _event("response.output_text.done", after, **place, text=whole, logprobs=[]),
            _event("response.content_part.done", after + 1, **place, part=part),
            _event("response.output_item.done", after + 2, output_index=0, item=done),
            _completed(model, after + 3, [done], len(deltas)),
        ),
    )


def calls(model: str, calls: Sequence[Call]) -> Stream:
    events = [*_opening(model)]
    items: list[Json] = []
    for index, call in enumerate(calls):
        items.append(_add_call(events, index, call))
    tokens = sum(len(call.deltas) for call in calls)
    opening = len(_opening(model)) + 1
    return Stream(
        opening=tuple(events[:opening]),
        deltas=tuple(events[opening:]),
        closing=(_completed(model, len(events), items, tokens),),
    )


def _add_call(events: list[bytes], index: int, call: Call) -> Json:
    """Add the events of a call. Returns it as an item."""
    item_id = f"fc_0155dde90b04b06900691405a922{call.number:020d}"
    arguments = to_json(call.arguments)
    place: Json = {"item_id": item_id, "output_index": index}
    item: Json = {
        "id": item_id,
        "type": "function_call",
        "status": "in_progress",
        "arguments": "",
        "call_id": f"call_bench{call.number:019d}",
        "name": call.name,
    }
    done: Json = item | {"status": "completed", "arguments": arguments}
    events.append(_event("response.output_item.added", len(events), output_index=index, item=item))
    for piece in call.deltas:
        fields: Json = {"delta": piece, "obfuscation": obfuscation(piece)}
        events.append(_event("response.function_call_arguments.delta", len(events), **place, **fields))
    events.append(_event("response.function_call_arguments.done", len(events), **place, arguments=arguments))
    events.append(_event("response.output_item.done", len(events), output_index=index, item=done))
    return done


def results(body: bytes, start: int = 0) -> int:
    return body.count(_RESULT, start)


def _event(type_: str, number: int, **fields: object) -> bytes:
    return named({"type": type_, "sequence_number": number} | fields)


def _opening(model: str) -> tuple[bytes, ...]:
    response = _response(model, "in_progress", [], None)
    return (
        _event("response.created", 0, response=response),
        _event("response.in_progress", 1, response=response),
    )


def _completed(model: str, number: int, items: list[Json], tokens: int) -> bytes:
    usage = {
        "input_tokens": 75,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 75 + tokens,
    }
    return _event("response.completed", number, response=_response(model, "completed", items, usage))


def _response(model: str, status: str, output: list[Json], usage: object) -> Json:
    return {
        "id": _RESPONSE,
        "object": "response",
        "created_at": 1782321928,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    }
