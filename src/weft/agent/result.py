"""What an exchange came to."""

from typing import Any

import msgspec

from weft.core.errors import ErrorInfo
from weft.core.events import ExchangeStatus
from weft.core.messages import Message
from weft.core.stop import StopReason
from weft.core.usage import Usage


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one exchange."""

    text: str
    """What the model said last."""
    status: ExchangeStatus
    stop_reason: StopReason
    usage: Usage
    cost: float | None
    """In dollars, delegated work included; None where a price is not known."""
    turns: int
    duration_ms: float
    files: dict[str, str]
    """The text files that were written, as they are now."""
    output: Any = None
    """The validated value, where a type was asked for."""
    messages: list[Message] = []
    """What the exchange added to the conversation."""
    error: ErrorInfo | None = None
    limit: str | None = None
    """Which budget ended it."""
    note: str | None = None
    """What is unusual about the outcome, in a sentence."""
    delegated: Usage | None = None
    exchange: str = ""

    @property
    def completed(self) -> bool:
        return self.status == "completed"
