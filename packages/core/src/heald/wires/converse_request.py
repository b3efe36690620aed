"""Writes requests of Amazon Bedrock Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from typing import Any, cast
from urllib.parse import quote

from msgspec.structs import replace

from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject, encode_text
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.wires.audio import describe_unsent, find_converse_format, is_audio
from heald.wires.cache_marks import mark_history, mark_ttl
from heald.wires.claude_models import (
    find_effort,
    is_adaptive,
    model_version,
    refuses_forced_call,
    refuses_sampling,
)
from heald.wires.documents import is_text
from heald.wires.features import WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, result_parts
from heald.wires.output_schema import EMPTY_OBJECT, anthropic_schema
from heald.wires.rendering import render
from heald.wires.request import (
    TurnRequest,
    forces_call,
    legal_name,
    offered_tools,
    resolve_budget,
    resolve_effort,
    without_none,
)

NAME = "converse"
FEATURES: WireFeatures = {
    "temperature": "inferenceConfig.temperature",
    "top_p": "inferenceConfig.topP",
    "max_output_tokens": "inferenceConfig.maxTokens",
    "stop_sequences": "inferenceConfig.stopSequences",
    "effort": "outputConfig.effort (Claude)",
    "budget": "additionalModelRequestFields.thinking (Claude)",
    "strict_output": "outputConfig.textFormat",
    "strict_tools": "toolConfig.tools[].toolSpec.strict",
    "citations": "document.citations (Claude)",
    "tool_choice": "toolConfig.toolChoice",
    "web_search": "toolConfig.tools[].systemTool (Nova)",
    "code_execution": "toolConfig.tools[].systemTool (Nova)",
    "cache_marks": "cachePoint",
    "cache_ttl": "cachePoint.ttl",
    "image_input": "image",
    "pdf_input": "document",
    "text_documents": "document",
    "audio_input": "audio",
    "token_count": "POST /model/…/count-tokens",
    "service_tier": "serviceTier.type",
    "metadata": "requestMetadata",
}
_SYSTEM_TOOLS = {"web_search": "nova_grounding", "code_execution": "nova_code_interpreter"}
_IMAGE_FORMATS = ("png", "jpeg", "gif", "webp")
_DOCUMENT_FORMATS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_COUNTED = ("messages", "system", "toolConfig", "additionalModelRequestFields")
"""The members of a request that the API accepts for counting its tokens."""
_LEAST_BUDGET = 1024


def request_path(model: str) -> str:
    return f"/model/{quote(model, safe='')}/converse-stream"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    thinking = _encode_reasoning(request)
    thinks = thinking is not None and thinking["thinking"]["type"] != "disabled"
    samples = not thinks and not ("claude" in request.model and refuses_sampling(request.model))
    config = without_none(
        maxTokens=settings.max_output_tokens,
        temperature=settings.temperature if samples else None,
        topP=settings.top_p if samples else None,
        stopSequences=settings.stop_sequences or None,
    )
    return without_none(
        messages=_encode_messages(request),
        system=[{"text": settings.system}, *_cache_points(request)] if settings.system else None,
        inferenceConfig=config or None,
        toolConfig=_encode_tools(request),
        outputConfig=_encode_output(request, thinking) or None,
        additionalModelRequestFields=thinking,
        serviceTier={"type": settings.service_tier} if settings.service_tier is not None else None,
        requestMetadata=settings.metadata or None,
    )


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:
    """The call that counts the tokens of a request."""
    counted = {name: body[name] for name in _COUNTED if name in body}
    return f"/model/{quote(request.model, safe='')}/count-tokens", {"input": {"converse": counted}}


def _cache_points(request: TurnRequest) -> list[JsonObject]:
    """The mark of prompt caching, for a model that has it: Nova, and Claude from 3.5 on. Claude from 4.5 on has a time.

    https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
    """
    settings, is_claude = request.settings, "claude" in request.model
    if not settings.cache or not (is_claude or "nova" in request.model):
        return []
    if is_claude and model_version(request.model) < (3, 5):
        return []
    ttl = mark_ttl(settings) if is_claude and model_version(request.model) >= (4, 5) else {}
    return [{"cachePoint": {"type": "default"} | ttl}]


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    settings = request.settings
    has_tools = bool(offered_tools(request) or settings.server_tools)
    cites = settings.citations and settings.output_schema is None and "claude" in request.model

    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if not has_tools:
            message = _without_calls(message)
        if message.role == "assistant":
            role, content = "assistant", _encode_assistant(message, history)
        else:
            role, content = "user", [_encode_part(block, history, cites) for block in message.content]
        if content and messages and messages[-1]["role"] == role:
            messages[-1] = {"role": role, "content": [*messages[-1]["content"], *content]}
        elif content:
            messages.append({"role": role, "content": content})

    messages = render(request, NAME, write, user_first=True, form=(has_tools, cites))
    if points := _cache_points(request):
        mark_history(messages, lambda content: [*content, *points])
    return messages


def _without_calls(message: Message) -> Message:
    """Return a message whose calls and results are text. The API refuses them in a request that offers no tool."""
    if not any(isinstance(block, ToolCall | ToolResult) for block in message.content):
        return message
    content: list[Block] = []
    for block in message.content:
        match block:
            case ToolCall():
                content.append(Text(f"[called {legal_name(block.name)} with {encode_text(replayable_input(block))}]"))
            case ToolResult():
                content.append(Text(f"[result of {legal_name(block.name)}]"))
                content += result_parts(block)
            case _:
                content.append(block)
    return replace(message, content=content, native=None)


def _encode_assistant(message: Message, history: History) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        calls = iter(message.tool_calls)
        return [_with_id(block, history, calls) for block in cast("list[JsonObject]", native)]
    content: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            content.append({"text": block.text})
        elif isinstance(block, ToolCall):
            content.append(_encode_call(block, history.ids[block.id]))
    return content


def _with_id(block: JsonObject, history: History, calls: Any) -> JsonObject:
    """Return a block as it was received. Only the id of a call that would clash changes."""
    if "toolUse" not in block:
        return block
    return {"toolUse": block["toolUse"] | {"toolUseId": history.ids[next(calls).id]}}


def _encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    return {"toolUse": {"toolUseId": wire_id, "name": legal_name(call.name), "input": replayable_input(call)}}


def _encode_part(block: Block, history: History, cites: bool) -> JsonObject:
    """Encode a block of content. The API requires that all documents of a request can be cited, or none."""
    if not isinstance(block, ToolResult):
        return _cited(_encode_content(block)) if cites else _encode_content(block)
    content = [_encode_result_part(part) for part in result_parts(block)]
    content = [_cited(part) for part in content] if cites else content
    status = {"status": "error"} if block.is_error else {}
    return {"toolResult": {"toolUseId": history.ids[block.id], "content": content} | status}


def _cited(content: JsonObject) -> JsonObject:
    """Return a block whose document the model may cite; any other block unchanged."""
    document = content.get("document")
    return {"document": document | {"citations": {"enabled": True}}} if document else content


def _encode_result_part(part: Block) -> JsonObject:
    """Encode a part of a result, which may hold no audio."""
    return {"text": describe_unsent(part)} if isinstance(part, File) and is_audio(part) else _encode_content(part)


def _encode_content(block: Block) -> JsonObject:
    match block:
        case Image(media_type=media_type, data=str(data)) if _subtype(media_type) in _IMAGE_FORMATS:
            return {"image": {"format": _subtype(media_type), "source": {"bytes": data}}}
        case File(data=data) if is_audio(block):
            form = find_converse_format(block)
            if form is None or not data:
                return {"text": describe_unsent(block)}
            return {"audio": {"format": form, "source": {"bytes": data}}}
        case File(media_type=media_type, data=str(data), name=name) if _document_format(media_type) is not None:
            document = {"format": _document_format(media_type), "name": _document_name(name)}
            return {"document": document | {"source": {"bytes": data}}}
        case Image(media_type=media_type, url=url) | File(media_type=media_type, url=url):
            return {"text": f"[not shown: {media_type} {url or ''}]".replace(" ]", "]")}
        case _:
            return {"text": getattr(block, "text", "")}


def check_media(part: Image | File) -> None:
    """Raise InvalidRequest for a picture or document without data, or of a type that the API does not have."""
    if not part.data:
        kind = "pictures" if isinstance(part, Image) else "documents"
        raise InvalidRequest(f"The converse wire carries {kind} as data and not by URL; send the data itself.")
    if isinstance(part, Image) and _subtype(part.media_type) not in _IMAGE_FORMATS:
        raise InvalidRequest(
            f"The converse wire carries PNG, JPEG, GIF and WebP pictures and not {part.media_type}; convert it."
        )
    if isinstance(part, File) and _document_format(part.media_type) is None:
        raise InvalidRequest(
            f"The converse wire carries PDF, Word, Excel, HTML and text documents and not {part.media_type}; "
            "convert it."
        )


def _document_format(media_type: str) -> str | None:
    """Return the API's name for the format of a document. Text of any other kind is plain text."""
    return _DOCUMENT_FORMATS.get(media_type) or ("txt" if is_text(media_type) else None)


