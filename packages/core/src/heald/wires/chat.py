"""Reads streams of OpenAI Chat Completions, and of the servers that imitate it.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from functools import cache
from typing import Any, ClassVar, Literal

import msgspec

from heald.core.context_events import PromptProgress
from heald.core.errors import ServerFault
from heald.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text
from heald.core.messages import ToolCall
from heald.core.turn import StopReason, TokenLogprob, Usage
from heald.wires import chat_request
from heald.wires.audio import STREAMED_AUDIO, check_chat_audio, find_audio_type
from heald.wires.chat_request import NAME, encode_call
from heald.wires.decoder import UNREADABLE, Decoder
from heald.wires.errors import error_from_object
from heald.wires.open_block import OpenBlock
from heald.wires.service_tier import read_tier
from heald.wires.text_only import restrict
from heald.wires.think_tags import ThinkTags
from heald.wires.usage_counts import as_count, disjoint_usage, first_count
from heald.wires.wire import Wire


class _Function(msgspec.Struct, gc=False):
    name: Any = None
    arguments: Any = None


class _CallDelta(msgspec.Struct, gc=False):
    index: Any = None
    id: Any = None
    function: _Function | None = None


class _Delta(msgspec.Struct, gc=False):
    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: list[_CallDelta] | None = None
    function_call: _Function | None = None
    annotations: Any = None
    images: Any = None
    audio: Any = None
    executed_tools: Any = None


class _Choice(msgspec.Struct, gc=False):
    index: Any = 0
    delta: _Delta | None = None
    message: _Delta | None = None
    """Instead of a delta: the whole message of an answer that was not streamed."""
    finish_reason: Any = None
    error: Any = None


class _Chunk(msgspec.Struct, gc=False):
    id: Any = None
    model: Any = None
    choices: list[_Choice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None
    citations: Any = None
    prompt_progress: Any = None
    service_tier: Any = None


_TextDelta = restrict(_Delta, {"content": str})
_TextChoice = restrict(_Choice, {"delta": _TextDelta}, {"index": Literal[0, None]})
_TextChunk = restrict(_Chunk, {"choices": tuple[_TextChoice]}, {"id": Any, "model": Any, "service_tier": Any})
"""A chunk that holds nothing but a piece of text."""
_chunks = msgspec.json.Decoder(_Chunk)
_text_chunks: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_TextChunk)


@cache
def _argument_chunks() -> "msgspec.json.Decoder[Any]":
    """The decoder of a chunk that holds nothing but more arguments of one call."""
    function = restrict(_Function, {"arguments": str})
    call = restrict(_CallDelta, {"index": int, "function": function})
    delta = restrict(_Delta, {"tool_calls": tuple[call]})
    choice = restrict(_Choice, {"delta": delta}, {"index": Literal[0, None]})
    return msgspec.json.Decoder(
        restrict(_Chunk, {"choices": tuple[choice]}, {"id": Any, "model": Any, "service_tier": Any})
    )


class ChatDecoder(Decoder):
    __slots__ = ("_by_index", "_details", "_executed", "_files", "_latest", "_parts", "_reasoning", "_tags", "_tier")

    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {  # pyrefly: ignore[bad-assignment]
        **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "STOP", "COMPLETE"), "end_turn"),
        **dict.fromkeys(("stop_sequence", "STOP_SEQUENCE"), "stop_sequence"),
        **dict.fromkeys(("tool_calls", "function_call", "tool_use", "TOOL_CALL"), "tool_use"),
        **dict.fromkeys(("length", "max_tokens", "model_length", "MAX_TOKENS"), "max_tokens"),
        "model_context_window_exceeded": "max_tokens",
        **dict.fromkeys(("content_filter", "safety", "sensitive", "SAFETY"), "content_filter"),
        **dict.fromkeys(("content_filtered", "guardrail_intervened"), "content_filter"),
        "refusal": "refusal",
    }

    def _init_state(self) -> None:
        self._by_index: dict[int, OpenBlock] = {}
        self._latest: OpenBlock | None = None
        self._reasoning: dict[str, list[str]] = {}
        self._details: list[JsonObject] = []
        self._executed: set[str] = set()  # ids of tools that the provider ran
        self._files: list[JsonObject] = []  # annotations of files that were parsed
        self._parts: list[JsonObject] = []  # where content comes as a list of parts
        self._tags = ThinkTags() if self.quirks.think_tags else None
        self._tier: str | None = None

    def _read_event(self, data: bytes, event: str) -> None:
        if data == b"[DONE]":
            self.done = True
            return
        if self._latest is not None and self._read_arguments_only(data):
            return
        try:
            chunk = _chunks.decode(data)
        except UNREADABLE:
            chunk = self._decode_slowly(_chunks, data)
        if chunk is None:
            return
        if chunk.usage or chunk.x_groq:
            self._read_usage(chunk)
        if self.done:
            return
        if self.response_id is None:
            self.response_id, self.response_model = chunk.id, chunk.model
            self._tier = read_tier(chunk.service_tier)
        if chunk.citations:
            for url in as_list(chunk.citations):
                self._add_source(str(url), str(url))
        if chunk.prompt_progress:
            self._report_progress(as_object(chunk.prompt_progress))
        for choice in chunk.choices or ():
            if choice.index:  # n > 1: only the first answer is ours
                continue
            if choice.delta is not None:
                self._read_delta(choice.delta)
            elif choice.message is not None and not self._blocks:  # some servers repeat the whole text at the end
                self._read_delta(choice.message)
                self.provider_stop_reason = "stop"
            if choice.finish_reason:
                self.provider_stop_reason = str(choice.finish_reason)
            if error := choice.error or chunk.error:
                self._fail(error_from_object({"error": error}))
            elif self.provider_stop_reason == "error":
                self._fail(ServerFault("The provider ended the message with an error; try again."))
        if chunk.error:
            self._fail(error_from_object({"error": chunk.error}))
        elif chunk.choices is None and chunk.usage is None and chunk.x_groq is None and chunk.prompt_progress is None:
            self._fail_if_error(data)

    def _read_text_only(self, data: bytes) -> str | None:
        if self.response_id is None:
            return None
        try:
            return _text_chunks.decode(data).choices[0].delta.content
        except UNREADABLE:
            return None

    def _read_arguments_only(self, data: bytes) -> bool:
        """Read an event that holds nothing but more arguments of a call. Returns False for any other event."""
        if data.find(b'"arguments":') < 0 or data.find(b'"name":') >= 0 or self.done:
            return False
        try:
            call = _argument_chunks().decode(data).choices[0].delta.tool_calls[0]
        except UNREADABLE:
            return False
        block = self._by_index.get(call.index)
        if block is None or not call.function.arguments:
            return False
        self._latest = block
        self._add_arguments(block, call.function.arguments)
        return True

    def _add_open_text(self, text: str) -> None:
        if self._tags is None:
            self._add_model_text(text)
        else:
            self._add_tagged(self._tags.feed(text))

    def _parse_logprobs(self, event: JsonObject) -> list[TokenLogprob]:
        from heald.wires.logprobs import parse_openai_logprobs

        choices = (choice for choice in as_objects(event.get("choices")) if not choice.get("index"))
        contents = (as_object(choice.get("logprobs")).get("content") for choice in choices)
        return [logprob for content in contents for logprob in parse_openai_logprobs(content)]

    def _report_progress(self, progress: JsonObject) -> None:
        read, total = as_int(progress.get("processed")), as_int(progress.get("total"))
        if read is not None and total and not self._blocks:
            self._out.append(PromptProgress(self.id, read, total))

    def _read_delta(self, delta: _Delta) -> None:
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._read_reasoning(delta)
        elif delta.reasoning_content == "":
            self._reasoning.setdefault("reasoning_content", [])
        content = delta.content
        if content and type(content) is str and self._tags is None:
            self._add_model_text(content)
        elif content:
            if type(content) is not str:
                self._read_parts(content)
            elif self._tags is not None:
                self._add_tagged(self._tags.feed(content))
        if delta.refusal and isinstance(delta.refusal, str):
            self._add_refusal(delta.refusal)
        if delta.tool_calls:
            if self._call_names is not None or self._text_edits is not None:
                self._end_text_calls(native=True)
            for call in delta.tool_calls:
                self._read_call(call)
        if delta.function_call is not None:
            if self._call_names is not None:
                self._end_text_calls(native=True)
            self._read_call(_CallDelta(index=0, function=delta.function_call))
        if delta.audio:
            self._read_audio(as_object(delta.audio))
        if delta.executed_tools:
            self._read_executed_tools(as_objects(delta.executed_tools))
        if delta.annotations:
            for note in as_objects(delta.annotations):
                if citation := as_object(note.get("url_citation")):
                    span = as_int(citation.get("start_index")), as_int(citation.get("end_index"))
                    self._add_source(str(citation.get("title") or ""), citation.get("url"), span=span)
                elif note.get("type") == "file":
                    self._files.append(note)  # the gateway has parsed the file: sent back, it is not parsed again
        if delta.images:
            for image in as_objects(delta.images):
                head, _, data = str(as_object(image.get("image_url")).get("url")).partition(";base64,")
                if data and head.startswith("data:"):
                    self._add_media(head.removeprefix("data:"), data)

    def _read_executed_tools(self, tools: list[JsonObject]) -> None:
        """Read tools that the provider ran. Each may come twice: when it starts, and with its result."""
        from heald.wires.server_tools import read_executed_tool  # few models run tools themselves

        for tool in tools:
            call, result = read_executed_tool(tool)
            if call.id not in self._executed:
                self._executed.add(call.id)
                self._add_server_call(call)
            if result is not None:
                self._add_server_result(result)

    def _read_audio(self, audio: JsonObject) -> None:
        """Read spoken words: their transcript is the text of the answer."""
        if isinstance(audio.get("transcript"), str) and audio["transcript"]:
            self._add_text(audio["transcript"])
        if isinstance(audio.get("data"), str) and audio["data"]:
            is_whole = "expires_at" in audio  # which the last piece of a stream has alone
            self._add_media(find_audio_type(audio["data"]) if is_whole else STREAMED_AUDIO, audio["data"])

    def _read_reasoning(self, delta: _Delta) -> None:
        """Read thinking. Servers send it in one or two of three fields: the first that has text counts."""
        is_reported = False
        for field in ("reasoning_content", "reasoning"):
            text = getattr(delta, field)
            if isinstance(text, str) and text:
                self._reasoning.setdefault(field, []).append(text)
                if not is_reported:
                    self._add_thinking(text)
                is_reported = True
        for detail in as_objects(delta.reasoning_details):
            self._read_detail(detail, is_reported)

    def _read_detail(self, detail: JsonObject, is_reported: bool) -> None:
        text = detail.get("text") or detail.get("summary")
        if not is_reported and isinstance(text, str) and text:
            self._add_thinking(text)
        target = next((earlier for earlier in reversed(self._details) if _continues(earlier, detail)), None)
        if target is None:
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                before = target.get(name)
                target[name] = before + value if isinstance(before, str) else value
            elif value is not None:
                target[name] = value

    def _read_parts(self, content: Any) -> None:
        for part in as_objects(content):
            if part.get("type") == "text" and isinstance(part.get("text"), str):
                self._add_text(part["text"])
                self._append_part("text", part["text"])
            elif part.get("type") == "thinking":
                for piece in as_objects(part.get("thinking")):
                    if isinstance(piece.get("text"), str):
                        self._add_thinking(piece["text"])
                        self._append_part("thinking", piece["text"])
            else:
                self._parts.append(part)

    def _append_part(self, kind: str, text: str) -> None:
        if not self._parts or self._parts[-1].get("type") != kind:
            empty: JsonObject = {"type": "text", "text": ""}
            self._parts.append(empty if kind == "text" else {"type": "thinking", "thinking": [empty]})
        holder = self._parts[-1] if kind == "text" else self._parts[-1]["thinking"][0]
        holder["text"] += text

    def _add_tagged(self, pieces: list[tuple[Any, str]]) -> None:
        for kind, text in pieces:
            (self._add_model_text if kind == "text" else self._add_thinking)(text)

    def _read_call(self, delta: _CallDelta) -> None:
        function = delta.function or _Function()
        if type(delta.index) is int and not delta.id and not function.name and function.arguments:
            call = self._by_index.get(delta.index)
            if call is not None and type(function.arguments) is str:  # nothing but more arguments of a call
                self._latest = call
                self._add_arguments(call, function.arguments)
                return
        name = function.name if isinstance(function.name, str) else ""
        wire_id = str(delta.id) if delta.id else ""
        arguments: Any = function.arguments
        if arguments and not isinstance(arguments, str):
            arguments = encode_text(arguments)
        block = self._find_call(delta.index, wire_id, name, arguments)
        if block is None:
            block = self._start_call(wire_id, name)
            if isinstance(delta.index, int):
                self._by_index[delta.index] = block
        elif name:
            block.merge_name(name)
        self._latest = block
        if isinstance(arguments, str) and arguments:
            self._add_arguments(block, arguments)

    def _find_call(self, index: Any, wire_id: str, name: str, arguments: Any) -> OpenBlock | None:
        """The call that a fragment belongs to; None if it begins a new one.

        Servers reuse an index for a new id, omit the index, the id, or both, and repeat all of them.
        """
        if isinstance(index, int):
            block = self._by_index.get(index)
        elif wire_id:
            block = next((b for b in self._blocks if b.kind == "tool" and b.wire_id == wire_id), None)
        else:
            block = self._latest
        if block is None or (wire_id and block.wire_id and wire_id != block.wire_id):
            return None
        if wire_id and not block.wire_id and block.index < 0:
            block.wire_id = wire_id
            block.call_id = self._unique_id(wire_id)
        if name and not wire_id and arguments and _is_object(block.text):
            return None  # a second call that has only a name and whole arguments
        if name and block.name and block.parts and name != block.name and not (wire_id and isinstance(index, int)):
            return None
        return block

    def _read_usage(self, chunk: _Chunk) -> None:
        raw = as_object(chunk.usage) or as_object(as_object(chunk.x_groq).get("usage"))
        if not raw:
            return
        if self.provider_usage and not any(isinstance(n, int) and n for n in raw.values()):
            return  # a last chunk of zeros does not replace earlier figures
        self.provider_usage = raw
        self._tier = read_tier(chunk.service_tier) or self._tier
        self.usage = parse_usage(raw)
        if self._tier is not None:
            self.usage = msgspec.structs.replace(self.usage, tier=self._tier)

    def _flush(self) -> None:
        if self._tags is not None:
            self._add_tagged(self._tags.close())
        if self._call_names is not None or self._text_edits is not None:
            self._end_text_calls()
        if self.done and self.provider_stop_reason is None and self.quirks.finish_optional:
            self.provider_stop_reason = ""

    def _build_native(self) -> JsonObject:
        calls: list[ToolCall] = []
        text = refusal = ""
        for block in self._blocks:
            if block.kind == "tool":
                calls += block.calls
            elif block.kind == "text":
                text += block.text
            elif block.kind == "refusal":
                refusal += block.text
        message: JsonObject = {"role": "assistant", "content": self._parts or text or (None if calls else "")}
        for field, pieces in self._reasoning.items():
            message[field] = "".join(pieces)
        if self._details:
            message["reasoning_details"] = self._details
        if refusal:
            message["refusal"] = refusal
        if self._files:
            message["annotations"] = self._files
        if calls:
            message["tool_calls"] = [encode_call(call, call.wire_id or call.id) for call in calls]
        return message


def parse_usage(raw: JsonObject) -> Usage:
    inward, outward = as_object(raw.get("prompt_tokens_details")), as_object(raw.get("completion_tokens_details"))
    return disjoint_usage(
        prompt=as_count(raw.get("prompt_tokens")),
        completion=as_count(raw.get("completion_tokens")),
        total=as_count(raw.get("total_tokens")),
        cache_read=first_count(
            inward.get("cached_tokens"), raw.get("cached_tokens"), raw.get("prompt_cache_hit_tokens")
        ),
        cache_write=first_count(inward.get("cache_write_tokens"), inward.get("cache_creation_tokens")),
        reasoning=first_count(outward.get("reasoning_tokens"), raw.get("reasoning_tokens")),
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _continues(earlier: JsonObject, detail: JsonObject) -> bool:
    same = ("index", "type", "id", "format")
    return all(detail.get(name) is None or detail.get(name) == earlier.get(name) for name in same)


WIRE = Wire(
    name=NAME,
    request_path=chat_request.request_path,
    encode_request=chat_request.build_request,
    decoder=ChatDecoder,
    features=chat_request.FEATURES,
    reads_text_calls=True,
    check_audio=check_chat_audio,
)
