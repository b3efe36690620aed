"""What the decoders of all wires share: blocks, calls, sources, and how a message may end.

A decoder takes a response as it arrives and gives out stream payloads. `open` announces the message, `feed` takes
bytes in any cut, `close` says that no more will come. Only `close` decides: a message ends with `message_stop` if
the provider's terminal event was seen, and with `message_discarded` otherwise. No call is given out before that.
"""

from collections.abc import Callable, Container
from typing import Any, ClassVar, TypeVar

import msgspec

from weft.core.content import Grounding, Reasoning, Text
from weft.core.errors import GarbledStream, IncompleteStream, MalformedResponse, ProviderError
from weft.core.events import (
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
)
from weft.core.json import JsonObject, convert, loads
from weft.core.messages import Block, Message, Native
from weft.core.payload import Payload
from weft.core.stop import EXECUTABLE, StopReason
from weft.core.usage import Usage
from weft.wires.faults import error_from_body
from weft.wires.framing import Framing
from weft.wires.quirks import NONE, Quirks
from weft.wires.sse import SSEParser
from weft.wires.writer import MessageWriter

T = TypeVar("T")

MAX_IGNORED = 20
MAX_RESPONSE_BYTES = 256 << 20
"""Of one response: several times what the longest answers of today take."""


class Decoder(MessageWriter):
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

    _closing: bool = False
    _read_bytes: int = 0

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
        super().__init__(message, taken)
        self.ignored: list[bytes] = []
        """The first events of unknown shape, raw. `ignored_count` says how many there were."""
        self.quirks = quirks
        self._explain = explain
        self._provider = provider
        self._model = model
        self._attempt = attempt
        self._max_output_tokens = max_output_tokens
        self._framing = self._new_framing()
        self._set_up()

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


def _is_cut(body: bytes) -> bool:
    """The beginning of an event, not something else altogether."""
    return body[:1] in (b"{", b"[") or any(field.startswith(body) for field in (b"data:", b"event:", b"id:"))