def _subtype(media_type: str) -> str:
    return media_type.removeprefix("image/").replace("jpg", "jpeg")


def _document_name(name: str | None) -> str:
    """Return a name that the API accepts: letters, digits, single spaces, hyphens and brackets."""
    allowed = "".join(
        char if char.isascii() and (char.isalnum() or char in "-()[]") else " " for char in name or "file"
    )
    return " ".join(allowed.split())[:200] or "file"


def _encode_tools(request: TurnRequest) -> JsonObject | None:
    """Encode the tools. The API has no choice `none`: then none of one's own is offered."""
    choice, definitions = request.settings.tool_choice, offered_tools(request)
    tools = [
        {"systemTool": {"name": _SYSTEM_TOOLS[tool.name]} | tool.options} for tool in request.settings.server_tools
    ]
    tools += [_encode_tool(tool) for tool in definitions]
    if not definitions:
        return {"tools": tools} if tools else None
    kinds: dict[str, JsonObject] = {"required": {"any": {}}, "auto": {"auto": {}}}
    return {"tools": tools, "toolChoice": kinds.get(choice, {"tool": {"name": choice}})}


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    strict = anthropic_schema(EMPTY_OBJECT | tool.input_schema) if tool.strict else None
    schema: JsonObject = strict or {"type": "object"} | tool.input_schema
    spec = {"name": tool.name, "description": tool.description or tool.name, "inputSchema": {"json": schema}}
    return {"toolSpec": spec | ({"strict": True} if strict is not None else {})}


