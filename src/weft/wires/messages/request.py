"""Messages: a turn as a request body."""

import re
from typing import cast

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject
from weft.core.messages import Block, Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, parts_of, render
from weft.wires.request import TurnRequest, budget_of, effort_of, legal_name, without_none

NAME = "messages"

_CACHE = {"cache_control": {"type": "ephemeral"}}
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
_MIN_BUDGET = 1024


def path(model: str) -> str:  # noqa: ARG001
    return "/messages"


def build(request: TurnRequest) -> JsonObject:
    settings = request.settings
    thinking = _thinking(request)
    thinks = bool(thinking) and thinking["thinking"]["type"] != "disabled"
    body = without_none(
        model=request.model,
        system=_system(settings.system, settings.cache) if settings.system else None,
        messages=_messages(request),
        max_tokens=settings.max_output_tokens or _default_max_tokens(request.model),
        stream=True,
        temperature=None if thinks else settings.temperature,
        top_p=None if thinks else settings.top_p,
        stop_sequences=settings.stop_sequences or None,
        tools=_tools(request) or None,
        tool_choice=_tool_choice(request) if request.tools else None,
    )
    return body | thinking | _output_config(request, thinking) | settings.extra


def _system(system: str, cache: bool) -> list[JsonObject]:
    return [{"type": "text", "text": system} | (_CACHE if cache else {})]


def _messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, content = "assistant", _assistant(message, history, request)
        else:
            role, content = "user", [_part(block, history) for block in message.content]
        if content and messages and messages[-1]["role"] == role:  # results and the next question are one message
            messages[-1] = {"role": role, "content": [*messages[-1]["content"], *content]}
        elif content:
            messages.append({"role": role, "content": content})

    messages = render(
        request.messages,
        History(NAME, request.provider, request.model),
        write,
        cache=request.cache,
        user_first=True,
    )
    if request.settings.cache and messages and messages[-1]["role"] == "user":
        *rest, last = messages[-1]["content"]
        messages[-1] = {"role": "user", "content": [*rest, last | _CACHE]}
    return messages


def _assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = echo_of(message, NAME, request.provider, request.model)
    if native is not None:
        return _echo(cast("list[JsonObject]", native), message, history)
    content: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            content.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolCall):
            content.append(_tool_use(block, history.ids[block.id]))
    return content


def _echo(native: list[JsonObject], message: Message, history: History) -> list[JsonObject]:
    """The blocks as they came, thinking with its signature first. Only ids that would clash change."""
    calls = iter(message.tool_calls)
    return [
        block | {"id": history.ids[next(calls).id]} if block.get("type") == "tool_use" else block for block in native
    ]


def _tool_use(call: ToolCall, wire_id: str) -> JsonObject:
    return {"type": "tool_use", "id": wire_id, "name": legal_name(call.name), "input": wire_input(call)}


def _part(block: Block, history: History) -> JsonObject:
    match block:
        case ToolResult():
            return _tool_result(block, history)
        case _:
            return content_part(block)


def content_part(block: Block) -> JsonObject:
    """A text, a picture or a document, as this API takes it."""
    match block:
        case Image(url=str(url)):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Image(media_type=media_type, data=data):
            return {"type": "image", "source": _base64(media_type, data)}
        case File(url=str(url)):
            return {"type": "document", "source": {"type": "url", "url": url}}
        case File(media_type=media_type, data=data, name=name):
            return without_none(type="document", source=_base64(media_type, data), title=name)
        case _:
            return {"type": "text", "text": getattr(block, "text", "")}


def _tool_result(result: ToolResult, history: History) -> JsonObject:
    parts = parts_of(result)
    only_text = len(parts) == 1 and isinstance(parts[0], Text)
    content = cast(Text, parts[0]).text if only_text else [_part(part, history) for part in parts]
    answer = {"type": "tool_result", "tool_use_id": history.ids[result.id], "content": content}
    return answer | ({"is_error": True} if result.is_error else {})


def _base64(media_type: str, data: str | None) -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": data or ""}


def _tools(request: TurnRequest) -> list[JsonObject]:
    tools = [_tool(tool) for tool in request.tools]
    if tools and request.settings.cache and not request.settings.system:
        tools[-1] |= _CACHE
    return tools


def _tool(tool: ToolDefinition) -> JsonObject:
    schema: JsonObject = {"type": "object"} | tool.input_schema
    strict = {"strict": True} if tool.strict else {}
    return {"name": tool.name, "description": tool.description, "input_schema": schema} | strict


def _tool_choice(request: TurnRequest) -> JsonObject:
    choice = request.settings.tool_choice
    kinds = {"auto": "auto", "none": "none", "required": "any"}
    result: JsonObject = {"type": kinds[choice]} if choice in kinds else {"type": "tool", "name": choice}
    if request.settings.parallel_tool_calls is False and choice != "none":
        result["disable_parallel_tool_use"] = True
    return result


def _thinking(request: TurnRequest) -> JsonObject:
    reason = request.settings.reasoning
    if reason is None:
        return {}
    if effort_of(reason) == "none":
        return {"thinking": {"type": "disabled"}}
    display = {"display": "summarized"} if reason.visible else {}
    if reason.budget is None and _is_adaptive(request.model):
        return {"thinking": {"type": "adaptive"} | display}
    limit = request.settings.max_output_tokens or _default_max_tokens(request.model)
    if limit <= _MIN_BUDGET:  # the API wants the budget under the limit, and no budget is that small
        return {"thinking": {"type": "disabled"}}
    budget = max(min(budget_of(reason) or _MIN_BUDGET, limit - 1), _MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _output_config(request: TurnRequest, thinking: JsonObject) -> JsonObject:
    config: JsonObject = {}
    reason = request.settings.reasoning
    if reason is not None and reason.effort and thinking.get("thinking", {}).get("type") == "adaptive":
        config["effort"] = _EFFORTS[reason.effort]
    if request.settings.output_schema is not None:
        config["format"] = {"type": "json_schema", "schema": request.settings.output_schema}
    return {"output_config": config} if config else {}


def _version(model: str) -> tuple[int, int]:
    found = _VERSION.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else (99, 0)


def _is_adaptive(model: str) -> bool:
    """Models from 4.6 on decide themselves how much to think."""
    return _version(model) >= (4, 6)


def _default_max_tokens(model: str) -> int:
    """The API insists on a limit. This one is as large as the model's family surely takes."""
    version = _version(model)
    if version < (3, 5):
        return 4096
    return 8192 if version < (3, 7) else 32000
