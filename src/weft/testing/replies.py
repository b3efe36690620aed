"""What a scripted server answers: a status, headers, and a body told step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from weft.core.json import encode

EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class Pause:
    """Send nothing for a while."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Close the connection before the body is whole: no last chunk, or fewer bytes than were promised."""


@dataclass(frozen=True)
class Reset:
    """Break the connection, as a crashed proxy does (TCP RST)."""


@dataclass(frozen=True)
class Hang:
    """Send nothing more and keep the connection open until the client leaves."""


Step = bytes | Pause | Cut | Reset | Hang
"""Bytes are sent as one write, and as one chunk where the body is chunked."""


@dataclass(frozen=True)
class Reply:
    body: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = EVENT_STREAM
    framing: Literal["chunked", "length", "close"] = "chunked"
    """How the client knows where the body ends; `close` means by the end of the connection."""
    gzip: bool = False
    """Compress, with a flush after each step, as a streaming proxy does."""

    @staticmethod
    def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> "Reply":
        """A whole JSON document, such as the body of an error."""
        return Reply(
            [encode(value)], status=status, headers=headers or {}, content_type="application/json", framing="length"
        )