def _encode_output(request: TurnRequest, thinking: JsonObject | None) -> JsonObject:
    schema, reason = request.settings.output_schema, request.settings.reasoning
    effort = resolve_effort(reason) if reason is not None else None
    is_adaptive_thinking = thinking is not None and thinking["thinking"]["type"] == "adaptive"
    level = {"effort": find_effort(effort, request.model)} if effort is not None and is_adaptive_thinking else {}
    return level | (_encode_format(schema) if schema is not None else {})


def _encode_format(schema: JsonObject) -> JsonObject:
    written = anthropic_schema(schema) or schema
    structure = {"jsonSchema": {"schema": encode_text(written), "name": "output"}}
    return {"textFormat": {"type": "json_schema", "structure": structure}}


def _encode_reasoning(request: TurnRequest) -> JsonObject | None:
    """Request thinking from Claude, the only family whose field is documented for this API."""
    reason = request.settings.reasoning
    if reason is None or "claude" not in request.model:
        return None
    if resolve_effort(reason) == "none":
        return {"thinking": {"type": "disabled"}}
    if forces_call(request) and refuses_forced_call(request.model):
        return None
    if refuses_sampling(request.model) or (reason.budget is None and is_adaptive(request.model)):
        return {"thinking": {"type": "adaptive"}}
    limit = request.settings.max_output_tokens
    budget = max(resolve_budget(reason) or _LEAST_BUDGET, _LEAST_BUDGET)
    if limit is not None and limit <= _LEAST_BUDGET:
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled", "budget_tokens": budget if limit is None else min(budget, limit - 1)}}
