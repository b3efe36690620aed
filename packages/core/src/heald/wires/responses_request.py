"""Writes requests of OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses/create
"""

from heald.core.json import JsonObject, encode_text
from heald.core.lazy import lazy_pattern
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import Settings
from heald.wires.audio import describe_unsent, is_audio
from heald.wires.client_items import answer_open, is_client_item
from heald.wires.features import WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, result_parts
from heald.wires.output_schema import openai_schema, strict_tool_schema
from heald.wires.rendering import build_frame, render
from heald.wires.request import TurnRequest, data_url, legal_name, resolve_effort, without_none

NAME = "responses"

FEATURES: WireFeatures = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_output_tokens",
    "logprobs": "top_logprobs, include[]",
    "effort": "reasoning.effort",
    "thinking_text": "reasoning.summary",
    "strict_output": "text.format",
    "strict_tools": "tools[].strict",
    "image_output": "tools[] image_generation",
    "tool_choice": "tool_choice",
    "parallel_tools": "parallel_tool_calls",
    "web_search": "tools[] web_search",
    "code_execution": "tools[] code_interpreter",
    "file_search": "tools[] file_search",
    "image_generation": "tools[] image_generation",
    "cache_ttl": "prompt_cache_retention",
    "cache_key": "prompt_cache_key",
    "compaction": "context_management[] compaction",
    "compaction_endpoint": "POST /responses/compact",
    "image_input": "input_image",
    "image_detail": "input_image.detail",
    "pdf_input": "input_file",
    "text_documents": "input_file",
    "file_ids": "file_id",
    "file_upload": "POST /files",
    "token_count": "POST /responses/input_tokens",
    "batches": "POST /batches",
    "websocket": "wss://…/responses",
    "service_tier": "service_tier",
    "user": "safety_identifier",
    "metadata": "metadata",
}

_OPTIONAL_IDS = (None, "message", "reasoning", "function_call", "custom_tool_call")
_REASONERS = lazy_pattern(r"(?:^|/)(?:o\d|gpt-[5-9]|codex|grok-[4-9]|computer-use)")
_SERVER_TOOLS: dict[str, JsonObject] = {
    "web_search": {"type": "web_search"},
    "code_execution": {"type": "code_interpreter", "container": {"type": "auto"}},
    "file_search": {"type": "file_search"},
    "image_generation": {"type": "image_generation"},
}
_INCLUDED = {
    "web_search": "web_search_call.action.sources",
    "code_execution": "code_interpreter_call.outputs",
    "file_search": "file_search_call.results",
}
"""The fields that are requested besides, so that the results of a server tool are in the answer."""


_COUNTED = ("model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text")
"""The members of a request that the API accepts for counting its tokens."""


