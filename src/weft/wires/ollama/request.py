"""Ollama's chat: a turn as a request body."""

from typing import cast

from weft.core.content import Image, Text
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, render, split_images
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
            messages.append(native if native is not None else _assistant(message))

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
    text, images = split_images(result)
    return without_none(role="tool", tool_name=legal_name(result.name), content=text, images=_images(images))


def _user(message: Message) -> JsonObject:
    text = "\n\n".join(block.text for block in message.content if isinstance(block, Text))
    images = [block for block in message.content if isinstance(block, Image)]
    return without_none(role="user", content=text, images=_images(images))


def _images(images: list[Image]) -> list[str] | None:
    return [image.data for image in images if image.data] or None


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
