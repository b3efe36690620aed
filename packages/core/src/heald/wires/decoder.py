"""The base of all stream decoders.

A decoder reads a response as it arrives and returns stream payloads. `open` announces the message, `feed` reads bytes
in any split, `close` ends the response. Only `close` decides the outcome: a message ends with `message_stop` if the
provider's terminal event was seen, and with `message_discarded` otherwise. No call is returned before that.
"""

import sys
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from heald.core.errors import GarbledStream, IncompleteStream, MalformedResponse, ProviderError
from heald.core.events import MessageDelta, MessageDiscarded, MessageStart, MessageStop
from heald.core.json import JsonObject, as_object, convert, encode_text, loads
from heald.core.messages import Block, Grounding, Message, Native, Reasoning, Text
from heald.core.payload import Payload
from heald.core.turn import EXECUTABLE, StopReason, TokenLogprob, Usage
from heald.wires.billed_cost import read_billed_cost
from heald.wires.delta_join import join_deltas
from heald.wires.errors import error_from_body, error_from_event, error_from_named_event
from heald.wires.finished_call import REPETITION, disable_call
from heald.wires.framing import ServerSentEvent, StreamFraming
from heald.wires.open_block import OpenBlock
from heald.wires.request import NO_QUIRKS, Quirks
from heald.wires.sse_or_array import SSEOrArrayParser
from heald.wires.writer import DIFF, FILE_PARTS, WHOLE_FILE, MessageWriter

if TYPE_CHECKING:
    from heald.wires.repetition import Repetition
    from heald.wires.text_call import Tools
    from heald.wires.text_calls import Fits, Part, TextCalls
    from heald.wires.text_edits import FilePiece, TextEdits, TextFiles


T = TypeVar("T")

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
MAX_IGNORED = 20
_TOKEN_CHARACTERS = 4
MAX_RESPONSE_BYTES = 256 << 20
"""The limit of one response: several times the longest answers of today."""