_COMPACTED = (
    *("model", "input", "instructions", "service_tier"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
"""The members of a request that the API accepts for compacting it."""


def request_path(model: str) -> str:  # noqa: ARG001
    return "/responses"


def build_request(request: TurnRequest) -> JsonObject:
    return {**build_frame(request, _build_frame), "input": _encode_messages(request)}


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:  # noqa: ARG001
    """The call that counts the tokens of a request."""
    return "/responses/input_tokens", {name: body[name] for name in _COUNTED if name in body}


def encode_compaction(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:  # noqa: ARG001
    """The call that compacts a conversation."""
    return "/responses/compact", {name: body[name] for name in _COMPACTED if name in body}


def _build_frame(request: TurnRequest) -> JsonObject:
    settings = request.settings
    return without_none(
        model=request.model,
        instructions=settings.system or None,
        stream=True,
        store=False if request.quirks.stateless else None,
        include=_encode_include(request) or None,
        max_output_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        reasoning=_encode_reasoning(request),
        tools=_encode_tools(request) or None,
        tool_choice=_encode_tool_choice(settings.tool_choice) if request.tools else None,
        parallel_tool_calls=settings.parallel_tool_calls if request.tools else None,
        text=_encode_format(settings.output_schema) if settings.output_schema else None,
        context_management=_encode_context_edits(settings),
        top_logprobs=settings.top_logprobs,
        service_tier=settings.service_tier,
        prompt_cache_key=settings.cache_key,
        prompt_cache_retention="24h" if settings.cache_ttl in ("1h", "24h") else None,
        safety_identifier=settings.user,
        metadata=settings.metadata or None,
    )


def _encode_include(request: TurnRequest) -> list[str]:
    settings = request.settings
    is_reasoner = settings.reasoning is not None or _REASONERS.search(request.model) is not None
    include = ["reasoning.encrypted_content"] if request.quirks.stateless and is_reasoner else []
    include += [_INCLUDED[tool.name] for tool in settings.server_tools if tool.name in _INCLUDED]
    return [*include, *(["message.output_text.logprobs"] if settings.top_logprobs is not None else [])]


def _encode_context_edits(settings: Settings) -> list[JsonObject] | None:
    if settings.compact_at is None:
        return None
    return [{"type": "compaction", "compact_threshold": settings.compact_at}]


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, items: list[JsonObject]) -> None:
        if message.role == "tool":
            for block in message.content:
                if isinstance(block, ToolResult):
                    items.append(_encode_result(block, history, items))
        elif message.role == "user":
            items.append({"role": "user", "content": [_encode_user_part(block) for block in message.content]})
        else:
            items += _encode_assistant(message, history, request)

    return render(request, NAME, write)


def _encode_assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(native, message, history, request)
    items: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            items.append({"role": "assistant", "content": [{"type": "output_text", "text": block.text}]})
        elif isinstance(block, ToolCall):
            items.append(encode_call(block, history.ids[block.id]))
    return items


def _echo_native(
    native: list[JsonObject], message: Message, history: History, request: TurnRequest
) -> list[JsonObject]:
    """The items as they were received, reasoning directly before the item that it belongs to.

    Without stored responses, the API does not accept reasoning that is not encrypted. It is omitted, together with the
    ids of the other items, which refer to it. Calls that a client had to run are answered.
    """
    calls = iter(message.tool_calls)
    items: list[JsonObject] = []
    answered = answer_open(native) if any(is_client_item(item) for item in native) else native
    dropped = any(item not in answered for item in native) if answered is not native else False
    for item in answered:
        if item.get("type") == "reasoning" and request.quirks.stateless and not item.get("encrypted_content"):
            dropped = True
            continue
        if item.get("type") in ("function_call", "custom_tool_call"):
            item = item | {"call_id": history.ids[next(calls).id]}
        items.append(item)
    return [_without_id(item) for item in items] if dropped else items


def _without_id(item: JsonObject) -> JsonObject:
    """The item without its id, if the API accepts that: it requires the id of a server tool's call."""
    if item.get("type") not in _OPTIONAL_IDS:
        return item
    return {name: value for name, value in item.items() if name != "id"}


def encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    call_fields = {"name": legal_name(call.name), "arguments": encode_text(replayable_input(call))}
    return {"type": "function_call", "call_id": wire_id, **call_fields}


def _encode_result(result: ToolResult, history: History, items: list[JsonObject]) -> JsonObject:
    call_id = history.ids[result.id]
    parts = result_parts(result)
    only = parts[0] if len(parts) == 1 else None
    output = only.text if isinstance(only, Text) else [_encode_part(part) for part in parts]
    called = next((item.get("type") for item in reversed(items) if item.get("call_id") == call_id), None)
    kind = "custom_tool_call_output" if called == "custom_tool_call" else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": output}


def _encode_user_part(block: Block) -> JsonObject:
    """Encode a part of a user's message, in which a picture must have a detail."""
    part = _encode_part(block)
    return {**part, "detail": part.get("detail", "auto")} if isinstance(block, Image) else part


def _encode_part(block: Block) -> JsonObject:
    match block:
        case Image(file_id=str(file_id), detail=detail):
            return without_none(type="input_image", file_id=file_id, detail=detail)
        case Image(url=url, media_type=media_type, data=data, detail=detail):
            place = url or data_url(media_type, data or "")
            return without_none(type="input_image", image_url=place, detail=detail)
        case File() if is_audio(block):
            return {"type": "input_text", "text": describe_unsent(block)}
        case File(file_id=str(file_id)):
            return {"type": "input_file", "file_id": file_id}
        case File(url=str(url)):
            return {"type": "input_file", "file_url": url}
        case File(media_type=media_type, data=data, name=name):
            return {"type": "input_file", "filename": name or "file", "file_data": data_url(media_type, data or "")}
        case _:
            return {"type": "input_text", "text": getattr(block, "text", "")}


def _encode_tools(request: TurnRequest) -> list[JsonObject]:
    settings = request.settings
    tools = [_SERVER_TOOLS[tool.name] | tool.options for tool in settings.server_tools]
    if settings.image_output and not any(tool.name == "image_generation" for tool in settings.server_tools):
        tools.append(_SERVER_TOOLS["image_generation"])
    return [*tools, *(_encode_tool(tool) for tool in request.tools)]


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    strict = strict_tool_schema(tool.input_schema) if tool.strict else None
    function = {"name": tool.name, "description": tool.description, "parameters": strict or tool.input_schema}
    return {"type": "function", **function, "strict": strict is not None}


def _encode_tool_choice(choice: str) -> str | JsonObject:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": choice}


def _encode_reasoning(request: TurnRequest) -> JsonObject | None:
    reason = request.settings.reasoning
    if reason is None:
        return None
    return without_none(effort=resolve_effort(reason), summary="auto" if reason.visible else None) or None


def _encode_format(schema: JsonObject) -> JsonObject:
    written, strict = openai_schema(schema)
    return {"format": {"type": "json_schema", "name": "output", "schema": written, "strict": strict}}
