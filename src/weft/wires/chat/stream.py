"""Chat Completions: the stream of an answer as events."""

from typing import Any, ClassVar

import msgspec

from weft.core.errors import ServerFault
from weft.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text
from weft.core.stop import StopReason
from weft.core.usage import Usage
from weft.wires.blocks import OpenBlock
from weft.wires.chat.request import NAME, tool_call
from weft.wires.counting import disjoint, first_known
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_object
from weft.wires.think_tags import ThinkTags


class _Function(msgspec.Struct):
    name: Any = None
    arguments: Any = None


class _CallDelta(msgspec.Struct):
    index: Any = None
    id: Any = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: list[_CallDelta] | None = None
    function_call: _Function | None = None
    annotations: Any = None
    images: Any = None


class _Choice(msgspec.Struct):
    index: Any = 0
    delta: _Delta | None = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct):
    id: Any = None
    model: Any = None
    choices: list[_Choice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None
    citations: Any = None


_chunks = msgspec.json.Decoder(_Chunk)


class ChatDecoder(Decoder):
    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "stop": "end_turn",
        "eos": "end_turn",
        "end_turn": "end_turn",
        "tool_calls": "tool_use",
        "function_call": "tool_use",
        "tool_use": "tool_use",
        "length": "max_tokens",
        "max_tokens": "max_tokens",
        "model_length": "max_tokens",
        "content_filter": "content_filter",
        "safety": "content_filter",
        "refusal": "refusal",
    }

    def _set_up(self) -> None:
        self._by_index: dict[int, OpenBlock] = {}
        self._latest: OpenBlock | None = None
        self._reasoning: dict[str, list[str]] = {}
        self._details: list[JsonObject] = []
        self._parts: list[JsonObject] = []  # where content comes as a list of parts
        self._tags = ThinkTags() if self.quirks.think_tags else None

    def _read(self, data: bytes, event: str) -> None:
        if data == b"[DONE]":
            self.done = True
            return
        chunk = self._decode(_chunks, data)
        if chunk is None:
            return
        if chunk.usage or chunk.x_groq:
            self._count(chunk)
        if self.done:
            return
        if self.response_id is None:
            self.response_id, self.response_model = chunk.id, chunk.model
        if chunk.citations:
            for url in as_list(chunk.citations):
                self._source(str(url), str(url))
        for choice in chunk.choices or ():
            if choice.index:  # n > 1: only the first answer is ours
                continue
            if choice.delta is not None:
                self._delta(choice.delta)
            if choice.finish_reason:
                self._stop_with(str(choice.finish_reason))
        if chunk.error:
            self._fail(error_from_object({"error": chunk.error}))

    def _delta(self, delta: _Delta) -> None:
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._think(delta)
        elif delta.reasoning_content == "":
            self._reasoning.setdefault("reasoning_content", [])
        content = delta.content
        if content:
            if type(content) is not str:
                self._list_content(content)
            elif self._tags is None:
                self._text(content)
            else:
                self._tagged(self._tags.feed(content))
        if delta.refusal and isinstance(delta.refusal, str):
            self._refusal(delta.refusal)
        if delta.tool_calls:
            for call in delta.tool_calls:
                self._call_delta(call)
        if delta.function_call is not None:
            self._call_delta(_CallDelta(index=0, function=delta.function_call))
        if delta.annotations:
            self._annotate(delta.annotations)
        if delta.images:
            for image in as_objects(delta.images):
                self._picture(as_object(image.get("image_url")).get("url"))

    def _think(self, delta: _Delta) -> None:
        """Servers send thinking in one of three fields, some in two at once: the first that has text counts."""
        shown = False
        for field in ("reasoning_content", "reasoning"):
            text = getattr(delta, field)
            if isinstance(text, str) and text:
                self._reasoning.setdefault(field, []).append(text)
                if not shown:
                    self._thinking(text)
                shown = True
        for detail in as_objects(delta.reasoning_details):
            self._detail(detail, shown)

    def _detail(self, detail: JsonObject, shown: bool) -> None:
        text = detail.get("text") or detail.get("summary")
        if not shown and isinstance(text, str) and text:
            self._thinking(text)
        begun = next((known for known in reversed(self._details) if _continues(known, detail)), None)
        if begun is None:
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                begun[name] = (begun.get(name) or "") + value
            elif value is not None:
                begun[name] = value

    def _list_content(self, content: Any) -> None:
        for part in as_objects(content):
            if part.get("type") == "text" and isinstance(part.get("text"), str):
                self._text(part["text"])
                self._append_part("text", part["text"])
            elif part.get("type") == "thinking":
                for piece in as_objects(part.get("thinking")):
                    if isinstance(piece.get("text"), str):
                        self._thinking(piece["text"])
                        self._append_part("thinking", piece["text"])
            else:
                self._parts.append(part)

    def _append_part(self, kind: str, text: str) -> None:
        if not self._parts or self._parts[-1].get("type") != kind:
            self._parts.append(
                {"type": "text", "text": ""}
                if kind == "text"
                else {"type": "thinking", "thinking": [{"type": "text", "text": ""}]}
            )
        holder = self._parts[-1] if kind == "text" else self._parts[-1]["thinking"][0]
        holder["text"] += text

    def _tagged(self, pieces: list[tuple[Any, str]]) -> None:
        for kind, text in pieces:
            (self._text if kind == "text" else self._thinking)(text)

    def _call_delta(self, delta: _CallDelta) -> None:
        function = delta.function or _Function()
        name = function.name if isinstance(function.name, str) else ""
        wire_id = str(delta.id) if delta.id else ""
        arguments: Any = function.arguments
        if arguments and not isinstance(arguments, str):
            arguments = encode_text(arguments)
        block = self._find(delta.index, wire_id, name, arguments)
        if block is None:
            block = self._call(wire_id, name)
            if isinstance(delta.index, int):
                self._by_index[delta.index] = block
        elif name:
            _name(block, name)
        self._latest = block
        if isinstance(arguments, str) and arguments:
            self._call_text(block, arguments)

    def _find(self, index: Any, wire_id: str, name: str, arguments: Any) -> OpenBlock | None:
        """The call that a fragment belongs to; None if it begins a new one.

        Real servers reuse an index for a new id, leave out the index, the id, or both, and repeat all of them.
        """
        if isinstance(index, int):
            block = self._by_index.get(index)
        elif wire_id:
            block = next((b for b in self._blocks if b.kind == "tool" and b.wire_id == wire_id), None)
        else:
            block = self._latest
        if block is None or (wire_id and block.wire_id and wire_id != block.wire_id):
            return None
        if wire_id and not block.wire_id and not block.started:
            block.wire_id = wire_id
            block.call_id = self._unique(wire_id)
        if name and not wire_id and arguments and _is_whole(block.text):
            return None  # a second call that carries nothing but its name and whole arguments
        if name and block.name and block.parts and name != block.name and not (wire_id and isinstance(index, int)):
            return None
        return block

    def _annotate(self, annotations: Any) -> None:
        for note in as_objects(annotations):
            citation = as_object(note.get("url_citation"))
            if citation:
                self._source(str(citation.get("title") or ""), citation.get("url"))

    def _picture(self, url: Any) -> None:
        head, _, data = str(url).partition(";base64,")
        if data and head.startswith("data:"):
            self._image(head.removeprefix("data:"), data)

    def _stop_with(self, reason: str) -> None:
        if reason == "error":
            self._fail(ServerFault("The provider ended the message with an error; try again."))
        self.provider_stop_reason = reason

    def _count(self, chunk: _Chunk) -> None:
        raw = as_object(chunk.usage) or as_object(as_object(chunk.x_groq).get("usage"))
        if not raw:
            return
        if self.provider_usage and not any(isinstance(n, int) and n for n in raw.values()):
            return  # a last chunk of zeros does not undo what an earlier one said
        self.provider_usage = raw
        self.usage = usage_of(raw)

    def _end(self) -> None:
        if self._tags is not None:
            self._tagged(self._tags.close())
        if self.done and self.provider_stop_reason is None and self.quirks.finish_optional:
            self.provider_stop_reason = ""

    def _native(self) -> JsonObject:
        calls = [call for block in self._blocks for call in block.calls]
        text = "".join(block.text for block in self._blocks if block.kind == "text")
        refusal = "".join(block.text for block in self._blocks if block.kind == "refusal")
        message: JsonObject = {"role": "assistant", "content": self._parts or text or (None if calls else "")}
        for field, pieces in self._reasoning.items():
            message[field] = "".join(pieces)
        if self._details:
            message["reasoning_details"] = self._details
        if refusal:
            message["refusal"] = refusal
        if calls:
            message["tool_calls"] = [tool_call(call, call.wire_id or call.id) for call in calls]
        return message


def usage_of(raw: JsonObject) -> Usage:
    inward, outward = as_object(raw.get("prompt_tokens_details")), as_object(raw.get("completion_tokens_details"))
    return disjoint(
        prompt=as_int(raw.get("prompt_tokens")),
        completion=as_int(raw.get("completion_tokens")),
        total=as_int(raw.get("total_tokens")),
        cache_read=first_known(
            as_int(inward.get("cached_tokens")),
            as_int(raw.get("cached_tokens")),
            as_int(raw.get("prompt_cache_hit_tokens")),
        ),
        cache_write=first_known(as_int(inward.get("cache_write_tokens")), as_int(inward.get("cache_creation_tokens"))),
        reasoning=first_known(as_int(outward.get("reasoning_tokens")), as_int(raw.get("reasoning_tokens"))),
    )


def _name(block: OpenBlock, name: str) -> None:
    """Names come whole, come again with every fragment, or, rarely, come in pieces."""
    if block.started or name == block.name:
        return
    block.name = name if name.startswith(block.name) else block.name + name


def _is_whole(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _continues(known: JsonObject, detail: JsonObject) -> bool:
    same = ("index", "type", "id", "format")
    return all(detail.get(name) is None or detail.get(name) == known.get(name) for name in same)
