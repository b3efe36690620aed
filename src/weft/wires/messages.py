"""Anthropic Messages.

Request: https://docs.anthropic.com/en/api/messages
Stream:  https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from typing import Any, ClassVar, cast

import msgspec

from weft.core.errors import GarbledStream
from weft.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text, loads, parse_strict
from weft.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from weft.core.turn import StopReason, Usage
from weft.wires.audio import describe_unsent, is_audio
from weft.wires.claude_models import default_max_tokens, is_adaptive
from weft.wires.decoder import Decoder
from weft.wires.errors import error_from_object
from weft.wires.event_order import NO_INDEX, BlockOrder
from weft.wires.history import History, native_echo, render, result_parts
from weft.wires.output_schema import EMPTY_OBJECT, anthropic_schema
from weft.wires.request import TurnRequest, legal_name, resolve_budget, resolve_effort, without_none
from weft.wires.writer import PARALLEL, OpenBlock, replayable_input

NAME = "messages"

_CACHE = {"cache_control": {"type": "ephemeral"}}
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
_MIN_BUDGET = 1024
_CONTAINER = "container"
"""The type of the entry in a stored message that names the container of its programmatic calls."""


# --- request ------------------------------------------------------------------------------------------------------


def request_path(model: str) -> str:  # noqa: ARG001
    return "/messages"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    thinking = _encode_reasoning(request)
    thinks = bool(thinking) and thinking["thinking"]["type"] != "disabled"
    body = without_none(
        model=request.model,
        system=_encode_system(settings.system, settings.cache) if settings.system else None,
        messages=_encode_messages(request),
        max_tokens=settings.max_output_tokens or default_max_tokens(request.model),
        stream=True,
        temperature=None if thinks else settings.temperature,
        top_p=None if thinks else settings.top_p,
        stop_sequences=settings.stop_sequences or None,
        tools=_encode_tools(request) or None,
        tool_choice=_encode_tool_choice(request) if request.tools else None,
        container=_find_container(request),
    )
    return body | thinking | _encode_format(request, thinking)


def _encode_system(system: str, cache: bool) -> list[JsonObject]:
    return [{"type": "text", "text": system} | (_CACHE if cache else {})]


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, content = "assistant", _encode_assistant(message, history)
        else:
            role, content = "user", [_encode_part(block, history) for block in message.content]
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


def _encode_assistant(message: Message, history: History) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(cast("list[JsonObject]", native), message, history)
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
        if block.get("type") != _CONTAINER
    ]


def _find_container(request: TurnRequest) -> str | None:
    """The container whose code waits for the results of its own calls. The API requires it with those results."""
    last = next((message for message in reversed(request.messages) if message.role == "assistant"), None)
    history = History(NAME, request.provider, request.model)
    native = as_objects(native_echo(last, history)) if last is not None else []
    return next((str(block["id"]) for block in native if block.get("type") == _CONTAINER), None)


def _is_programmatic(block: JsonObject) -> bool:
    """A call that the model's own code makes, in a container of the API."""
    caller = as_object(block.get("caller")).get("type")
    return block.get("type") == "tool_use" and caller not in (None, "direct")


def _encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    return {"type": "tool_use", "id": wire_id, "name": legal_name(call.name), "input": replayable_input(call)}


def _encode_part(block: Block, history: History) -> JsonObject:
    return _encode_result(block, history) if isinstance(block, ToolResult) else encode_content(block)


def encode_content(block: Block) -> JsonObject:
    """A text, an image or a document as this API encodes it."""
    match block:
        case Image(url=str(url)):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Image(media_type=media_type, data=data):
            return {"type": "image", "source": _base64(media_type, data)}
        case File() if is_audio(block):
            return {"type": "text", "text": describe_unsent(block)}
        case File(url=str(url)):
            return {"type": "document", "source": {"type": "url", "url": url}}
        case File(media_type=media_type, data=data, name=name):
            return without_none(type="document", source=_base64(media_type, data), title=name)
        case _:
            return {"type": "text", "text": getattr(block, "text", "")}


def _encode_result(result: ToolResult, history: History) -> JsonObject:
    parts = result_parts(result)
    only_text = len(parts) == 1 and isinstance(parts[0], Text)
    content = cast(Text, parts[0]).text if only_text else [_encode_part(part, history) for part in parts]
    answer = {"type": "tool_result", "tool_use_id": history.ids[result.id], "content": content}
    return answer | ({"is_error": True} if result.is_error else {})


def _base64(media_type: str, data: str | None) -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": data or ""}


