"""Writes requests of Anthropic Messages.

https://docs.anthropic.com/en/api/messages
"""

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import ServerTool, Settings
from heald.wires.audio import describe_unsent, is_audio
from heald.wires.cache_marks import cache_control, mark_history
from heald.wires.claude_models import (
    default_max_tokens,
    find_effort,
    is_adaptive,
    refuses_forced_call,
    refuses_sampling,
)
from heald.wires.documents import read_text_document
from heald.wires.features import WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, result_parts
from heald.wires.output_schema import EMPTY_OBJECT, anthropic_schema
from heald.wires.rendering import RenderCache, build_frame, render
from heald.wires.request import TurnRequest, forces_call, legal_name, resolve_budget, resolve_effort, without_none

NAME = "messages"

CONTAINER = "container"
"""The type of the entry in a stored message that names the container of its programmatic calls."""

FEATURES: WireFeatures = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop_sequences",
    "effort": "output_config.effort",
    "budget": "thinking.budget_tokens",
    "thinking_text": "thinking.display",
    "strict_output": "output_config.format",
    "strict_tools": "tools[].strict",
    "citations": "document.citations",
    "tool_choice": "tool_choice",
    "parallel_tools": "tool_choice.disable_parallel_tool_use",
    "web_search": "tools[] web_search",
    "web_fetch": "tools[] web_fetch",
    "code_execution": "tools[] code_execution",
    "cache_marks": "cache_control",
    "cache_ttl": "cache_control.ttl",
    "compaction": "context_management.edits[] compact",
    "clear_results": "context_management.edits[] clear_tool_uses",
    "image_input": "image",
    "pdf_input": "document",
    "text_documents": "document, as text",
    "file_ids": "source.file_id",
    "file_upload": "POST /files",
    "token_count": "POST /messages/count_tokens",
    "batches": "POST /messages/batches",
    "service_tier": "service_tier",
    "user": "metadata.user_id",
}

_BETAS = {
    "clear_tool_uses_20250919": "context-management-2025-06-27",
    "compact_20260112": "compact-2026-01-12",
}
_FILES_BETA = "files-api-2025-04-14"
_SERVER_TOOLS = {
    "web_search": "web_search_20250305",
    "web_fetch": "web_fetch_20250910",
    "code_execution": "code_execution_20250825",
}
_MIN_BUDGET = 1024
_COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking")
_ANTHROPIC_ONLY = ("file_ids", "file_upload", "batches", "service_tier", "web_search", "web_fetch", "code_execution")
CLOUD_FEATURES: WireFeatures = {name: place for name, place in FEATURES.items() if name not in _ANTHROPIC_ONLY}
"""The features that the API has on the machines of a cloud."""


def request_path(model: str) -> str:  # noqa: ARG001
    return "/messages"


def build_request(request: TurnRequest) -> JsonObject:
    body = {**build_frame(request, _build_frame), "messages": _encode_messages(request)}
    container = _find_container(request)
    return body if container is None else body | {"container": container}


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:  # noqa: ARG001
    """The call that counts the tokens of a request."""
    return "/messages/count_tokens", keep_counted(body)


def keep_counted(body: JsonObject) -> JsonObject:
    """Return the members of a request that the API accepts for counting its tokens."""
    return {name: body[name] for name in _COUNTED if name in body}


def _build_frame(request: TurnRequest) -> JsonObject:
    settings = request.settings
    thinking = _encode_reasoning(request)
    thinks = bool(thinking) and thinking["thinking"]["type"] != "disabled"
    samples = not thinks and not refuses_sampling(request.model)
    body = without_none(
        model=request.model,
        system=[{"type": "text", "text": settings.system} | cache_control(settings)] if settings.system else None,
        max_tokens=settings.max_output_tokens or default_max_tokens(request.model),
        stream=True,
        temperature=settings.temperature if samples else None,
        top_p=settings.top_p if samples else None,
        stop_sequences=settings.stop_sequences or None,
        tools=_encode_tools(request) or None,
        tool_choice=_encode_tool_choice(request) if request.tools else None,
        context_management=_encode_context_edits(settings),
        service_tier=settings.service_tier,
        metadata={"user_id": settings.user} if settings.user is not None else None,
    )
    return body | thinking | _encode_format(request, thinking)


