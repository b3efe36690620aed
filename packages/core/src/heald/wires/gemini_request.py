"""Writes requests of Gemini generateContent.

Request: https://ai.google.dev/api/generate-content
Thought signatures: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from urllib.parse import quote

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.lazy import lazy_pattern
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.wires.effort_levels import find_thinking_level
from heald.wires.features import PASSED, WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, split_result
from heald.wires.rendering import build_frame, render
from heald.wires.request import TurnRequest, legal_name, resolve_budget, resolve_effort, without_none

NAME = "gemini"

FEATURES: WireFeatures = {
    "temperature": "generationConfig.temperature",
    "top_p": "generationConfig.topP",
    "max_output_tokens": "generationConfig.maxOutputTokens",
    "stop_sequences": "generationConfig.stopSequences",
    "seed": "generationConfig.seed",
    "logprobs": "generationConfig.responseLogprobs, logprobs",
    "effort": "generationConfig.thinkingConfig.thinkingLevel",
    "budget": "generationConfig.thinkingConfig.thinkingBudget",
    "thinking_text": "generationConfig.thinkingConfig.includeThoughts",
    "strict_output": "generationConfig.responseJsonSchema",
    "image_output": "generationConfig.responseModalities",
    "tool_choice": "toolConfig.functionCallingConfig",
    "web_search": "tools[].googleSearch",
    "web_fetch": "tools[].urlContext",
    "code_execution": "tools[].codeExecution",
    "file_search": "tools[].fileSearch",
    "cache_key": PASSED,
    "image_input": "inlineData",
    "image_detail": "mediaResolution (Gemini 3)",
    "pdf_input": "inlineData",
    "text_documents": "inlineData",
    "audio_input": "inlineData",
    "file_ids": "fileData.fileUri",
    "file_upload": "POST /upload/…/files",
    "token_count": "POST :countTokens",
    "batches": "POST :batchGenerateContent",
    "service_tier": "serviceTier",
    "metadata": "labels",
}

_NO_SIGNATURE = "skip_thought_signature_validator"
_GEMINI_3 = lazy_pattern(r"gemini-(?:[3-9]|\d\d)")
_SERVER_TOOLS = {
    "web_search": "googleSearch",
    "web_fetch": "urlContext",
    "code_execution": "codeExecution",
    "file_search": "fileSearch",
}
_RESOLUTIONS = {
    "low": "MEDIA_RESOLUTION_LOW",
    "high": "MEDIA_RESOLUTION_HIGH",
    "original": "MEDIA_RESOLUTION_ULTRA_HIGH",
}
_MOST_BUDGET = {"pro": 32768, "": 24576}
"""The largest budgets for thinking, by a part of the model's name."""


def request_path(model: str) -> str:
    return f"/models/{quote(model, safe='/-._~@')}:streamGenerateContent?alt=sse"


def build_request(request: TurnRequest) -> JsonObject:
    return {**build_frame(request, _build_frame), "contents": _encode_messages(request)}


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:
    """The call that counts the tokens of a request."""
    counted: JsonObject = {"generateContentRequest": {"model": f"models/{request.model}", **body}}
    return f"/models/{quote(request.model, safe='/-._~@')}:countTokens", counted


def _build_frame(request: TurnRequest) -> JsonObject:
    settings = request.settings
    return without_none(
        systemInstruction={"parts": [{"text": settings.system}]} if settings.system else None,
        tools=_encode_tools(request) or None,
        toolConfig=_encode_tool_choice(request) if request.tools else None,
        generationConfig=without_none(
            temperature=settings.temperature,
            topP=settings.top_p,
            maxOutputTokens=settings.max_output_tokens,
            stopSequences=settings.stop_sequences or None,
            thinkingConfig=_encode_reasoning(request),
            responseMimeType="application/json" if settings.output_schema else None,
            responseJsonSchema=settings.output_schema,
            responseModalities=["TEXT", "IMAGE"] if settings.image_output else None,
            responseLogprobs=True if settings.top_logprobs is not None else None,
            logprobs=settings.top_logprobs or None,
            seed=settings.seed,
        )
        or None,
        serviceTier=settings.service_tier,
        labels=settings.metadata or None,
    )


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, contents: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, parts = "model", _encode_assistant(message, history, request)
        elif message.role == "tool":
            role, parts = "user", _encode_results(message, history, contents, request)
        else:
            role, parts = "user", [_encode_part(block, request.model) for block in message.content]
        if parts and contents and contents[-1]["role"] == role:
            contents[-1] = {"role": role, "parts": [*contents[-1]["parts"], *parts]}
        elif parts:
            contents.append({"role": role, "parts": parts})

    return render(request, NAME, write, user_first=True)


def _encode_assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(native, message, history)
    parts: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            parts.append({"text": block.text})
        elif isinstance(block, ToolCall):
            call = {"functionCall": {"name": legal_name(block.name), "args": replayable_input(block)}}
            parts.append(call | ({"thoughtSignature": _NO_SIGNATURE} if _GEMINI_3.search(request.model) else {}))
    return parts


