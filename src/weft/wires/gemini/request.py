"""generateContent: a turn as a request body."""

import re
from typing import cast
from urllib.parse import quote

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject, as_object, as_objects
from weft.core.messages import Block, Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, render, split_result
from weft.wires.request import TurnRequest, budget_of, effort_of, legal_name, without_none

NAME = "gemini"

_LEVELS = {
    "none": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
}
_NO_SIGNATURE = "skip_thought_signature_validator"
_THIRD = re.compile(r"gemini-(?:[3-9]|\d\d)")


def path(model: str) -> str:
    return f"/models/{quote(model, safe='/-._~@')}:streamGenerateContent?alt=sse"


def build(request: TurnRequest) -> JsonObject:
    settings = request.settings
    body = without_none(
        contents=_contents(request),
        systemInstruction={"parts": [{"text": settings.system}]} if settings.system else None,
        tools=[{"functionDeclarations": [_tool(tool) for tool in request.tools]}] if request.tools else None,
        toolConfig=_tool_config(settings.tool_choice) if request.tools else None,
        generationConfig=without_none(
            temperature=settings.temperature,
            topP=settings.top_p,
            maxOutputTokens=settings.max_output_tokens,
            stopSequences=settings.stop_sequences or None,
            thinkingConfig=_thinking(request),
            responseMimeType="application/json" if settings.output_schema else None,
            responseJsonSchema=settings.output_schema,
        )
        or None,
    )
    return body | settings.extra


def _contents(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, contents: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, parts = "model", _assistant(message, history, request)
        elif message.role == "tool":
            role, parts = "user", _results(message, history, contents, request)
        else:
            role, parts = "user", [_part(block) for block in message.content]
        if parts and contents and contents[-1]["role"] == role:
            contents[-1] = {"role": role, "parts": [*contents[-1]["parts"], *parts]}
        elif parts:
            contents.append({"role": role, "parts": parts})

    return render(
        request.messages,
        History(NAME, request.provider, request.model),
        write,
        cache=request.cache,
        user_first=True,
    )


def _assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = echo_of(message, NAME, request.provider, request.model)
    if native is not None:
        return _echo(cast("list[JsonObject]", native), message, history)
    parts: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            parts.append({"text": block.text})
        elif isinstance(block, ToolCall):
            call = {"functionCall": {"name": legal_name(block.name), "args": wire_input(block)}}
            parts.append(call | ({"thoughtSignature": _NO_SIGNATURE} if _THIRD.search(request.model) else {}))
    return parts


def _echo(native: list[JsonObject], message: Message, history: History) -> list[JsonObject]:
    """The parts as they came, each with the signature it carries. Only ids that would clash change."""
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


def _results(message: Message, history: History, contents: list[JsonObject], request: TurnRequest) -> list[JsonObject]:
    """One response a call. Pictures and files go inside where the model takes them there, else behind."""
    given_ids = _ids_of_calls(contents)
    parts: list[JsonObject] = []
    attached: list[JsonObject] = []
    for result in cast("list[ToolResult]", message.content):
        text, media = split_result(result)
        response: JsonObject = {
            "name": legal_name(result.name),
            "response": {"error" if result.is_error else "output": text},
        }
        if history.ids[result.id] in given_ids:
            response["id"] = history.ids[result.id]
        shown = [_part(part) for part in media]
        if shown and _THIRD.search(request.model):
            response["parts"] = shown
        elif shown:
            attached += [{"text": f"Attached to the result of {result.name}:"}, *shown]
        parts.append({"functionResponse": response})
    return [*parts, *attached]


def _ids_of_calls(contents: list[JsonObject]) -> set[str]:
    """Ids in the message before: only a call that came with an id is answered with one."""
    parts = as_objects(contents[-1]["parts"]) if contents else []
    return {as_object(part.get("functionCall")).get("id", "") for part in parts}


def _part(block: Block) -> JsonObject:
    match block:
        case Image(media_type=media_type, url=str(url)) | File(media_type=media_type, url=str(url)):
            return {"fileData": {"mimeType": media_type, "fileUri": url}}
        case Image(media_type=media_type, data=data) | File(media_type=media_type, data=data):
            return {"inlineData": {"mimeType": media_type, "data": data or ""}}
        case _:
            return {"text": getattr(block, "text", "")}


def _tool(tool: ToolDefinition) -> JsonObject:
    declaration: JsonObject = {"name": tool.name, "description": tool.description}
    if tool.input_schema.get("properties"):
        declaration["parametersJsonSchema"] = tool.input_schema
    return declaration


def _tool_config(choice: str) -> JsonObject:
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    if choice in modes:
        return {"functionCallingConfig": {"mode": modes[choice]}}
    return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice]}}


def _thinking(request: TurnRequest) -> JsonObject | None:
    reason = request.settings.reasoning
    if reason is None:
        return None
    config: JsonObject = {"includeThoughts": True} if reason.visible else {}
    effort = effort_of(reason)
    if _THIRD.search(request.model) and reason.budget is None:
        if effort is not None:
            config["thinkingLevel"] = _LEVELS[effort]
    elif (budget := budget_of(reason)) is not None:
        config["thinkingBudget"] = budget
        if budget == 0:
            config.pop("includeThoughts", None)
    return config or None
