"""The result of an exchange."""

from collections.abc import Sequence
from typing import Any

import msgspec

from heald.core.errors import ErrorInfo
from heald.core.events import ExchangeResponse, ExchangeStatus
from heald.core.messages import Message
from heald.core.turn import StopReason, Usage

_NOTES = {
    "max_tokens": "The answer was cut off at the output limit.",
    "refusal": "The model refused.",
    "content_filter": "A content filter stopped the answer.",
}


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one exchange."""

    text: str
    """The last text of the model."""
    status: ExchangeStatus
    stop_reason: StopReason
    usage: Usage
    cost_usd: float | None
    """In dollars, with the work of other agents; None if a price is not known."""
    turns: int
    duration_ms: float
    files: dict[str, str]
    """The text files that were written, as they are now."""
    output: Any = None
    """The validated value, if a type was requested."""
    messages: list[Message] = []
    """The messages that the exchange has added to the conversation."""
    error: ErrorInfo | None = None
    limit: str | None = None
    """The budget that ended it."""
    note: str | None = None
    """A remark on an unusual outcome."""
    delegated: Usage | None = None
    exchange: str = ""

    @property
    def completed(self) -> bool:
        return self.status == "completed"

    @classmethod
    def from_response(
        cls,
        response: ExchangeResponse,
        *,
        text: str,
        files: dict[str, str],
        messages: Sequence[Message],
        exchange: str,
        output: Any = None,
    ) -> "AgentResult":
        """Combine the last event of an exchange with what it produced."""
        same = ("status", "stop_reason", "usage", "turns", "duration_ms", "error", "limit", "note", "delegated")
        fields = {name: getattr(response, name) for name in same}
        return cls(
            **fields,
            cost_usd=response.cost_usd,
            text=text,
            files=files,
            output=output,
            messages=list(messages),
            exchange=exchange,
        )


def describe_outcome(
    status: ExchangeStatus, stop_reason: StopReason, text: str, reason: str | None, *, announced: bool = False
) -> str | None:
    """Describe an unusual outcome. `reason` explains the budget or the guardrail that ended the exchange. `announced`:
    the last message ended for tool calls and holds none."""
    if status != "completed":
        return reason
    if announced and stop_reason not in _NOTES:
        return "The model stopped to call a tool and called none; the answer may be unfinished."
    return _NOTES.get(stop_reason) or (None if text.strip() else "The model answered with no text.")