class Decoder(MessageWriter):
    """The base of all decoders. A wire implements `_read_event`, `_build_native` and the map of its stop reasons, which
    is complete."""

    wire: ClassVar[str]
    stop_reasons: ClassVar[dict[str, StopReason]]
    needs_terminal: ClassVar[bool] = False
    """A message is complete only if its terminal event was seen, not with its stop reason."""

    __slots__ = (
        "_attempt",
        "_call_names",
        "_calls_allowed",
        "_closing",
        "_explain",
        "_file",
        "_fits",
        "_framing",
        "_max_output_tokens",
        "_model",
        "_provider",
        "_read_bytes",
        "_reads_logprobs",
        "_repetition",
        "_text_calls",
        "_text_edits",
        "_text_files",
        "_usage",
        "_waits_for_text",
        "done",
        "error",
        "held_back",
        "ignored",
        "ignored_count",
        "join_from",
        "logprobs",
        "message",
        "notes",
        "provider_stop_reason",
        "provider_usage",
        "quirks",
        "response_id",
        "response_model",
        "stop_reason",
        "unread_call",
    )

    def __init__(
        self,
        message_id: str = "",
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
        fits: "Fits | None" = None,
        calls_allowed: bool = True,
        waits_for_text: bool = False,
    ) -> None:
        super().__init__(message_id, used_ids)
        self.done = False
        """The terminal event was seen: nothing but late usage can follow."""
        self.message: Message | None = None
        """The finished message, after `close`, if it was finished."""
        self.stop_reason: StopReason | None = None
        self.provider_stop_reason: str | None = None
        self.provider_usage: JsonObject | None = None
        self.response_id: str | None = None
        self.response_model: str | None = None
        self.error: ProviderError | None = None
        self.logprobs: list[TokenLogprob] = []
        """The log-probabilities of the tokens, if they were requested."""
        self.held_back = 0
        """Characters that have arrived and wait for the finished text."""
        self.unread_call = False
        """The text holds a call in a form that cannot be read."""
        self.notes: list[str] = []
        """Sentences about parts of the answer that the message cannot hold, and about repairs."""
        self.ignored: list[bytes] = []
        """The first events of unknown shape, raw. `ignored_count` counts all of them."""
        self.ignored_count = 0
        self.join_from = sys.maxsize
        """The number of events of one read from which on neighbouring deltas of a block become one."""
        self.quirks = quirks
        self._usage: Usage | None = Usage()
        self._explain = explain
        self._provider = provider
        self._model = model
        self._attempt = attempt
        self._calls_allowed = calls_allowed
        self._waits_for_text = waits_for_text
        self._max_output_tokens = max_output_tokens
        self._reads_logprobs = logprobs
        self._framing = self._new_framing()
        self._closing = False
        self._read_bytes = 0
        self._call_names: Tools | None = tools if tools and quirks.text_calls else None
        """The tools whose calls are searched in text, until it is clear that the server parses calls itself."""
        self._fits = fits
        """Whether a tool accepts the arguments of a call in the text."""
        self._text_calls: TextCalls | None = None
        """Searches for calls, from the first text on."""
        self._text_files = text_files
        self._text_edits: TextEdits | None = None
        self._repetition = _new_repetition() if text_files is not None else None
        if text_files is not None and text_files.may_write:
            self._text_edits = _new_text_edits(text_files)
            self._call_names = text_files.call_names if quirks.text_calls else None
        self._file: OpenBlock | None = None
        """The file that is being written as text."""
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
            if self._reads_logprobs:
                self._read_logprobs(events)
            if len(events) >= self.join_from:
                self._read_together(events)
                return join_deltas(out)
            for event in events:
                if event.event == "error":
                    self._read_named_error(event.data)
                else:
                    self._read_event(event.data, event.event)
        except ProviderError as error:
            self._fail(error)
        return out

    def _read_together(self, events: Sequence[ServerSentEvent]) -> None:
        """Read events that need not be delivered one by one: consecutive pieces of the open text become one."""
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
            if event.event == "error":
                self._read_named_error(event.data)
            else:
                self._read_event(event.data, event.event)
        if texts:
            self._add_open_text("".join(texts))

    def close(self) -> list[Payload]:
        """End the response and return the payloads that end the message."""
        out = self._out = []
        self._closing = True
        try:
            events = self._framing.close()
            if self._reads_logprobs:
                self._read_logprobs(events)
            for event in events:
                if event.event == "error":
                    self._read_named_error(event.data)
                else:
                    self._read_event(event.data, event.event)
            self._flush()
        except ProviderError as error:
            self._fail(error)
        if self.error is None and self._framing.stray and not self.done:
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
    def usage(self) -> Usage:
        """The usage so far. It is parsed here if a stream reports it with many events."""
        if self._usage is None:
            self._usage = self._parse_usage(self.provider_usage or {})
        return self._usage

    @usage.setter
    def usage(self, usage: Usage) -> None:
        self._usage = usage

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

    def _parse_usage(self, reported: JsonObject) -> Usage:
        """Parse `provider_usage`, for a wire that sets `_usage` to None with each report."""
        raise NotImplementedError

    def _parse_logprobs(self, event: JsonObject) -> list[TokenLogprob]:
        """Return the log-probabilities in one event."""
        return []

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
        """Map the provider's stop reason. `stop_reasons` is complete: a message that ended for any other reason was
        cut off. An empty one is absent, where the API may leave it out."""
        return self.stop_reasons.get(raw, "max_tokens") if raw else "end_turn"

    @property
    def _interrupted_by(self) -> str:
        """The provider's stop reason if it is not a known one."""
        reason = self.provider_stop_reason or ""
        return "" if reason in self.stop_reasons else reason

    def _is_complete(self) -> bool:
        """The provider has sent all that ends a message."""
        return self.provider_stop_reason is not None and (self.done or not self.needs_terminal)

    def _read_logprobs(self, events: Sequence[ServerSentEvent]) -> None:
        for event in events:
            try:
                content = as_object(loads(event.data))
            except ValueError:
                continue
            self.logprobs.extend(self._parse_logprobs(content))

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
            if data.lstrip()[:1] == b"{" and not self._closing and not self.done:
                raise GarbledStream("An event of the stream is not JSON; try again.") from None
            return None
        try:
            return convert(value, decoder.type)
        except ValueError:
            self._ignore(data)
            self._fail_if_error(data)
            return None

    def _parse_object(self, data: bytes) -> JsonObject:
        """Parse an event without a type; empty if it is not an object."""
        try:
            return as_object(loads(data))
        except ValueError:
            return {}

    def _fail_if_error(self, data: bytes) -> bool:
        """Fail if an event of unknown shape is an error. Returns whether it is one. A finished message stays."""
        error = None if self.done else error_from_event(self._parse_object(data))
        if error is not None:
            self._fail(error)
        return error is not None

    def _read_named_error(self, data: bytes) -> None:
        if not self.done:
            self._fail(error_from_named_event(data))

    def _add_model_text(self, text: str) -> None:
        """Add text in which calls or files may be written, if there can be some."""
        if self._repetition is not None and self._repetition.follow(text):
            self._stop_repetition(self._repetition.length)
        if self._text_edits is not None:
            self._add_file_parts(self._text_edits.feed(text))
        else:
            self._add_text_with_calls(text)

    def _stop_repetition(self, length: int) -> None:
        """End an answer that repeats itself: it is cut off, and no more of it is read. Its tokens are estimated by its
        length, since the server reports them at the end."""
        if self.usage.output is None:
            self.usage = msgspec.structs.replace(self.usage, output=-(-length // _TOKEN_CHARACTERS))
        self.provider_stop_reason, self.done, self._repetition = REPETITION, True, None
        self._note("The answer repeated itself without an end, so it was stopped.")

    def _add_text_with_calls(self, text: str) -> None:
        if self._call_names is not None and self._text_calls is None:
            from heald.wires.text_calls import TextCalls  # with the first text, if calls are looked for

            self._text_calls = TextCalls(self._call_names, self._fits)
        if self._text_calls is None or self._text_calls.skip_plain(text):
            self._add_text(text)
        else:
            self._add_parts(self._text_calls.feed(text))

    def _end_text_calls(self, *, native: bool = False) -> None:
        """Add the rest of the text: it ends, or the API reports a call (`native`) and so parses calls itself."""
        if self._text_edits is not None:
            self._add_file_parts(self._text_edits.close())
            self._text_edits = None
        self._call_names = None
        if self._text_calls is not None:
            self._add_parts(self._text_calls.cancel() if native else self._text_calls.close())
            self.unread_call = self.unread_call or self._text_calls.failed
            self._text_calls = None

    def _add_file_parts(self, parts: "list[str | FilePiece]") -> None:
        files = self._text_files
        assert files is not None
        for part in parts:
            if isinstance(part, str):
                self._add_text_with_calls(part)
                continue
            if self._text_calls is not None:  # a call that a file follows is not the end of the answer
                self._add_parts(self._text_calls.cancel())
            if part.step == "begin":
                self._file = self._begin_text_call(files.write_tool, WHOLE_FILE)
                self._add_arguments(self._file, f'{{"path":{encode_text(part.text)},"content":"')
            elif part.step in ("edits", "patch"):
                is_patch = part.step == "patch"
                block = self._begin_text_call(
                    *((files.patch_tool, DIFF) if is_patch else (files.edit_tool, FILE_PARTS))
                )
                self._add_arguments(block, part.text)
                self._close(block)
            elif self._file is not None and part.step == "cut":
                self._close(self._file)
                self._file = None
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

    def _note(self, sentence: str) -> None:
        """Add a sentence about the answer, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

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
        stop, interrupted_by = self._stop_reason(self.provider_stop_reason or ""), self._interrupted_by
        if "refusal" in kinds and stop in EXECUTABLE:
            stop = "refusal"
        if "tool" in kinds and self._max_output_tokens is not None and self._hit_limit(self._max_output_tokens):
            stop = "max_tokens"
        content: list[Block] = []
        calls = 0
        for block in self._blocks:
            if block.kind == "tool":
                block.calls = self._finish_call(block, stop, interrupted_by)
                if not self._calls_allowed:
                    block.calls = [disable_call(call) for call in block.calls]
                content += block.calls
                calls += len(block.calls)
            elif block.kind == "thinking":
                content.append(Reasoning(block.text))
            else:
                content.append(Text(block.text, block.kind == "refusal"))
        content += self._list_media()
        if self._sources:
            content.append(Grounding(list(self._sources.values())))
        if calls and stop in EXECUTABLE:
            stop = "tool_use"
        elif not calls and stop == "tool_use":
            stop = "end_turn"
        self.stop_reason = stop
        native = Native(wire=self.wire, provider=self._provider, model=self._model, content=self._build_native())
        self.message = Message(role="assistant", content=content, id=self.id, native=native)
        self._out.append(
            MessageDelta(
                self.id,
                stop,
                self.usage,
                self.provider_stop_reason,
                self.provider_usage,
                read_billed_cost(self.provider_usage),
                interrupted=bool(interrupted_by),
                calls_allowed=self._calls_allowed,
                notes=self.notes,
            )
        )
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


def _new_repetition() -> "Repetition":
    from heald.wires.repetition import Repetition  # only small models are stopped

    return Repetition()


def _new_text_edits(text_files: "TextFiles") -> "TextEdits":
    from heald.wires.text_edits import TextEdits  # only small models write files as text

    return TextEdits(text_files)


def _is_cut(body: bytes) -> bool:
    """Whether a body is the beginning of an event."""
    try:
        loads(body)
    except ValueError:
        pass
    else:
        return False
    return body[:1] in (b"{", b"[") or any(field.startswith(body) for field in (b"data:", b"event:", b"id:"))
