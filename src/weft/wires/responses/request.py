"""Responses: a turn as a request body."""

import re
from typing import cast

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject, encode_text
from weft.core.messages import Block, Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, parts_of, render
from weft.wires.request import TurnRequest, data_url, effort_of, legal_name, without_none

NAME = "responses"

_REASONERS = re.compile(r"(?:^|/)(?:o\d|gpt-[5-9]|codex|grok-[4-9]|computer-use)")


def path(model: str) -> str:  # noqa: ARG001
    return "/responses"


def build(request: TurnRequest) -> JsonObject:
    settings = request.settings
    keeps_reasoning = request.quirks.stateless and (
        settings.reasoning is not None or _REASONERS.search(request.model) is not None
    )
    body = without_none(
        model=request.model,
        instructions=settings.system or None,
        input=_input(request),
        stream=True,
        store=False if request.quirks.stateless else None,
        include=["reasoning.encrypted_content"] if keeps_reasoning else None,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        reasoning=_reasoning(request),
        tools=[_tool(tool) for tool in request.tools] or None,
        tool_choice=_tool_choice(settings.tool_choice) if request.tools else None,
        parallel_tool_calls=settings.parallel_tool_calls if request.tools else None,
        text=_format(settings.output_schema) if settings.output_schema else None,
    )
    return body | settings.extra


def _input(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, items: list[JsonObject]) -> None:
        if message.role == "tool":
            items += [_output(cast(ToolResult, block), history, items) for block in message.content]
        elif message.role == "user":
            items.append({"role": "user", "content": [_part(block) for block in message.content]})
        else:
            items += _assistant(message, history, request)

    return render(request.messages, History(NAME, request.provider, request.model), write, cache=request.cache)


def _assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = echo_of(message, NAME, request.provider, request.model)
    if native is not None:
        return _echo(cast("list[JsonObject]", native), message, history, request)
    items: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            items.append({"role": "assistant", "content": [{"type": "output_text", "text": block.text}]})
        elif isinstance(block, ToolCall):
            items.append(function_call(block, history.ids[block.id]))
    return items


def _echo(native: list[JsonObject], message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    """The items as they came, reasoning directly before what it belongs to.

    Without stored responses, reasoning that is not encrypted cannot be taken back. It is left out, and with it the
    ids of the other items, which would point at it.
    """
    calls = iter(message.tool_calls)
    items: list[JsonObject] = []
    dropped = False
    for item in native:
        if item.get("type") == "reasoning" and request.quirks.stateless and not item.get("encrypted_content"):
            dropped = True
            continue
        if item.get("type") in ("function_call", "custom_tool_call"):
            item = item | {"call_id": history.ids[next(calls).id]}
        items.append(item)
    return [_without_id(item) for item in items] if dropped else items


def _without_id(item: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if name != "id"}


def function_call(call: ToolCall, wire_id: str) -> JsonObject:
    arguments = encode_text(wire_input(call))
    return {
        "type": "function_call",
        "call_id": wire_id,
        "name": legal_name(call.name),
        "arguments": arguments,
    }


def _output(result: ToolResult, history: History, items: list[JsonObject]) -> JsonObject:
    call_id = history.ids[result.id]
    parts = parts_of(result)
    only_text = len(parts) == 1 and isinstance(parts[0], Text)
    output = cast(Text, parts[0]).text if only_text else [_part(part) for part in parts]
    called = next((item.get("type") for item in reversed(items) if item.get("call_id") == call_id), None)
    kind = "custom_tool_call_output" if called == "custom_tool_call" else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": output}


def _part(block: Block) -> JsonObject:
    match block:
        case Image(url=str(url)):
            return {"type": "input_image", "image_url": url}
        case Image(media_type=media_type, data=data):
            return {"type": "input_image", "image_url": data_url(media_type, data or "")}
        case File(url=str(url)):
            return {"type": "input_file", "file_url": url}
        case File(media_type=media_type, data=data, name=name):
            return {
                "type": "input_file",
                "filename": name or "file",
                "file_data": data_url(media_type, data or ""),
            }
        case _:
            return {"type": "input_text", "text": getattr(block, "text", "")}


def _tool(tool: ToolDefinition) -> JsonObject:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": tool.strict,
    }


def _tool_choice(choice: str) -> str | JsonObject:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": choice}


def _reasoning(request: TurnRequest) -> JsonObject | None:
    reason = request.settings.reasoning
    if reason is None:
        return None
    return without_none(effort=effort_of(reason), summary="auto" if reason.visible else None) or None


def _format(schema: JsonObject) -> JsonObject:
    return {"format": {"type": "json_schema", "name": "output", "schema": schema, "strict": True}}
