"""Converts the requests of MCP servers to the agent's model (sampling), and its answers. The server runs the tools."""

from collections.abc import Iterator

import mcp_types as types

from heald.core.messages import File, Image, Message, ResultPart, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import StopReason
from heald.tools.definitions import TOOL_NAME
from heald.tools.json_schema import find_schema_problem
from heald.tools.mcp.content import convert_block
from heald.tools.model_requests import ModelAnswer, ModelRequest

MAX_SAMPLED_TOKENS = 32_000
MAX_SAMPLED_MESSAGES = 100
MAX_SAMPLED_TOOLS = 50
_STOPS: dict[StopReason, str] = {"max_tokens": "maxTokens", "stop_sequence": "stopSequence", "tool_use": "toolUse"}


def read_request(params: types.CreateMessageRequestParams) -> ModelRequest | None:
    """Return the request to the model. None if it is too large, or has content that the model does not accept."""
    tools = [_read_tool(tool) for tool in params.tools or ()]
    if not params.messages or len(params.messages) > MAX_SAMPLED_MESSAGES or len(tools) > MAX_SAMPLED_TOOLS:
        return None
    messages = [message for sampled in params.messages for message in _read_message(sampled)]
    if None in tools or None in messages:
        return None
    choice = params.tool_choice.mode if params.tool_choice is not None else None
    return ModelRequest(
        messages=[message for message in messages if message is not None],
        system=params.system_prompt or "",
        max_output_tokens=max(1, min(params.max_tokens, MAX_SAMPLED_TOKENS)),
        temperature=params.temperature,
        stop_sequences=tuple(params.stop_sequences or ())[:8],
        tools=tuple(tool for tool in tools if tool is not None),
        tool_choice=choice or "auto",
    )


def write_answer(
    answer: ModelAnswer, *, with_tools: bool
) -> types.CreateMessageResult | types.CreateMessageResultWithTools:
    """Return the answer of the model for the server."""
    stop_reason = _STOPS.get(answer.stop_reason, "endTurn")
    if not with_tools:
        block = types.TextContent(text=answer.text)
        return types.CreateMessageResult(role="assistant", content=block, model=answer.model, stop_reason=stop_reason)
    content: list[types.SamplingMessageContentBlock] = [types.TextContent(text=answer.text)] if answer.text else []
    content += [types.ToolUseContent(id=call.id, name=call.name, input=call.input) for call in answer.calls]
    return types.CreateMessageResultWithTools(
        role="assistant",
        content=content or [types.TextContent(text="")],
        model=answer.model,
        stop_reason=stop_reason,
    )


def _read_tool(tool: types.Tool) -> ToolDefinition | None:
    if not TOOL_NAME.match(tool.name) or find_schema_problem(tool.input_schema):
        return None
    return ToolDefinition(name=tool.name, description=tool.description or "", input_schema=tool.input_schema)


def _read_message(message: types.SamplingMessage) -> Iterator[Message | None]:
    """Yield the messages that a message stands for: results of tools are messages of their own. None: not accepted."""
    parts: list[Text | Image | File | ToolCall] = []
    results: list[ToolResult] = []
    for block in message.content_as_list:
        match block:
            case types.ToolUseContent():
                parts.append(ToolCall(id=block.id, name=block.name, input=block.input))
            case types.ToolResultContent():
                content: list[ResultPart] = [convert_block(part) for part in block.content]
                status = "error" if block.is_error else "ok"
                results.append(ToolResult(id=block.tool_use_id, status=status, content=content))
            case types.TextContent() | types.ImageContent() | types.AudioContent():
                parts.append(convert_block(block))
    calls = any(isinstance(part, ToolCall) for part in parts)
    if (results and (parts or message.role != "user")) or (calls and message.role != "assistant"):
        yield None
    elif results:
        yield Message(role="tool", content=list(results))
    else:
        yield Message(role=message.role, content=list(parts))
