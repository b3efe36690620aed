"""The base of all stream decoders.

A decoder reads a response as it arrives and returns stream payloads. `open` announces the message, `feed` reads bytes
in any split, `close` ends the response. Only `close` decides the outcome: a message ends with `message_stop` if the
provider's terminal event was seen, and with `message_discarded` otherwise. No call is returned before that.
"""

import sys
from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from weft.core.errors import GarbledStream, IncompleteStream, MalformedResponse, ProviderError
from weft.core.events import MessageDelta, MessageDiscarded, MessageStart, MessageStop
from weft.core.json import JsonObject, convert, encode_text, loads
from weft.core.messages import Block, Grounding, Message, Native, Reasoning, Text
from weft.core.payload import Payload
from weft.core.turn import EXECUTABLE, StopReason, TokenLogprob, Usage
from weft.wires.delta_join import join_deltas
from weft.wires.errors import error_from_body
from weft.wires.framing import ServerSentEvent, SSEOrArrayParser, StreamFraming
from weft.wires.request import NO_QUIRKS, Quirks
from weft.wires.writer import FILE_PARTS, WHOLE_FILE, MessageWriter, OpenBlock

if TYPE_CHECKING:
    from weft.wires.text_call_forms import Tools
    from weft.wires.text_calls import Part, TextCalls
    from weft.wires.text_edits import FilePiece, TextEdits, TextFiles


def disjoint_usage(
    *,
    prompt: int | None,
    completion: int | None,
    total: int | None,
    cache_read: int | None,
    cache_write: int | None,
    reasoning: int | None,
) -> Usage:
    """Split totals that include their parts, as OpenAI's APIs count them, into disjoint buckets."""
    if completion is not None and reasoning and not _counts_reasoning_apart(prompt or 0, completion, reasoning, total):
        reasoning = min(reasoning, completion)  # an estimate may exceed the completion that includes it
        completion -= reasoning
    if prompt is not None:
        prompt = max(prompt - (cache_read or 0) - (cache_write or 0), 0)
    return Usage(input=prompt, cache_read=cache_read, cache_write=cache_write, output=completion, reasoning=reasoning)


def _counts_reasoning_apart(prompt: int, completion: int, reasoning: int, total: int | None) -> bool:
    """Whether reasoning is counted beside the completion, as xAI and some gateways do: the total or its size shows it.

    A small excess is no proof: servers that estimate reasoning overshoot by a fifth.
    """
    return total == prompt + completion + reasoning or reasoning > completion * 1.25


def first_int(*values: Any) -> int | None:
    """The first of the values that is an integer."""
    for value in values:
        if type(value) is int:
            return value
    return None


T = TypeVar("T")

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
MAX_IGNORED = 20
MAX_RESPONSE_BYTES = 256 << 20
"""The limit of one response: several times the longest answers of today."""


