"""The result of an exchange."""

from collections.abc import Sequence
from typing import Any, Generic, cast

import msgspec
from msgspec import UnsetType

from heald.core.errors import ErrorInfo
from heald.core.events import ExchangeResponse, ExchangeStatus
from heald.core.messages import Message
from heald.core.short_text import quote
from heald.core.turn import StopReason, Usage
from heald.core.type_parameters import OutputT
from heald.wires.finished_call import REPETITION

_NOTES = {
    "max_tokens": "The answer was cut off at the output limit.",
    "refusal": "The model refused.",
    "content_filter": "A content filter stopped the answer.",
}

_MAX_REASON = 80


class AgentResult(msgspec.Struct, Generic[OutputT], frozen=True, kw_only=True):
    """The outcome of one exchange. `AgentResult[Advice]` is that of a request with `output=Advice`."""

    text: str
    """The last text of the model."""
    status: ExchangeStatus
    """How it ended: `completed`, `cancelled`, `failed`, or `limit` if its budget ended it."""
    stop_reason: StopReason
    """Why the model stopped writing its last message."""
    usage: Usage
    """The tokens of all requests to models, without those of other agents."""
    cost_usd: float | None
    """In dollars, with the work of other agents; None if a price is not known."""
    turns: int
    """The number of answers of the model."""
    duration_ms: float
    """The time from the request to the end, in milliseconds."""
    files: dict[str, str]
    """The text files that were written, as they are now."""
    _value: OutputT | UnsetType | None = msgspec.field(default=None, name="output")
    messages: list[Message] = []
    """The messages that the exchange has added to the conversation."""
    error: ErrorInfo | None = None
    """Why it failed."""
    limit: str | None = None
    """The budget that ended it."""
    note: str | None = None
    """A remark on an unusual outcome."""
    delegated: Usage | None = None
    """The tokens of other agents that worked for it."""
    exchange: str = ""
    """The id of the exchange."""

    @property
    def completed(self) -> bool:
        """Whether the model gave its final answer."""
        return self.status == "completed"

    @property
    def output(self) -> OutputT:
        """The value of the type that was requested with `output=`; None if no type was requested.

        Raises OutputError if the exchange ended without the value; `completed` tells that.
        """
        if not isinstance(self._value, UnsetType):
            return cast("OutputT", self._value)
        from heald.agent.typed_output import OutputError

        explanation = self.error.message if self.error is not None else self.note or self.limit or ""
        reason = f" ({explanation.rstrip('.')})" if explanation else ""
        raise OutputError(
            f"The exchange has status {self.status!r}{reason} and no output; check result.completed before you read it."
        )

    def with_output(self, value: object) -> "AgentResult[Any]":
        """Return the result with the value that its text holds; UNSET if it should hold one and does not."""
        return msgspec.structs.replace(self, _value=value)

    def __repr__(self) -> str:
        fields = [quote(self.text), f"status={self.status!r}", f"turns={self.turns}"]
        if self._value is not None and not isinstance(self._value, UnsetType):
            fields.insert(1, f"output={self._value!r}")
        if self.files:
            fields.append(f"files={list(self.files)}")
        if self.cost_usd is not None:
            fields.append(f"cost_usd={self.cost_usd:.4g}")
        fields += [f"{name}={value!r}" for name in ("error", "limit", "note") if (value := getattr(self, name))]
        return f"AgentResult({', '.join(fields)})"

    def _repr_markdown_(self) -> str:
        """The answer as rich text, for notebooks."""
        note = (
            f"*{self.status}: {self.note or self.limit or ''}*"
            if not self.completed
            else self.note and f"*{self.note}*"
        )
        cost = f" · ${self.cost_usd:.4g}" if self.cost_usd is not None else ""
        foot = f"<sub>{self.turns} turn{'s' if self.turns != 1 else ''} · {self.duration_ms / 1000:.1f} s{cost}</sub>"
        files = " ".join(f"`{path}`" for path in self.files)
        return "\n\n".join(part for part in (self.text, note, files and f"Files: {files}", foot) if part)

    @classmethod
    def from_response(
        cls,
        response: ExchangeResponse,
        *,
        text: str,
        files: dict[str, str],
        messages: Sequence[Message],
        exchange: str,
        output: object = None,
    ) -> "AgentResult[Any]":
        """Combine the last event of an exchange with what it produced. `output` is UNSET if a type was requested and
        there is no value of it."""
        return cls(
            status=response.status,
            stop_reason=response.stop_reason,
            usage=response.usage,
            turns=response.turns,
            duration_ms=response.duration_ms,
            error=response.error,
            limit=response.limit,
            note=response.note,
            delegated=response.delegated,
            cost_usd=response.cost_usd,
            text=text,
            files=files,
            _value=cast("Any", output),
            messages=list(messages),
            exchange=exchange,
        )


def describe_outcome(
    status: ExchangeStatus,
    stop_reason: StopReason,
    text: str,
    reason: str | None,
    *,
    announced: bool = False,
    interrupted_by: str | None = None,
    notes: Sequence[str] = (),
) -> str | None:
    """Describe an unusual outcome. `reason` explains the budget or the guardrail that ended the exchange. `announced`:
    the last message ended for tool calls and holds none. `interrupted_by`: the provider's reason for a last message
    that did not end regularly. `notes` are those of the messages."""
    if status != "completed":
        return reason
    ending = _describe_end(stop_reason, text, announced=announced, interrupted_by=interrupted_by)
    return " ".join([*([ending] if ending else []), *notes]) or None


def _describe_end(stop_reason: StopReason, text: str, *, announced: bool, interrupted_by: str | None) -> str | None:
    if interrupted_by is not None and interrupted_by != REPETITION:  # that one is in the notes
        return f"The provider ended the answer early ({interrupted_by[:_MAX_REASON]!r}); it may be unfinished."
    if announced and stop_reason not in _NOTES:
        return "The model stopped to call a tool and called none; the answer may be unfinished."
    return _NOTES.get(stop_reason) or (None if text.strip() else "The model answered with no text.")