def _echo_native(native: list[JsonObject], message: Message, history: History) -> list[JsonObject]:
    """The parts as they were received, each with its signature. Only ids that would clash change."""
    calls = iter(message.tool_calls)
    parts: list[JsonObject] = []
    for part in native:
        function = as_object(part.get("functionCall"))
        if function:
            wire_id = history.ids[next(calls).id]
            if function.get("id") and function["id"] != wire_id:
                part = part | {"functionCall": function | {"id": wire_id}}
        parts.append(part)
    return parts


def _encode_results(
    message: Message, history: History, contents: list[JsonObject], request: TurnRequest
) -> list[JsonObject]:
    """One response a call. Images and files are put inside it from Gemini 3 on, and after it before that."""
    given_ids = _call_ids(contents)
    parts: list[JsonObject] = []
    attached: list[JsonObject] = []
    for result in message.content:
        if not isinstance(result, ToolResult):
            continue
        text, media = split_result(result)
        response: JsonObject = {
            "name": legal_name(result.name),
            "response": {"error" if result.is_error else "output": text},
        }
        if history.ids[result.id] in given_ids:
            response["id"] = history.ids[result.id]
        encoded_media = [_encode_part(part, request.model) for part in media]
        if encoded_media and _GEMINI_3.search(request.model):
            response["parts"] = encoded_media
        elif encoded_media:
            attached += [{"text": f"Attached to the result of {result.name}:"}, *encoded_media]
        parts.append({"functionResponse": response})
    return [*parts, *attached]


def _call_ids(contents: list[JsonObject]) -> set[str]:
    """The ids in the previous message: only a call that has an id is answered with one."""
    parts = as_objects(contents[-1]["parts"]) if contents else []
    ids = (as_object(part.get("functionCall")).get("id") for part in parts)
    return {call_id for call_id in ids if isinstance(call_id, str)}


def _encode_part(block: Block, model: str) -> JsonObject:
    """Encode a block of content. A single picture has a resolution from Gemini 3 on."""
    part = _encode_content(block)
    if not isinstance(block, Image) or block.detail not in _RESOLUTIONS or not _GEMINI_3.search(model):
        return part
    return part | {"mediaResolution": {"level": _RESOLUTIONS[block.detail]}}


def _encode_content(block: Block) -> JsonObject:
    match block:
        case Image(media_type=media_type, file_id=str(uri)) | File(media_type=media_type, file_id=str(uri)):
            return {"fileData": {"mimeType": media_type, "fileUri": uri}}
        case Image(media_type=media_type, url=str(url)) | File(media_type=media_type, url=str(url)):
            return {"fileData": {"mimeType": media_type, "fileUri": url}}
        case Image(media_type=media_type, data=data) | File(media_type=media_type, data=data):
            return {"inlineData": {"mimeType": media_type, "data": data or ""}}
        case _:
            return {"text": getattr(block, "text", "")}


def _encode_tools(request: TurnRequest) -> list[JsonObject]:
    tools: list[JsonObject] = [{_SERVER_TOOLS[tool.name]: tool.options} for tool in request.settings.server_tools]
    if request.tools:
        tools.append({"functionDeclarations": [_encode_tool(tool) for tool in request.tools]})
    return tools


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    declaration: JsonObject = {"name": tool.name, "description": tool.description}
    if tool.input_schema.get("properties"):
        declaration["parametersJsonSchema"] = tool.input_schema
    return declaration


def _encode_tool_choice(request: TurnRequest) -> JsonObject:
    """Encode the choice. Beside a server tool Gemini 3 requires the calls of both kinds, and then has no mode AUTO.

    https://ai.google.dev/gemini-api/docs/tool-combination
    """
    choice, settings = request.settings.tool_choice, request.settings
    mixes = bool(settings.server_tools) and request.quirks.server_tool_parts and _GEMINI_3.search(request.model)
    config: JsonObject = {"includeServerSideToolInvocations": True} if mixes else {}
    modes = {"auto": "VALIDATED" if mixes else "AUTO", "none": "NONE", "required": "ANY"}
    if choice in modes:
        return {"functionCallingConfig": {"mode": modes[choice]}} | config
    return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice]}} | config


def _encode_reasoning(request: TurnRequest) -> JsonObject | None:
    reason = request.settings.reasoning
    if reason is None:
        return None
    config: JsonObject = {"includeThoughts": True} if reason.visible else {}
    effort = resolve_effort(reason)
    if _GEMINI_3.search(request.model) and reason.budget is None:
        if effort is not None:
            config["thinkingLevel"] = find_thinking_level(effort, request.model)
    elif (budget := resolve_budget(reason)) is not None:
        most = next(size for part, size in _MOST_BUDGET.items() if part in request.model)
        config["thinkingBudget"] = budget if reason.budget is not None else min(budget, most)
        if budget == 0:
            config.pop("includeThoughts", None)
    return config or None
