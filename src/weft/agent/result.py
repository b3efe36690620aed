"""What an exchange came to."""

from collections.abc import Sequence
from typing import Any

import msgspec

from weft.core.errors import ErrorInfo
from weft.core.events import ExchangeResponse, ExchangeStatus
from weft.core.messages import Message
from weft.core.stop import StopReason
from weft.core.usage import Usage

_NOTES = {
    "max_tokens": "The answer was cut off at the output limit.",
    "refusal": "The model refused.",
    "content_filter": "A content filter stopped the answer.",
}


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

    @classmethod
    def of(
        cls,
        response: ExchangeResponse,
        *,
        text: str,
        files: dict[str, str],
        messages: Sequence[Message],
        exchange: str,
        output: Any = None,
    ) -> "AgentResult":
        """What the exchange's last event says, and what it left."""
        return cls(
            text=text,
            status=response.status,
            stop_reason=response.stop_reason,
            usage=response.usage,
            cost=response.cost_usd,
            turns=response.turns,
            duration_ms=response.duration_ms,
            files=files,
            output=output,
            messages=list(messages),
            error=response.error,
            limit=response.limit,
            note=response.note,
            delegated=response.delegated,
            exchange=exchange,
        )


def note_on(status: ExchangeStatus, stop_reason: StopReason, text: str, limit: str | None) -> str | None:
    """What is unusual about an outcome. `limit` explains the budget that ended it, if one did."""
    if status != "completed":
        return limit
    return _NOTES.get(stop_reason) or (None if text.strip() else "The model answered with no text.")
