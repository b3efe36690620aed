"""One exchange with a provider as a recording stores it: a line of JSON."""

import base64
from typing import Any

import msgspec


class Piece(msgspec.Struct, omit_defaults=True):
    """The bytes of one read, `ms` after the request."""

    ms: float
    text: str | None = None
    base64: str | None = None

    @staticmethod
    def of(ms: float, data: bytes) -> "Piece":
        try:
            return Piece(ms, text=data.decode())
        except UnicodeDecodeError:
            return Piece(ms, base64=base64.b64encode(data).decode())

    @property
    def data(self) -> bytes:
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "")


class RecordedFailure(msgspec.Struct):
    """A request that got no response."""

    code: str
    message: str
    reached: bool


class RecordedExchange(msgspec.Struct, omit_defaults=True):
    url: str
    request_headers: dict[str, str]
    request: Any
    status: int = 0
    headers: dict[str, str] = {}
    pieces: list[Piece] = []
    ended: str = ""
    """`eof` (read to the end), `closed` (reading was stopped), or how the connection broke."""
    failure: RecordedFailure | None = None
