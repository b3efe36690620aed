"""What the decoders of all wires share: blocks, calls, sources, and how a message may end.

A decoder takes a response as it arrives and gives out stream payloads. `open` announces the message, `feed` takes
bytes in any cut, `close` says that no more will come. Only `close` decides: a message ends with `message_stop` if
the provider's terminal event was seen, and with `message_discarded` otherwise. No call is given out before that.
"""

from collections.abc import Callable, Container
from typing import Any, ClassVar, TypeVar

import msgspec

from weft.core.content import Grounding, Image, Reasoning, Source, Text
from weft.core.errors import GarbledStream, IncompleteStream, MalformedResponse, ProviderError
from weft.core.events import (
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.core.ids import new_id
from weft.core.json import JsonObject, convert, encode_text, loads
from weft.core.messages import Block, Message, Native
from weft.core.payload import Payload
from weft.core.stop import EXECUTABLE, StopReason
from weft.core.tools import ToolCall
from weft.core.usage import Usage
from weft.wires.arguments import expand_parallel, finish_call
from weft.wires.blocks import Kind, OpenBlock, mend
from weft.wires.faults import error_from_body
from weft.wires.framing import Framing
from weft.wires.quirks import NONE, Quirks
from weft.wires.sse import SSEParser

T = TypeVar("T")

PARALLEL = "multi_tool_use.parallel"
MAX_IGNORED = 20


class Decoder:
    """Base of the four decoders. A wire implements `_read`, `_native` and the mapping of its stop reasons."""

    wire: ClassVar[str]
    stop_reasons: ClassVar[dict[str, StopReason]]

    done: bool = False
    """The terminal event was seen: nothing but late usage can follow."""
    message: Message | None = None
    """The finished message, after `close`, if it was finished."""
    stop_reason: StopReason | None = None
    provider_stop_reason: str | None = None
    usage: Usage = Usage()
    provider_usage: JsonObject | None = None
    response_id: str | None = None
    response_model: str | None = None
    error: ProviderError | None = None
    ignored_count: int = 0

    _current: OpenBlock | None = None
    _started: int = 0
    _closing: bool = False
    _surrogates: bool = False  # a text with half a surrogate pair was seen: mend each from now on

    def __init__(
        self,
        message: str = "",
        *,
        provider: str = "",
        model: str = "",
        attempt: int = 1,
        taken: Container[str] = frozenset(),
        max_output_tokens: int | None = None,
        quirks: Quirks = NONE,
        explain: Callable[[ProviderError], ProviderError] | None = None,
    ) -> None:
        self.id = message or new_id("msg")
        self.ignored: list[bytes] = []
        """The first events of unknown shape, raw. `ignored_count` says how many there were."""
        self.quirks = quirks
        self._explain = explain
        self._provider = provider
        self._model = model
        self._attempt = attempt
        self._taken = taken
        self._max_output_tokens = max_output_tokens
        self._framing = self._new_framing()
        self._out: list[Payload] = []
        self._blocks: list[OpenBlock] = []
        self._call_ids: set[str] = set()
        self._sources: dict[tuple[str, str | None], Source] = {}
        self._images: list[Image] = []
        self._set_up()

    # --- the interface ---------------------------------------------------------------------------------------

    def open(self) -> list[Payload]:
        return [MessageStart(self.id, self._model, self._attempt)]

    def feed(self, data: bytes) -> list[Payload]:
        out = self._out = []
        try:
            for event in self._framing.feed(data):
                self._read(event.data, event.event)
        except ProviderError as error:
            self._fail(error)
        return out

    def close(self) -> list[Payload]:
        """The response is over. Gives out how the message ended, whatever came."""
        out = self._out = []
        self._closing = True
        try:
            for event in self._framing.close():
                self._read(event.data, event.event)
            self._end()
        except ProviderError as error:
            self._fail(error)
        if self.error is None and self._framing.stray:
            self.error = error_from_body(b"\n".join(self._framing.stray))
        if self.error is None and not self._complete():
            self._fail(self._unfinished())
        if self.error is not None:
            return [*out, self._discard(self.error)]
        self._finish()
        return out

    def abort(self, error: ProviderError) -> list[Payload]:
        """The attempt failed outside the stream: the connection, a watchdog, an HTTP status."""
        self._fail(error)
        return [self._discard(error)]

    @property
    def started(self) -> bool:
        """Something of the message has arrived."""
        return bool(self._blocks)

    @property
    def finishing(self) -> bool:
        """A stop reason was seen: what is still missing, if anything, is usage."""
        return self.provider_stop_reason is not None

    # --- what a wire implements ------------------------------------------------------------------------------

    def _read(self, data: bytes, event: str) -> None:
        """Take one event of the stream."""
        raise NotImplementedError

    def _native(self) -> Any:
        """The message as the provider wants it back."""
        raise NotImplementedError

    def _set_up(self) -> None:
        """Make the wire's own state, once the shared one stands."""

    def _new_framing(self) -> Framing:
        return SSEParser()

    def _end(self) -> None:
        """The stream is over; settle what was held back."""

    def _stop_reason(self, raw: str) -> StopReason:
        """The provider's word for why it stopped, in ours. An unknown one is a normal end."""
        return self.stop_reasons.get(raw, "end_turn")

    def _complete(self) -> bool:
        """The provider has said that the message is finished."""
        return self.provider_stop_reason is not None

    # --- what a wire calls -----------------------------------------------------------------------------------

    def _decode(self, decoder: "msgspec.json.Decoder[T]", data: bytes) -> T | None:
        """An event's JSON in the wire's own shape, or None (and counted) where it has no such shape."""
        try:
            return decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._surrogates = True
        try:
            value = loads(data)
        except ValueError:
            self._ignore(data)
            if data.lstrip()[:1] == b"{" and not self._closing:
                raise GarbledStream("An event of the stream is not JSON; try again.") from None
            return None
        try:
            return convert(value, decoder.type)
        except ValueError:
            self._ignore(data)
            return None

    def _ignore(self, data: bytes) -> None:
        self.ignored_count += 1
        if len(self.ignored) < MAX_IGNORED:
            self.ignored.append(data)

    def _text(self, text: str) -> str:
        """Say a piece of text; gives back what was said of it."""
        block = self._current
        if block is None or block.kind != "text":
            block = self._begin("text")
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        self._out.append(TextDelta(block.index, block.id, text))
        return text

    def _refusal(self, text: str) -> None:
        block = self._current
        if block is None or block.kind != "refusal":
            block = self._begin("refusal")
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        self._out.append(TextDelta(block.index, block.id, text))

    def _thinking(self, text: str) -> str:
        block = self._current
        if block is None or block.kind != "thinking":
            block = self._begin("thinking")
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        self._out.append(ThinkingDelta(block.index, block.id, text))
        return text

    def _begin(self, kind: Kind) -> OpenBlock:
        """Open a text or thinking block, closing the one before it."""
        self._break()
        block = OpenBlock(kind)
        self._blocks.append(block)
        self._start(block)
        self._current = block
        return block

    def _break(self) -> None:
        """Close the open text or thinking block: what comes next is another one."""
        if self._current is not None:
            self._stop(self._current)
            self._current = None

    def _call(self, wire_id: str, name: str) -> OpenBlock:
        """A new call. It is announced with the first of its arguments, when its name is surely whole."""
        block = OpenBlock("tool")
        block.wire_id = wire_id
        block.name = name
        block.call_id = self._unique(wire_id)
        self._blocks.append(block)
        return block

    def _call_text(self, block: OpenBlock, text: str) -> None:
        if block.closed:
            return
        if not block.started and _is_named(block):
            self._start(block)
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        if block.started:
            self._out.append(InputJsonDelta(block.index, block.id, text))

    def _call_replace(self, block: OpenBlock, text: str) -> None:
        """The provider's final word on a call's arguments."""
        so_far = block.text
        if text.startswith(so_far):
            if len(text) > len(so_far):
                self._call_text(block, text[len(so_far) :])
            return
        block.parts = [text]

    def _source(self, title: str, url: Any, quote: Any = None) -> None:
        url, quote = (value if isinstance(value, str) else None for value in (url, quote))
        self._sources.setdefault((url or title, quote), Source(title or url or "", url, quote))

    def _image(self, media_type: str, data: str) -> None:
        self._images.append(Image(media_type=media_type, data=data))

    def _fail(self, error: ProviderError) -> None:
        """The first error is the one that is told."""
        if self.error is None:
            self.error = error
        self.done = True

    # --- how a message ends ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        self._break()
        kinds = {block.kind for block in self._blocks}
        stop = self._stop_reason(self.provider_stop_reason or "")
        if "refusal" in kinds and stop in EXECUTABLE:
            stop = "refusal"
        if "tool" in kinds and self._hit_limit():
            stop = "max_tokens"
        content: list[Block] = []
        calls = 0
        for block in self._blocks:
            if block.kind == "tool":
                block.calls = self._finish_call(block, stop)
                content += block.calls
                calls += len(block.calls)
            elif block.kind == "thinking":
                content.append(Reasoning(block.text))
            else:
                content.append(Text(block.text, block.kind == "refusal"))
        content += self._images
        if self._sources:
            content.append(Grounding(list(self._sources.values())))
        if calls and stop in EXECUTABLE:
            stop = "tool_use"
        elif not calls and stop == "tool_use":
            stop = "end_turn"
        self.stop_reason = stop
        native = Native(wire=self.wire, provider=self._provider, model=self._model, content=self._native())
        self.message = Message(role="assistant", content=content, id=self.id, native=native)
        self._out.append(MessageDelta(self.id, stop, self.usage, self.provider_stop_reason, self.provider_usage))
        self._out.append(MessageStop(self.id))

    def _finish_call(self, block: OpenBlock, stop: StopReason) -> list[ToolCall]:
        if block.name == PARALLEL:
            expanded = expand_parallel(block.text)
            if expanded is not None:
                return [self._whole_call(name, arguments, stop) for name, arguments in expanded]
        if not block.text.strip():
            block.parts = []
            self._call_text(block, "{}")
        if not block.started:
            self._start(block)
        self._stop(block)
        wire_id = block.wire_id if block.wire_id and block.wire_id != block.call_id else None
        return [finish_call(block.call_id, wire_id, block.name, block.text, stop)]

    def _whole_call(self, name: str, arguments: JsonObject, stop: StopReason) -> ToolCall:
        block = OpenBlock("tool")
        block.name = name
        block.call_id = self._unique("")
        self._start(block)
        self._call_text(block, encode_text(arguments))
        self._stop(block)
        return finish_call(block.call_id, None, name, block.text, stop)

    def _hit_limit(self) -> bool:
        """The output fills the budget to the token: a provider that calls this finished is wrong."""
        used = self.usage.total_output
        return self._max_output_tokens is not None and used is not None and used >= self._max_output_tokens

    def _unfinished(self) -> ProviderError:
        body = b"\n".join(self._framing.stray).strip() or b"".join(self.ignored[:1]).strip()
        if error := error_from_body(body):
            return error
        if body and not self._blocks and self.response_id is None and not _is_cut(body):
            return MalformedResponse(
                "The server answered with something that is not a model's stream: "
                f"{body[:200].decode('utf-8', 'replace')!r}; check the base URL and the wire."
            )
        return IncompleteStream(
            "The stream ended before the model had finished; nothing of it was run. Try again, or raise the "
            "timeout of the proxy in between."
        )

    def _discard(self, error: ProviderError) -> MessageDiscarded:
        self.message = None
        self.stop_reason = "error"
        if self._explain is not None:
            self.error = error = self._explain(error)
        return MessageDiscarded(self.id, error.info(), self.usage)

    # --- starts, stops, ids ----------------------------------------------------------------------------------

    def _start(self, block: OpenBlock) -> None:
        if block.kind == "tool":
            self._break()
        for earlier in self._blocks:  # a call that waits for its arguments keeps its place
            if earlier is block:
                break
            if earlier.kind == "tool" and not earlier.started and _is_named(earlier):
                self._start(earlier)
        block.index = self._started
        block.id = f"{self.id}.{block.index}"
        self._started += 1
        if block.kind == "tool":
            self._out.append(ToolUseContentBlockStart(block.index, block.id, block.call_id, block.name))
            if block.parts:  # they came before the name
                self._out.append(InputJsonDelta(block.index, block.id, block.text))
        elif block.kind == "thinking":
            self._out.append(ThinkingContentBlockStart(block.index, block.id))
        else:
            self._out.append(TextContentBlockStart(block.index, block.id, block.kind == "refusal"))

    def _stop(self, block: OpenBlock) -> None:
        if block.closed:
            return
        block.closed = True
        if block.half:
            self._surrogates = False
            delta: Callable[[int, str, str], Payload] = (
                ThinkingDelta if block.kind == "thinking" else InputJsonDelta if block.kind == "tool" else TextDelta
            )
            block.parts.append("\ufffd")
            self._out.append(delta(block.index, block.id, "\ufffd"))
            block.half = ""
            self._surrogates = True
        if block.kind == "tool":
            self._out.append(ToolUseContentBlockStop(block.index, block.id, block.call_id))
        elif block.kind == "thinking":
            self._out.append(ThinkingContentBlockStop(block.index, block.id))
        else:
            self._out.append(TextContentBlockStop(block.index, block.id))

    def _unique(self, wire_id: str) -> str:
        call_id = wire_id
        if not call_id or call_id in self._call_ids or call_id in self._taken:
            call_id = new_id("call")
        self._call_ids.add(call_id)
        return call_id


def _is_named(block: OpenBlock) -> bool:
    return bool(block.name) and block.name != PARALLEL


def _is_cut(body: bytes) -> bool:
    """The beginning of an event, not something else altogether."""
    return body[:1] in (b"{", b"[") or any(field.startswith(body) for field in (b"data:", b"event:", b"id:"))