def _encode_tools(request: TurnRequest) -> list[JsonObject]:
    tools = [_encode_tool(tool) for tool in request.tools]
    if tools and request.settings.cache and not request.settings.system:
        tools[-1] |= _CACHE
    return tools


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
    display = {"display": "summarized"} if reason.visible else {}
    if reason.budget is None and is_adaptive(request.model):
        return {"thinking": {"type": "adaptive"} | display}
    limit = request.settings.max_output_tokens or default_max_tokens(request.model)
    if limit <= _MIN_BUDGET:  # the budget must be below the limit, and the smallest budget is not
        return {"thinking": {"type": "disabled"}}
    budget = max(min(resolve_budget(reason) or _MIN_BUDGET, limit - 1), _MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _encode_format(request: TurnRequest, thinking: JsonObject) -> JsonObject:
    config: JsonObject = {}
    reason = request.settings.reasoning
    if reason is not None and reason.effort and thinking.get("thinking", {}).get("type") == "adaptive":
        config["effort"] = _EFFORTS[reason.effort]
    if request.settings.output_schema is not None:
        config["format"] = {"type": "json_schema", "schema": anthropic_schema(request.settings.output_schema)}
    return {"output_config": config} if config else {}


# --- stream -------------------------------------------------------------------------------------------------------


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    citation: Any = None
    content: Any = None
    encrypted_content: Any = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    container: Any = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int = NO_INDEX
    delta: _Delta | None = None
    content_block: JsonObject | None = None
    message: JsonObject | None = None
    usage: JsonObject | None = None
    error: Any = None


_events = msgspec.json.Decoder(_Event)


class MessagesDecoder(Decoder):
    wire = NAME
    needs_terminal = True
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "model_context_window_exceeded": "max_tokens",
        "stop_sequence": "stop_sequence",
        "refusal": "refusal",
        "pause_turn": "pause_turn",
        "compaction": "pause_turn",
    }

    def _init_state(self) -> None:
        self._content: dict[int, JsonObject] = {}
        self._pieces: dict[int, list[str]] = {}  # of the text, thinking or server-side arguments at an index
        self._calls: dict[int, OpenBlock] = {}
        self._order = BlockOrder()
        self._has_final_usage = False
        self._container: JsonObject = {}

    def _is_complete(self) -> bool:
        """A message with a stop reason and its final usage is complete, also where `message_stop` is missing."""
        return super()._is_complete() or (self.provider_stop_reason is not None and self._has_final_usage)

    def _read_event(self, data: bytes, event: str) -> None:
        read = self._decode(_events, data)
        if read is None:
            return
        kind = read.type or event
        if kind == "content_block_delta" and read.delta is not None:
            if not self.done:
                order, index = self._order, read.index
                self._read_delta(index if index == order.open else order.find(index), read.delta)
        elif kind == "content_block_start" and read.content_block is not None:
            if not self.done:
                index = self._order.start(read.index, read.content_block, self._has_content(self._order.open))
                if index is not None:
                    self._read_block_start(index, read.content_block)
        elif kind == "content_block_stop":
            if (index := self._order.stop(read.index)) is not None:
                self._read_block_stop(index)
        elif kind == "message_start" and read.message is not None:
            self._start_message(read.message)
        elif kind == "message_delta":
            self._read_usage(read.usage)
            self._has_final_usage = bool(read.usage)
            if read.delta is not None and read.delta.stop_reason:
                self.provider_stop_reason = read.delta.stop_reason
            if read.delta is not None and read.delta.container is not None:
                self._container = as_object(read.delta.container)
        elif kind == "message_stop":
            self.done = True
        elif read.type == "message":  # an answer that was not streamed
            self._read_message(message := as_object(loads(data)))
            self.provider_stop_reason = str(message.get("stop_reason") or "end_turn")
            self.done = True
        elif kind == "error" or read.error:
            self._fail(error_from_object({"error": read.error}))
        elif kind != "ping":
            self._ignore(data)

    def _start_message(self, message: JsonObject) -> None:
        if self._content:
            raise GarbledStream("The stream began once more in the middle of the message; try again.")
        if self.response_id is None:
            self._read_message(message)

    def _read_message(self, message: JsonObject) -> None:
        """Read the head of a message. Its blocks, if it has any, precede the streamed ones."""
        self.response_id, self.response_model = message.get("id"), message.get("model")
        self._read_usage(as_object(message.get("usage")))
        blocks = as_objects(message.get("content"))
        for index, block in enumerate(blocks, NO_INDEX - len(blocks)):
            self._read_block_start(index, block)
            for citation in as_list(block.get("citations")):
                self._read_citation(citation)
            self._read_block_stop(index)

    def _read_block_start(self, index: int, block: JsonObject) -> None:
        self._content[index] = block
        match block.get("type"):
            case "tool_use":
                call = self._start_call(str(block.get("id") or ""), str(block.get("name") or ""))
                self._calls[index] = call
                if call.name and call.name != PARALLEL:
                    self._announce(call)
            case "text" if isinstance(block.get("text"), str) and block["text"]:
                self._append_piece(index, self._add_text(block["text"]))
            case "thinking" if isinstance(block.get("thinking"), str) and block["thinking"]:
                self._append_piece(index, self._add_thinking(block["thinking"]))
            case _:
                pass

    def _read_delta(self, index: int, delta: _Delta) -> None:
        block = self._content[index]
        match delta.type:
            case "text_delta":
                if delta.text:
                    self._append_piece(index, self._add_text(delta.text))
            case "input_json_delta":
                if not delta.partial_json:
                    return
                if index in self._calls:
                    self._add_arguments(self._calls[index], delta.partial_json)
                else:
                    self._append_piece(index, delta.partial_json)
            case "thinking_delta":
                if delta.thinking:
                    self._append_piece(index, self._add_thinking(delta.thinking))
            case "signature_delta":
                block["signature"] = delta.signature
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta.citation]
                self._read_citation(delta.citation)
            case "compaction_delta":
                block["content"] = delta.content
                if delta.encrypted_content is not None:
                    block["encrypted_content"] = delta.encrypted_content
            case _:
                self._ignore(delta.type.encode("utf-8", "replace"))

    def _has_content(self, index: int | None) -> bool:
        return index in self._pieces or (index in self._calls and bool(self._calls[index].parts))

    def _append_piece(self, index: int, piece: str) -> None:
        pieces = self._pieces.get(index)
        if pieces is None:
            self._pieces[index] = [piece]
        else:
            pieces.append(piece)

    def _read_block_stop(self, index: int) -> None:
        call = self._calls.get(index)
        if call is None:
            self._close_block()
            return
        if not call.text.strip():
            given = self._content[index].get("input")
            self._add_arguments(call, encode_text(given) if given else "{}")
        if call.started:
            self._close(call)

    def _read_citation(self, citation: Any) -> None:
        cited = as_object(citation)
        if cited:
            title = cited.get("title") or cited.get("document_title") or cited.get("source") or ""
            self._add_source(str(title), cited.get("url"), cited.get("cited_text"))

    def _read_usage(self, usage: JsonObject | None) -> None:
        """Merge cumulative figures: a later one replaces an earlier one, a missing one changes nothing."""
        if not usage:
            return
        self.provider_usage = (self.provider_usage or {}) | {k: v for k, v in usage.items() if v is not None}
        self.usage = parse_usage(self.provider_usage)

    def _build_native(self) -> list[JsonObject]:
        content: list[JsonObject] = []
        for index, block in sorted(self._content.items()):
            written = "".join(self._pieces.get(index, ()))
            if index in self._calls:
                content += [block | _call_fields(call) for call in self._calls[index].calls]
                continue
            if written and block.get("type") in ("text", "thinking"):
                block[block["type"]] = written
            elif written:
                block["input"] = _parse_server_input(written)
            if not _is_unsendable(block):
                content.append(block)
        if any(_is_programmatic(block) for block in content) and self._container.get("id"):
            content.append({"type": _CONTAINER, "id": self._container["id"]})
        return content


def parse_usage(raw: JsonObject) -> Usage:
    output = as_int(raw.get("output_tokens"))
    reasoning = as_int(as_object(raw.get("output_tokens_details")).get("thinking_tokens"))
    if output is not None and reasoning:
        output = max(output - reasoning, 0)
    return Usage(
        input=as_int(raw.get("input_tokens")),
        cache_read=as_int(raw.get("cache_read_input_tokens")),
        cache_write=as_int(raw.get("cache_creation_input_tokens")),
        output=output,
        reasoning=reasoning,
    )


def _call_fields(call: ToolCall) -> JsonObject:
    return {"id": call.wire_id or call.id, "name": legal_name(call.name), "input": replayable_input(call)}


def _parse_server_input(text: str) -> Any:
    try:
        return parse_strict(text)
    except ValueError:
        return {"INVALID_JSON": text}


def _is_unsendable(block: JsonObject) -> bool:
    """Blocks that the API sends but does not accept back: unsigned thinking, empty text."""
    match block.get("type"):
        case "thinking":
            return not block.get("signature")
        case "text":
            return not str(block.get("text") or "").strip()
        case _:
            return False