def build_headers(request: TurnRequest) -> dict[str, str]:
    betas = find_betas(request)
    return {"anthropic-beta": ",".join(betas)} if betas else {}


def find_betas(request: TurnRequest) -> list[str]:
    """Name the betas that the request needs."""
    edits = _encode_context_edits(request.settings)
    betas = [_BETAS[edit["type"]] for edit in edits["edits"]] if edits is not None else []
    cache: RenderCache = request.cache or RenderCache()
    return [*betas, *([_FILES_BETA] if cache.file_ids.of(request.messages) else [])]


def betas_in_body(request: TurnRequest) -> JsonObject:
    """Return the betas that the request needs as a member of its body, where a cloud expects them there."""
    betas = find_betas(request)
    return {"anthropic_beta": betas} if betas else {}


def _encode_context_edits(settings: Settings) -> JsonObject | None:
    if settings.clear_results_at is None and settings.compact_at is None:
        return None
    limits = {"clear_tool_uses_20250919": settings.clear_results_at, "compact_20260112": settings.compact_at}
    edits = [
        {"type": kind, "trigger": {"type": "input_tokens", "value": limit}}
        for kind, limit in limits.items()
        if limit is not None
    ]
    return {"edits": edits}


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    cites = request.settings.citations and request.settings.output_schema is None  # the API refuses both together

    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, content = "assistant", _encode_assistant(message, history)
        else:
            role, content = "user", [_encode_part(block, history, cites) for block in message.content]
        if content and messages and messages[-1]["role"] == role:  # results and the next question are one message
            messages[-1] = {"role": role, "content": [*messages[-1]["content"], *content]}
        elif content:
            messages.append({"role": role, "content": content})

    def mark(content: list[JsonObject]) -> list[JsonObject]:
        return [*content[:-1], content[-1] | cache_control(request.settings)]

    messages = render(request, NAME, write, user_first=True, form=cites)
    if request.settings.cache:
        mark_history(messages, mark)
    return messages


def _encode_assistant(message: Message, history: History) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(native, message, history)
    content: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            content.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolCall):
            content.append(_encode_call(block, history.ids[block.id]))
    return content


def _echo_native(native: list[JsonObject], message: Message, history: History) -> list[JsonObject]:
    """The blocks as they were received, thinking with its signature first. Only ids that would clash change."""
    calls = iter(message.tool_calls)
    return [
        block | {"id": history.ids[next(calls).id]} if block.get("type") == "tool_use" else block
        for block in native
        if block.get("type") != CONTAINER
    ]


def _find_container(request: TurnRequest) -> str | None:
    """The container whose code waits for the results of its own calls. The API requires it with those results."""
    for message in reversed(request.messages):
        if message.role != "assistant":
            continue
        native = message.native
        if native is None or (native.wire, native.provider, native.model) != (NAME, request.provider, request.model):
            return None
        return next((str(block["id"]) for block in as_objects(native.content) if block.get("type") == CONTAINER), None)
    return None


def is_programmatic(block: JsonObject) -> bool:
    """A call that the model's own code makes, in a container of the API."""
    caller = as_object(block.get("caller")).get("type")
    return block.get("type") == "tool_use" and caller not in (None, "direct")


def _encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    return {"type": "tool_use", "id": wire_id, "name": legal_name(call.name), "input": replayable_input(call)}


def _encode_part(block: Block, history: History, cites: bool) -> JsonObject:
    """Encode a block of content. The API requires that all documents of a request can be cited, or none."""
    if isinstance(block, ToolResult):
        return _encode_result(block, history, cites)
    content = encode_content(block)
    return content | {"citations": {"enabled": True}} if cites and content["type"] == "document" else content


