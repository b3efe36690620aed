"""Ollama's chat: a turn as a request body."""

from collections.abc import Sequence
from typing import cast

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, render, split_result
from weft.wires.request import TurnRequest, effort_of, legal_name, without_none

NAME = "ollama"


def path(model: str) -> str:  # noqa: ARG001
    return "/api/chat"


def build(request: TurnRequest) -> JsonObject:
    settings = request.settings
    body = without_none(
        model=request.model,
        messages=_messages(request),
        stream=True,
        tools=[_tool(tool) for tool in request.tools] or None,
        think=_think(request),
        format=settings.output_schema,
        options=without_none(
            temperature=settings.temperature,
            top_p=settings.top_p,
            num_predict=settings.max_output_tokens,
            stop=settings.stop_sequences or None,
        )
        or None,
    )
    return body | settings.extra


def _messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, _: History, messages: list[JsonObject]) -> None:
        if message.role == "tool":
            messages += [_result(cast(ToolResult, block)) for block in message.content]
        elif message.role == "user":
            messages.append(_user(message))
        else:
            native = echo_of(message, NAME, request.provider, request.model)
            said = cast(JsonObject, native) if native is not None else _assistant(message)
            if said.get("content") or said.get("tool_calls"):
                messages.append(said)

    messages = render(request.messages, History(NAME, request.provider, request.model), write, cache=request.cache)
    if not request.settings.system:
        return messages
    return [{"role": "system", "content": request.settings.system}, *messages]


def _assistant(message: Message) -> JsonObject:
    calls = [tool_call(call) for call in message.tool_calls]
    return without_none(role="assistant", content=message.text, tool_calls=calls or None)


def tool_call(call: ToolCall) -> JsonObject:
    return {"function": {"name": legal_name(call.name), "arguments": wire_input(call)}}


def _result(result: ToolResult) -> JsonObject:
    text, media = split_result(result)
    return _with_media({"role": "tool", "tool_name": legal_name(result.name)}, text, media)


def _user(message: Message) -> JsonObject:
    text = "\n\n".join(block.text for block in message.content if isinstance(block, Text))
    return _with_media({"role": "user"}, text, [b for b in message.content if isinstance(b, Image | File)])


def _with_media(message: JsonObject, text: str, media: Sequence[Image | File]) -> JsonObject:
    """The API takes pictures as data and nothing else; what it cannot take is at least mentioned."""
    images = [part.data for part in media if isinstance(part, Image) and part.data]
    for part in media:
        if part.url or isinstance(part, File):
            name = part.name if isinstance(part, File) else None
            text += f"\n\n[not shown: {part.media_type} {part.url or name or ''}]"
    return message | {"content": text} | ({"images": images} if images else {})


def _tool(tool: ToolDefinition) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _think(request: TurnRequest) -> bool | str | None:
    reason = request.settings.reasoning
    effort = effort_of(reason) if reason is not None else None
    if effort is None:
        return None
    if "gpt-oss" not in request.model:
        return effort != "none"
    return "high" if effort == "xhigh" else "low" if effort in ("none", "minimal") else effort