class Decoder(MessageWriter):
    """The base of all decoders. A wire implements `_read_event`, `_build_native` and the map of its stop reasons."""

    wire: ClassVar[str]
    stop_reasons: ClassVar[dict[str, StopReason]]
    needs_terminal: ClassVar[bool] = False
    """A message is complete only if its terminal event was seen, not with its stop reason."""

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
    unread_call: bool = False
    """The text holds a call in a form that cannot be read."""
    ignored_count: int = 0

    logprobs: Sequence[TokenLogprob] = ()
    """The log-probabilities of the tokens, if they were requested."""

    # An instance has attributes of its own for these only if it needs them: beyond thirty, access to all is slower.
    _call_names: "Tools | None" = None
    """The tools whose calls are looked for in text, until it is clear that the server parses calls itself."""
    _text_calls: "TextCalls | None" = None
    """Looks for calls, from the first text on."""
    _text_files: "TextFiles | None" = None
    _text_edits: "TextEdits | None" = None
    _file: OpenBlock | None = None
    """The file that is being written as text."""
    join_from: int = sys.maxsize
    """The number of events of one read from which on neighbouring deltas of a block become one."""
    _closing: bool = False
    _read_bytes: int = 0

    def __init__(
        self,
        message: str = "",
        *,
        provider: str = "",
        model: str = "",
        attempt: int = 1,
        used_ids: Container[str] = frozenset(),
        max_output_tokens: int | None = None,
        quirks: Quirks = NO_QUIRKS,
        explain: Callable[[ProviderError], ProviderError] | None = None,
        logprobs: bool = False,
        tools: "Tools | None" = None,
        text_files: "TextFiles | None" = None,
    ) -> None:
        super().__init__(message, used_ids)
        self.ignored: list[bytes] = []
        """The first events of unknown shape, raw. `ignored_count` counts all of them."""
        self.quirks = quirks
        self._explain = explain
        self._provider = provider
        self._model = model
        self._attempt = attempt
        self._max_output_tokens = max_output_tokens
        self._framing = self._new_framing()
        if tools and quirks.text_calls:
            self._call_names = tools
        if text_files is not None:
            from weft.wires.text_edits import TextEdits  # only small models write files as text

            self._text_files, self._text_edits = text_files, TextEdits(text_files)
        if logprobs:
            self.logprobs = found = list[TokenLogprob]()
            self._read_event = partial(self._read_with_logprobs, found)
            self._read_text_only = _read_nothing
        self._init_state()

    # --- the interface ---------------------------------------------------------------------------------------

    def open(self) -> list[Payload]:
        return [MessageStart(self.id, self._model, self._attempt)]

    def feed(self, data: bytes) -> list[Payload]:
        out = self._out = []
        self._read_bytes += len(data)
        try:
            if self._read_bytes > MAX_RESPONSE_BYTES:
                raise MalformedResponse(
                    f"The answer has more than {MAX_RESPONSE_BYTES >> 20} MiB and no end; limit the model's output."
                )
            events = self._framing.feed(data)
            if len(events) >= self.join_from:
                self._read_together(events)
                return join_deltas(out)
            for event in events:
                self._read_event(event.data, event.event)
        except ProviderError as error:
            self._fail(error)
        return out

    def _read_together(self, events: Sequence[ServerSentEvent]) -> None:
        """Read events of which nobody wants to see each: more of the open text is read as one piece."""
        texts: list[str] = []
        for event in events:
            if texts or self._has_open_text():
                text = self._read_text_only(event.data)
                if text is not None:
                    texts.append(text)
                    continue
                if texts:
                    self._add_open_text("".join(texts))
                    texts = []
            self._read_event(event.data, event.event)
        if texts:
            self._add_open_text("".join(texts))

    def close(self) -> list[Payload]:
        """End the response and return the payloads that end the message."""
        out = self._out = []
        self._closing = True
        try:
            for event in self._framing.close():
                self._read_event(event.data, event.event)
            self._flush()
        except ProviderError as error:
            self._fail(error)
        if self.error is None and self._framing.stray:
            self.error = error_from_body(b"\n".join(self._framing.stray))
        if self.error is None and not self._is_complete():
            self._fail(self._unfinished_error())
        if self.error is not None:
            return [*out, self._discard(self.error)]
        self._finish_message()
        return out

    def abort(self, error: ProviderError) -> list[Payload]:
        """End an attempt that failed outside the stream: connection, watchdog, HTTP status."""
        self._fail(error)
        return [self._discard(error)]

    @property
    def started(self) -> bool:
        """Something of the message has arrived."""
        return bool(self._blocks)

    @property
    def finishing(self) -> bool:
        """A stop reason was seen: only usage may still follow."""
        return self.provider_stop_reason is not None

    # --- implemented by a wire -------------------------------------------------------------------------------

    def _read_event(self, data: bytes, event: str) -> None:
        """Read one event of the stream."""
        raise NotImplementedError

    def _has_open_text(self) -> bool:
        """Whether the next event may hold nothing but more of a text."""
        block = self._current
        return block is not None and block.kind == "text" and not self.done

    def _read_text_only(self, data: bytes) -> str | None:
        """Return the text of an event that holds nothing but more of the open text; None for any other event."""
        return None

    def _add_open_text(self, text: str) -> None:
        """Add more of the open text."""
        raise NotImplementedError

    def _read_with_logprobs(self, found: list[TokenLogprob], data: bytes, event: str) -> None:
        """Read one event, and the log-probabilities in it first."""
        from weft.wires.logprobs import read_logprobs

        found += read_logprobs(self.wire, data)
        type(self)._read_event(self, data, event)

    def _build_native(self) -> Any:
        """The message in the form that the provider accepts back."""
        raise NotImplementedError

    def _init_state(self) -> None:
        """Create the state of the wire."""

    def _new_framing(self) -> StreamFraming:
        return SSEOrArrayParser()

    def _flush(self) -> None:
        """Emit what was held back, at the end of the stream."""

    def _stop_reason(self, raw: str) -> StopReason:
        """Map the provider's stop reason. An unknown one is a normal end."""
        return self.stop_reasons.get(raw, "end_turn")

    def _is_complete(self) -> bool:
        """The provider has sent all that ends a message."""
        return self.provider_stop_reason is not None and (self.done or not self.needs_terminal)

    # --- called by a wire ------------------------------------------------------------------------------------

    def _decode(self, decoder: "msgspec.json.Decoder[T]", data: bytes) -> T | None:
        """Decode an event into a struct of the wire. None, and counted as ignored, if it has another shape."""
        try:
            return decoder.decode(data)
        except UNREADABLE:
            return self._decode_slowly(decoder, data)

    def _decode_slowly(self, decoder: "msgspec.json.Decoder[T]", data: bytes) -> T | None:
        """Decode an event with half a surrogate pair. None, and counted as ignored, if it has another shape."""
        self._has_surrogates = True
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

    def _add_model_text(self, text: str) -> None:
        """Add text in which calls or files may be written, if there can be some."""
        if self._text_edits is not None:
            self._add_file_parts(self._text_edits.feed(text))
            return
        if self._call_names is not None and self._text_calls is None:
            from weft.wires.text_calls import TextCalls  # with the first text, if calls are looked for

            self._text_calls = TextCalls(self._call_names)
        if self._text_calls is None or self._text_calls.is_plain(text):
            self._add_text(text)
        else:
            self._add_parts(self._text_calls.feed(text))

    def _end_text_calls(self) -> None:
        """Add the rest of the text: it ends, or the API reports a call and so parses calls itself."""
        self._call_names = None
        if self._text_calls is not None:
            self._add_parts(self._text_calls.close())
            self.unread_call = self.unread_call or self._text_calls.failed
            self._text_calls = None
        if self._text_edits is not None:
            self._add_file_parts(self._text_edits.close())
            self._text_edits = None
            if self._file is not None and self._stop_reason(self.provider_stop_reason or "") in EXECUTABLE:
                self._end_file(self._file)  # the model finished without closing the block

    def _add_file_parts(self, parts: "list[str | FilePiece]") -> None:
        files = self._text_files
        assert files is not None
        for part in parts:
            if isinstance(part, str):
                self._add_text(part)
            elif part.step == "begin":
                self._file = self._begin_text_call(files.write_tool, WHOLE_FILE)
                self._add_arguments(self._file, f'{{"path":{encode_text(part.text)},"content":"')
            elif part.step == "edits":
                block = self._begin_text_call(files.edit_tool, FILE_PARTS)
                self._add_arguments(block, part.text)
                self._close(block)
            elif self._file is not None and part.step == "grow":
                self._add_arguments(self._file, part.text)
            elif self._file is not None:
                self._end_file(self._file)

    def _end_file(self, file: OpenBlock) -> None:
        self._add_arguments(file, '"}')
        self._close(file)
        self._file = None

    def _begin_text_call(self, name: str, form: str) -> OpenBlock:
        block = self._start_call("", name)
        block.form = form
        return block

    def _add_parts(self, parts: "list[Part]") -> None:
        for part in parts:
            if isinstance(part, str):
                self._add_text(part)
                continue
            block = self._begin_text_call(part.name, part.form)
            self._add_arguments(block, encode_text(part.arguments))
            self._close(block)

    def _ignore(self, data: bytes) -> None:
        self.ignored_count += 1
        if len(self.ignored) < MAX_IGNORED:
            self.ignored.append(data)

    def _fail(self, error: ProviderError) -> None:
        """Record an error; the first one counts."""
        if self.error is None:
            self.error = error
        self.done = True

    # --- the end of a message --------------------------------------------------------------------------------

    def _finish_message(self) -> None:
        self._close_block()
        kinds = {block.kind for block in self._blocks}
        stop = self._stop_reason(self.provider_stop_reason or "")
        if "refusal" in kinds and stop in EXECUTABLE:
            stop = "refusal"
        if "tool" in kinds and self._max_output_tokens is not None and self._hit_limit(self._max_output_tokens):
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
        native = Native(wire=self.wire, provider=self._provider, model=self._model, content=self._build_native())
        self.message = Message(role="assistant", content=content, id=self.id, native=native)
        self._out.append(MessageDelta(self.id, stop, self.usage, self.provider_stop_reason, self.provider_usage))
        self._out.append(MessageStop(self.id))

    def _hit_limit(self, limit: int) -> bool:
        """The output fills the budget exactly: then it was cut off, whatever the provider reports."""
        used = self.usage.total_output
        return used is not None and used >= limit

    def _unfinished_error(self) -> ProviderError:
        document = self._framing.document
        body = b"\n".join(self._framing.stray).strip() or b"".join(self.ignored[:1]).strip() or document
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


def _read_nothing(data: bytes) -> None:
    """Read each event by itself: its log-probabilities are wanted."""


def _is_cut(body: bytes) -> bool:
    """Whether a body is the beginning of an event."""
    try:
        loads(body)
    except ValueError:
        pass
    else:
        return False
    return body[:1] in (b"{", b"[") or any(field.startswith(body) for field in (b"data:", b"event:", b"id:"))