def encode_content(block: Block) -> JsonObject:
    """A text, an image or a document as this API encodes it."""
    match block:
        case Image(file_id=str(file_id)):
            return {"type": "image", "source": {"type": "file", "file_id": file_id}}
        case Image(url=str(url)):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Image(media_type=media_type, data=data):
            return {"type": "image", "source": _base64(media_type, data)}
        case File() if is_audio(block):
            return {"type": "text", "text": describe_unsent(block)}
        case File(file_id=str(file_id), name=name):
            return without_none(type="document", source={"type": "file", "file_id": file_id}, title=name)
        case File(url=str(url)):
            return {"type": "document", "source": {"type": "url", "url": url}}
        case File(media_type=media_type, data=data, name=name):
            text = read_text_document(block)
            source = _base64(media_type, data) if text is None else _plain_text(text)
            return without_none(type="document", source=source, title=name)
        case _:
            return {"type": "text", "text": getattr(block, "text", "")}


def _encode_result(result: ToolResult, history: History, cites: bool) -> JsonObject:
    parts = result_parts(result)
    only = parts[0] if len(parts) == 1 else None
    content = only.text if isinstance(only, Text) else [_encode_part(part, history, cites) for part in parts]
    answer = {"type": "tool_result", "tool_use_id": history.ids[result.id], "content": content}
    return answer | ({"is_error": True} if result.is_error else {})


def _base64(media_type: str, data: str | None) -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": data or ""}


def _plain_text(text: str) -> JsonObject:
    return {"type": "text", "media_type": "text/plain", "data": text}


def _encode_tools(request: TurnRequest) -> list[JsonObject]:
    tools = [_encode_server_tool(tool) for tool in request.settings.server_tools]
    tools += [_encode_tool(tool) for tool in request.tools]
    if tools and not request.settings.system:
        tools[-1] |= cache_control(request.settings)
    return tools


def _encode_server_tool(tool: ServerTool) -> JsonObject:
    return {"type": _SERVER_TOOLS[tool.name], "name": tool.name} | tool.options


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    strict = anthropic_schema(EMPTY_OBJECT | tool.input_schema) if tool.strict else None
    schema: JsonObject = strict or {"type": "object"} | tool.input_schema
    encoded = {"name": tool.name, "description": tool.description, "input_schema": schema}
    return encoded | ({"strict": True} if strict is not None else {})


def _encode_tool_choice(request: TurnRequest) -> JsonObject:
    choice = request.settings.tool_choice
    kinds = {"auto": "auto", "none": "none", "required": "any"}
    result: JsonObject = {"type": kinds[choice]} if choice in kinds else {"type": "tool", "name": choice}
    if request.settings.parallel_tool_calls is False and choice != "none":
        result["disable_parallel_tool_use"] = True
    return result


def _encode_reasoning(request: TurnRequest) -> JsonObject:
    reason = request.settings.reasoning
    if reason is None:
        return {}
    if resolve_effort(reason) == "none":
        return {"thinking": {"type": "disabled"}}
    if forces_call(request) and refuses_forced_call(request.model):
        return {}
    display = {"display": "summarized"} if reason.visible else {}
    if is_adaptive(request.model) and (reason.budget is None or refuses_sampling(request.model)):
        return {"thinking": {"type": "adaptive"} | display}
    limit = request.settings.max_output_tokens or default_max_tokens(request.model)
    if limit <= _MIN_BUDGET:  # the budget must be below the limit, and the smallest budget is not
        return {"thinking": {"type": "disabled"}}
    budget = max(min(resolve_budget(reason) or _MIN_BUDGET, limit - 1), _MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _encode_format(request: TurnRequest, thinking: JsonObject) -> JsonObject:
    config: JsonObject = {}
    reason = request.settings.reasoning
    effort = resolve_effort(reason) if reason is not None else None
    if effort is not None and thinking.get("thinking", {}).get("type") == "adaptive":
        config["effort"] = find_effort(effort, request.model)
    if request.settings.output_schema is not None:
        config["format"] = {"type": "json_schema", "schema": anthropic_schema(request.settings.output_schema)}
    return {"output_config": config} if config else {}
