"""Splits a response of Amazon Bedrock into events: `application/vnd.amazon.eventstream`.

A message is a length, the length of its headers, a checksum of both, headers, a payload, and a checksum of all.
Format: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html
"""

import base64
import struct
from zlib import crc32

from heald.core.errors import GarbledStream, MalformedResponse, ProviderError
from heald.core.json import as_object, encode, loads
from heald.wires.framing import MAX_EVENT_BYTES, ServerSentEvent

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_LENGTH = struct.Struct(">H")
_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""The bytes of a header value, by its type; types 6 and 7 carry their length."""
_TEXT = 7
_SMALLEST = _PRELUDE.size + _CHECKSUM.size


class AmazonEventParser:
    """Parses bytes in any split. An event has the name of its type; an exception has the event `exception`."""

    document = b""

    def __init__(self) -> None:
        self.stray: list[bytes] = []
        self._buffer = bytearray()
        self._at = 0  # the start of the next message in the buffer
        self._fault: ProviderError | None = None
        self._wanted = _PRELUDE.size  # the bytes that the next step needs

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        self._raise_fault()
        self._buffer += chunk
        events: list[ServerSentEvent] = []
        try:
            while len(self._buffer) - self._at >= self._wanted:
                if self._wanted == _PRELUDE.size:
                    self._wanted = self._read_prelude()
                    continue
                events.append(self._read_message())
                self._at += self._wanted
                self._wanted = _PRELUDE.size
        except ProviderError as fault:
            self._fault = fault  # what came before it counts, however the bytes were cut
        if not events:
            self._raise_fault()
        if self._at > 1 << 16 or self._at == len(self._buffer):
            del self._buffer[: self._at]
            self._at = 0
        return events

    def close(self) -> list[ServerSentEvent]:
        """End the stream. A message that is cut off is dropped; the decoder notices the missing end."""
        self._raise_fault()
        return []

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _read_prelude(self) -> int:
        total, headers, checksum = _PRELUDE.unpack_from(self._buffer, self._at)
        if crc32(self._buffer[self._at : self._at + 8]) != checksum or not 0 <= headers <= total - _SMALLEST:
            raise GarbledStream("A message of the event stream is damaged: its length has a wrong checksum; try again.")
        if total > MAX_EVENT_BYTES:
            raise MalformedResponse(f"The server sent one event of more than {MAX_EVENT_BYTES} bytes.")
        return total

    def _read_message(self) -> ServerSentEvent:
        message = bytes(self._buffer[self._at : self._at + self._wanted])
        (checksum,) = _CHECKSUM.unpack_from(message, len(message) - 4)
        if crc32(message[:-4]) != checksum:
            raise GarbledStream("A message of the event stream is damaged: it has a wrong checksum; try again.")
        start = _PRELUDE.size + _PRELUDE.unpack_from(message)[1]
        return _build_event(_read_headers(message[_PRELUDE.size : start]), message[start:-4])


def _build_event(headers: dict[str, str], payload: bytes) -> ServerSentEvent:
    match headers.get(":message-type"):
        case "exception":
            report = {"code": headers.get(":exception-type", ""), "message": _message_of(payload)}
            return ServerSentEvent(encode({"error": report}), "exception")
        case "error":
            report = {"code": headers.get(":error-code", ""), "message": headers.get(":error-message", "")}
            return ServerSentEvent(encode({"error": report}), "exception")
        case _:
            return ServerSentEvent(payload, headers.get(":event-type", ""))


def _message_of(payload: bytes) -> str:
    try:
        value = as_object(loads(payload))
    except ValueError:
        return payload[:300].decode("utf-8", "replace")
    return str(value.get("message") or value.get("Message") or value.get("originalMessage") or "")


def _read_headers(data: bytes) -> dict[str, str]:
    """Read the headers that are text; all others are skipped."""
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            end = at + 1 + data[at]
            name, kind = data[at + 1 : end].decode("utf-8", "replace"), data[end]
            at = end + 1
            if kind in _FIXED_SIZES:
                at += _FIXED_SIZES[kind]
                continue
            (size,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size + size
            if kind == _TEXT:
                headers[name] = data[at - size : at].decode("utf-8", "replace")
    except (IndexError, struct.error):
        raise GarbledStream("The headers of an event are damaged; try again.") from None
    return headers


class AmazonChunkParser(AmazonEventParser):
    """Unwraps the events of a model's own stream, which `InvokeModelWithResponseStream` sends as base64."""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        return [event if event.event == "exception" else _unwrap(event) for event in super().feed(chunk)]


def _unwrap(event: ServerSentEvent) -> ServerSentEvent:
    try:
        return ServerSentEvent(base64.b64decode(as_object(loads(event.data)).get("bytes") or "", validate=True))
    except (ValueError, TypeError):
        raise GarbledStream("A chunk of the event stream is not base64; try again.") from None
