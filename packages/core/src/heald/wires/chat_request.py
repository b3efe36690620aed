"""Writes requests of OpenAI Chat Completions, and of the servers that imitate it.

https://platform.openai.com/docs/api-reference/chat/create
"""

from typing import Any, cast

from heald.core.json import JsonObject, encode_text
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.wires.audio import describe_unsent, encode_chat_audio, is_audio
from heald.wires.documents import read_text_document
from heald.wires.features import WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, split_result
from heald.wires.output_schema import openai_schema, strict_tool_schema
from heald.wires.rendering import build_frame, render
from heald.wires.request import (
    Quirks,
    TurnRequest,
    data_url,
    forces_call,
    legal_name,
    resolve_budget,
    resolve_effort,
    without_none,
)

NAME = "chat"

FEATURES: WireFeatures = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_tokens or max_completion_tokens",
    "stop_sequences": "stop",
    "seed": "seed",
    "logprobs": "logprobs, top_logprobs",
    "effort": "reasoning_effort, reasoning.effort or thinking",
    "budget": "reasoning.max_tokens (OpenRouter)",
    "strict_output": "response_format",
    "strict_tools": "tools[].function.strict",
    "image_output": "modalities (OpenRouter)",
    "tool_choice": "tool_choice",
    "parallel_tools": "parallel_tool_calls",
    "web_search": "web_search_options",
    "cache_marks": "cache_control (Claude over OpenRouter)",
    "cache_ttl": "prompt_cache_retention or cache_control.ttl",
    "cache_key": "prompt_cache_key",
    "image_input": "image_url",
    "image_detail": "image_url.detail",
    "pdf_input": "file",
    "text_documents": "text",
    "audio_input": "input_audio",
    "file_ids": "file.file_id",
    "file_upload": "POST /files",
    "batches": "POST /batches",
    "service_tier": "service_tier",
    "user": "user or safety_identifier",
    "metadata": "metadata",
}


def request_path(model: str) -> str:  # noqa: ARG001
    return "/chat/completions"


def build_request(request: TurnRequest) -> JsonObject:
    return {**build_frame(request, _build_frame), "messages": _encode_messages(request)}


def _build_frame(request: TurnRequest) -> JsonObject:
    settings, quirks = request.settings, request.quirks
    body = without_none(
        model=request.model,
        stream=True,
        stream_options={"include_usage": True} if quirks.usage_option else None,
        return_progress=quirks.prompt_progress or None,
        temperature=settings.temperature,
        top_p=settings.top_p,
        stop=settings.stop_sequences or None,
        tools=[_encode_tool(tool, quirks) for tool in request.tools] or None,
        tool_choice=_encode_tool_choice(settings.tool_choice) if request.tools else None,
        parallel_tool_calls=settings.parallel_tool_calls if request.tools else None,
        response_format=_encode_format(settings.output_schema, request.quirks) if settings.output_schema else None,
        modalities=["text", "image"] if settings.image_output else None,
        web_search_options=next((tool.options for tool in settings.server_tools if tool.name == "web_search"), None),
        logprobs=True if settings.top_logprobs is not None else None,
        top_logprobs=settings.top_logprobs or None,
        service_tier=settings.service_tier,
        prompt_cache_key=settings.cache_key,
        prompt_cache_retention="24h" if settings.cache_ttl in ("1h", "24h") and not _has_marks(request) else None,
        metadata=settings.metadata or None,
    )
    if settings.seed is not None:
        body[quirks.seed_field] = settings.seed
    if settings.user is not None:
        body[quirks.user_field] = settings.user
    if settings.max_output_tokens is not None:
        body[quirks.max_tokens_field] = settings.max_output_tokens
    return body | _encode_reasoning(request)


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "tool":
            messages += _encode_results(message, history, request.quirks)
        elif message.role == "user":
            messages.append({"role": "user", "content": _encode_user(message, request.quirks)})
        else:
            encoded = _encode_assistant(message, history, request)
            if encoded.get("content") or encoded.get("tool_calls") or encoded.get("refusal"):
                messages.append(encoded)

    messages = render(request, NAME, write, make_legal=request.quirks.legal_id)
    if request.settings.system:
        messages = [{"role": request.quirks.system_role, "content": request.settings.system}, *messages]
    if _has_marks(request):
        from heald.wires.cache_marks import cache_control  # most models need no marks
        from heald.wires.chat_marks import mark_messages

        mark_messages(messages, cache_control(request.settings))
    return messages


def _has_marks(request: TurnRequest) -> bool:
    return request.settings.cache and request.quirks.cache_marks and "claude" in request.model


def _encode_assistant(message: Message, history: History, request: TurnRequest) -> JsonObject:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(native, message, history, request.quirks)
    calls = [encode_call(call, history.ids[call.id]) for call in message.tool_calls]
    encoded: JsonObject = {"role": "assistant", "content": message.text or (None if calls else "")}
    return encoded | ({"tool_calls": calls} if calls else {})


def _echo_native(native: JsonObject, message: Message, history: History, quirks: Quirks) -> JsonObject:
    """The message as it was received. Only ids that would clash in this request change."""
    echoed = dict(native)
    if quirks.reasoning_echo == "none":
        for field in ("reasoning", "reasoning_content", "reasoning_details"):
            echoed.pop(field, None)
    if calls := message.tool_calls:
        native_calls: list[JsonObject] = native["tool_calls"]
        echoed["tool_calls"] = [
            call | {"id": history.ids[ours.id]} for call, ours in zip(native_calls, calls, strict=True)
        ]
    return echoed


def encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    function = {"name": legal_name(call.name), "arguments": encode_text(replayable_input(call))}
    return {"id": wire_id, "type": "function", "function": function}


def _encode_results(message: Message, history: History, quirks: Quirks) -> list[JsonObject]:
    """One message a result. Images and files follow in a user message where the API accepts text only."""
    answers: list[JsonObject] = []
    attached: list[JsonObject] = []
    for result in message.content:
        if not isinstance(result, ToolResult):
            continue
        text, media = split_result(result)
        content: Any = text
        if media and quirks.images_in_results:
            content = [{"type": "text", "text": text}, *(_encode_part(part, quirks) for part in media)]
        elif media:
            attached.append({"type": "text", "text": f"Attached to the result of {result.name}:"})
            attached += [_encode_part(part, quirks) for part in media]
        answers.append({"role": "tool", "tool_call_id": history.ids[result.id], "content": content})
    if attached:
        answers.append({"role": "user", "content": attached})
    return answers


def _encode_user(message: Message, quirks: Quirks) -> str | list[JsonObject]:
    if all(isinstance(block, Text) for block in message.content):
        return "\n\n".join(cast(Text, block).text for block in message.content)
    return [_encode_part(block, quirks) for block in message.content]


def _encode_part(block: Block, quirks: Quirks) -> JsonObject:
    if quirks.without and isinstance(block, Image | File) and _is_unknown_to_provider(block, quirks):
        name = block.name if isinstance(block, File) else None
        return {"type": "text", "text": f"[not sent: {block.media_type} {name or ''}".rstrip() + "]"}
    if quirks.content_parts == "mistral" and (part := _encode_mistral_part(block)) is not None:
        return part
    match block:
        case Image(file_id=str(file_id)) | File(file_id=str(file_id)):
            return {"type": "file", "file": {"file_id": file_id}}
        case Image(url=url, media_type=media_type, data=data, detail=detail):
            place = url or data_url(media_type, data or "")
            return {"type": "image_url", "image_url": without_none(url=place, detail=detail)}
        case File() if is_audio(block):
            return encode_chat_audio(block) or {"type": "text", "text": describe_unsent(block)}
        case File(url=str(url), name=name):
            return {"type": "text", "text": f"File {name or ''}: {url}"}
        case File(media_type=media_type, data=data, name=name):
            if (text := read_text_document(block)) is not None:
                return {"type": "text", "text": f"File {name or ''}:\n{text}"}
            content = data_url(media_type, data or "")
            return {"type": "file", "file": {"filename": name or "file", "file_data": content}}
        case _:
            return {"type": "text", "text": getattr(block, "text", "")}


def _is_unknown_to_provider(block: Image | File, quirks: Quirks) -> bool:
    """Whether the provider has no form for a part. The newest message was refused before if it holds one."""
    if block.file_id is not None:
        return "file_ids" in quirks.without
    if isinstance(block, Image):
        return False
    if is_audio(block):
        return "audio_input" in quirks.without
    return "pdf_input" in quirks.without and block.url is None and read_text_document(block) is None


def _encode_mistral_part(block: Block) -> JsonObject | None:
    """Encode a part that Mistral has another form for; None for any other.

    https://docs.mistral.ai/api/endpoint/chat
    """
    match block:
        case Image(file_id=str(file_id)) | File(file_id=str(file_id)):
            return {"type": "file", "file_id": file_id}
        case File(data=str(data)) if encode_chat_audio(block) is not None:
            return {"type": "input_audio", "input_audio": data}
        case File(url=url, media_type=media_type, data=data, name=name) if not is_audio(block):
            if url is None and read_text_document(block) is not None:
                return None
            place = url or data_url(media_type, data or "")
            return without_none(type="document_url", document_url=place, document_name=name)
        case _:
            return None


def _encode_tool(tool: ToolDefinition, quirks: Quirks) -> JsonObject:
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    if tool.strict and quirks.strict_tools and (strict := strict_tool_schema(tool.input_schema)) is not None:
        function |= {"parameters": strict, "strict": True}
    return {"type": "function", "function": function}


def _encode_tool_choice(choice: str) -> str | JsonObject:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _encode_format(schema: JsonObject, quirks: Quirks) -> JsonObject:
    if quirks.typed_output == "json_object":
        return {"type": "json_object"}
    written, strict = openai_schema(schema)
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": written, "strict": strict}}


def _encode_reasoning(request: TurnRequest) -> JsonObject:
    reason = request.settings.reasoning
    if reason is None:
        return {}
    if "claude" in request.model and forces_call(request):
        from heald.wires.claude_models import refuses_forced_call

        if refuses_forced_call(request.model):
            return {}
    effort = resolve_effort(reason)
    match request.quirks.reasoning_request:
        case "effort":
            if effort is None:
                return {}
            from heald.wires.effort_levels import find_level  # a model that is asked for no effort needs no levels

            level = find_level(effort, request.provider, request.model)
            return {"reasoning_effort": level} if level else {}
        case "object" if reason.budget is not None:
            return {"reasoning": {"max_tokens": resolve_budget(reason)}}
        case "object":
            return {"reasoning": {"effort": effort}} if effort else {}
        case "thinking":
            return {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
        case _:
            return {}
