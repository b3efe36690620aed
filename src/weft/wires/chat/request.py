"""Chat Completions: a turn as a request body."""

import re
from typing import Any, cast

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject, encode_text
from weft.core.messages import Block, Message
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.wires.arguments import wire_input
from weft.wires.history import History, echo_of, render, split_result
from weft.wires.quirks import Quirks
from weft.wires.request import TurnRequest, budget_of, data_url, effort_of, legal_id, legal_name, without_none

NAME = "chat"

_CONTENT = ("content", "tool_calls", "refusal")


def path(model: str) -> str:  # noqa: ARG001
    return "/chat/completions"


def build(request: TurnRequest) -> JsonObject:
    settings, quirks = request.settings, request.quirks
    body = without_none(
        model=request.model,
        messages=_messages(request),
        stream=True,
        stream_options={"include_usage": True} if quirks.usage_option else None,
        temperature=settings.temperature,
        top_p=settings.top_p,
        stop=settings.stop_sequences or None,
        tools=[_tool(tool, quirks) for tool in request.tools] or None,
        tool_choice=_tool_choice(settings.tool_choice) if request.tools else None,
        parallel_tool_calls=settings.parallel_tool_calls if request.tools else None,
        response_format=_response_format(settings.output_schema) if settings.output_schema else None,
    )
    if settings.max_output_tokens is not None:
        body[quirks.max_tokens_field] = settings.max_output_tokens
    return body | _reasoning(request) | settings.extra


def _messages(request: TurnRequest) -> list[JsonObject]:
    make_legal = _mistral_id if request.quirks.id_pattern == "mistral" else legal_id
    history = History(NAME, request.provider, request.model, make_legal)

    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "tool":
            messages += _results(message, history, request.quirks)
        elif message.role == "user":
            messages.append({"role": "user", "content": _user_content(message)})
        else:
            said = _assistant(message, history, request)
            if any(said.get(field) for field in _CONTENT):
                messages.append(said)

    messages = render(request.messages, history, write, cache=request.cache)
    if not request.settings.system:
        return messages
    return [{"role": request.quirks.system_role, "content": request.settings.system}, *messages]


def _assistant(message: Message, history: History, request: TurnRequest) -> JsonObject:
    native = echo_of(message, NAME, request.provider, request.model)
    if native is not None:
        return _echo(cast(JsonObject, native), message, history, request.quirks)
    calls = [tool_call(call, history.ids[call.id]) for call in message.tool_calls]
    text = message.text
    return without_none(role="assistant", content=text or (None if calls else ""), tool_calls=calls or None) | (
        {} if text or not calls else {"content": None}
    )


def _echo(native: JsonObject, message: Message, history: History, quirks: Quirks) -> JsonObject:
    """The message as it came. Only ids that would clash in this request change."""
    echoed = dict(native)
    if quirks.reasoning_echo == "none":
        for field in ("reasoning", "reasoning_content", "reasoning_details"):
            echoed.pop(field, None)
    calls = message.tool_calls
    if calls:
        own = cast("list[JsonObject]", native["tool_calls"])
        echoed["tool_calls"] = [call | {"id": history.ids[ours.id]} for call, ours in zip(own, calls, strict=True)]
    return echoed


def tool_call(call: ToolCall, wire_id: str) -> JsonObject:
    function = {"name": legal_name(call.name), "arguments": encode_text(wire_input(call))}
    return {"id": wire_id, "type": "function", "function": function}


def _results(message: Message, history: History, quirks: Quirks) -> list[JsonObject]:
    """One message a result. Pictures and files follow in a user message where the API takes text only."""
    answers: list[JsonObject] = []
    attached: list[JsonObject] = []
    for result in cast("list[ToolResult]", message.content):
        text, media = split_result(result)
        content: Any = text
        if media and quirks.images_in_results:
            content = [{"type": "text", "text": text}, *(_part(part) for part in media)]
        elif media:
            attached.append({"type": "text", "text": f"Attached to the result of {result.name}:"})
            attached += [_part(part) for part in media]
        answers.append({"role": "tool", "tool_call_id": history.ids[result.id], "content": content})
    if attached:
        answers.append({"role": "user", "content": attached})
    return answers


def _user_content(message: Message) -> str | list[JsonObject]:
    if all(isinstance(block, Text) for block in message.content):
        return "\n\n".join(cast(Text, block).text for block in message.content)
    return [_part(block) for block in message.content]


def _part(block: Block) -> JsonObject:
    match block:
        case Image(url=str(url)):
            return {"type": "image_url", "image_url": {"url": url}}
        case Image(media_type=media_type, data=data):
            return {"type": "image_url", "image_url": {"url": data_url(media_type, data or "")}}
        case File(url=str(url), name=name):
            return {"type": "text", "text": f"File {name or ''}: {url}"}
        case File(media_type=media_type, data=data, name=name):
            content = data_url(media_type, data or "")
            return {"type": "file", "file": {"filename": name or "file", "file_data": content}}
        case _:
            return {"type": "text", "text": getattr(block, "text", "")}


def _tool(tool: ToolDefinition, quirks: Quirks) -> JsonObject:
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    if tool.strict and quirks.strict_tools:
        function["strict"] = True
    return {"type": "function", "function": function}


def _tool_choice(choice: str) -> str | JsonObject:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _response_format(schema: JsonObject) -> JsonObject:
    return {"type": "json_schema", "json_schema": {"name": "output", "schema": schema, "strict": True}}


def _reasoning(request: TurnRequest) -> JsonObject:
    reason = request.settings.reasoning
    if reason is None:
        return {}
    effort = effort_of(reason)
    match request.quirks.reasoning_request:
        case "effort":
            return {"reasoning_effort": effort} if effort else {}
        case "object" if reason.budget is not None:
            return {"reasoning": {"max_tokens": budget_of(reason)}}
        case "object":
            return {"reasoning": {"effort": effort}} if effort else {}
        case "thinking":
            return {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
        case _:
            return {}


def _mistral_id(call_id: str) -> str:
    """Mistral wants exactly nine letters and digits."""
    kept = re.sub(r"[^a-zA-Z0-9]", "", call_id)
    if len(kept) == 9:
        return kept
    number = 0
    for char in call_id:
        number = (number * 131 + ord(char)) % 62**9
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join(digits[number // 62**place % 62] for place in range(9))
