"""Events: the facts of a session, in four layers.

One frozen struct a type. These are payloads: the facts themselves, as wires and tools make them. `core.envelope`
gives them their place in a session's log.
"""

from typing import Any, Literal

from weft.core.errors import ErrorInfo
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.payload import Payload, StreamPayload
from weft.core.stop import StopReason
from weft.core.tools import ToolCall, ToolResult, ToolStatus
from weft.core.usage import Usage

ExchangeStatus = Literal["completed", "cancelled", "failed", "limit"]


# --- stream: increments while a model writes and tools run ---------------------------------------------------
# `tool_call` and `tool_result` are here too: their payloads are `ToolCall` and `ToolResult` of core.tools.


class MessageStart(StreamPayload, frozen=True):
    type = "message_start"
    message: str
    model: str
    attempt: int


class TextContentBlockStart(StreamPayload, frozen=True):
    type = "text_content_block_start"
    index: int
    block: str
    refusal: bool = False


class TextDelta(StreamPayload, frozen=True):
    type = "text_delta"
    index: int
    block: str
    text: str


class TextContentBlockStop(StreamPayload, frozen=True):
    type = "text_content_block_stop"
    index: int
    block: str


class ThinkingContentBlockStart(StreamPayload, frozen=True):
    type = "thinking_content_block_start"
    index: int
    block: str


class ThinkingDelta(StreamPayload, frozen=True):
    type = "thinking_delta"
    index: int
    block: str
    text: str


class ThinkingContentBlockStop(StreamPayload, frozen=True):
    type = "thinking_content_block_stop"
    index: int
    block: str


class ToolUseContentBlockStart(StreamPayload, frozen=True):
    """A call has begun; its arguments follow. `id` is the call's."""

    type = "tool_use_content_block_start"
    index: int
    block: str
    id: str
    name: str


class InputJsonDelta(StreamPayload, frozen=True):
    type = "input_json_delta"
    index: int
    block: str
    partial_json: str


class ToolUseContentBlockStop(StreamPayload, frozen=True):
    type = "tool_use_content_block_stop"
    index: int
    block: str
    id: str


class MessageDelta(StreamPayload, frozen=True):
    """How the message ended. The provider's own words stand beside ours."""

    type = "message_delta"
    message: str
    stop_reason: StopReason
    usage: Usage
    provider_stop_reason: str | None = None
    provider_usage: JsonObject | None = None


class MessageStop(StreamPayload, frozen=True):
    type = "message_stop"
    message: str


class MessageDiscarded(StreamPayload, frozen=True):
    """A failed attempt: drop all that came since its `message_start`. Its usage still counts."""

    type = "message_discarded"
    message: str
    error: ErrorInfo
    usage: Usage = Usage()
    estimated: bool = False
    """The provider did not come to say what was used; this is a guess from the length."""


class ToolOutputDelta(StreamPayload, frozen=True):
    type = "tool_output_delta"
    id: str
    text: str
    channel: Literal["stdout", "stderr", "progress"] = "stdout"


class FilePreview(StreamPayload, frozen=True):
    """A file's content as the model writes it, before the tool runs. `offset` counts characters."""

    type = "file_preview"
    id: str
    path: str
    offset: int
    text: str


class FilePreviewReset(StreamPayload, frozen=True):
    type = "file_preview_reset"
    id: str
    path: str


# --- state: what the agent is doing --------------------------------------------------------------------------


class StatePayload(Payload, frozen=True):
    layer = "state"


class ConversationQueued(StatePayload, frozen=True):
    """A request waits for its turn. `request` is the exchange that it will be."""

    type = "conversation_queued"
    position: int
    request: str = ""
    message: Message | None = None
    client_request_id: str | None = None
    cause: str | None = None


class ConversationDequeued(StatePayload, frozen=True):
    """A request that waited was cancelled. Its exchange may still be opened, to say so."""

    type = "conversation_dequeued"
    request: str
    reason: str = ""


class ConversationStart(StatePayload, frozen=True):
    type = "conversation_start"


class ConversationThinking(StatePayload, frozen=True):
    type = "conversation_thinking"


class ConversationResponding(StatePayload, frozen=True):
    type = "conversation_responding"


class ConversationEnd(StatePayload, frozen=True):
    type = "conversation_end"


class ConversationInterrupted(StatePayload, frozen=True):
    type = "conversation_interrupted"
    reason: str = ""


class ToolPlanned(StatePayload, frozen=True):
    type = "tool_planned"
    id: str
    name: str


class ToolExecuting(StatePayload, frozen=True):
    type = "tool_executing"
    id: str
    name: str
    attempt: int
    resources: list[str] = []
    summary: str = ""
    idempotent: bool = False
    """The call may be run again if its writer dies: with the same id it takes effect once."""


class ToolCompleted(StatePayload, frozen=True):
    type = "tool_completed"
    id: str
    name: str
    duration_ms: float
    summary: str = ""
    cost_usd: float | None = 0.0
    """What it cost beside the model. None if something was used whose price is not known."""


class ToolFailed(StatePayload, frozen=True):
    type = "tool_failed"
    id: str
    name: str
    status: ToolStatus
    duration_ms: float
    summary: str = ""
    cost_usd: float | None = 0.0
    """What it had cost by then."""


class ApprovalRequested(StatePayload, frozen=True):
    """Somebody must allow this exact call. `digest` binds the approval to tool and arguments."""

    type = "approval_requested"
    approval: str
    call: str
    name: str
    digest: str
    summary: str


class ApprovalResolved(StatePayload, frozen=True):
    type = "approval_resolved"
    approval: str
    call: str
    decision: Literal["allowed", "denied"]
    reason: str = ""
    input: JsonObject | None = None
    """Other arguments that the approver gave the call."""
    always: bool = False
    """The same need not be asked again in this session."""


class QuestionAsked(StatePayload, frozen=True):
    type = "question_asked"
    question: str
    call: str
    text: str
    suggestions: list[str]


class QuestionAnswered(StatePayload, frozen=True):
    type = "question_answered"
    question: str
    call: str
    answer: str


class FileChanged(StatePayload, frozen=True):
    """A file has a new revision. `hash` is the SHA-256 of its content, None once it is deleted."""

    type = "file_changed"
    path: str
    revision: int
    hash: str | None
    prev_hash: str | None
    cause: str
    """The call that changed it, or `user`: a person did."""
    size: int = 0
    diff: str = ""
    found: str | None = None
    """At the first revision: the SHA-256 of what was there before; None if nothing was."""


class FileAccepted(StatePayload, frozen=True):
    """A person keeps what became of a file: from here on it is compared with the content of this hash."""

    type = "file_accepted"
    path: str
    hash: str | None


class RetryScheduled(StatePayload, frozen=True):
    type = "retry_scheduled"
    message: str
    attempt: int
    delay_s: float
    error: ErrorInfo


class CancelRequested(StatePayload, frozen=True):
    type = "cancel_requested"
    reason: str = ""


class ErrorOccurred(StatePayload, frozen=True):
    type = "error_occurred"
    error: ErrorInfo


class SessionResumed(StatePayload, frozen=True):
    """Another writer goes on where one has died."""

    type = "session_resumed"
    from_seq: int
    requests: list[str] = []
    """Those that waited and are taken up again, in order."""


class SessionRewound(StatePayload, frozen=True):
    """The conversation goes on as it was at an earlier event. Log and files stay as they are."""

    type = "session_rewound"
    seq: int


# --- message: whole messages, for storing and showing ---------------------------------------------------------


class MessagePayload(Payload, frozen=True):
    layer = "message"


class UserMessage(MessagePayload, frozen=True):
    type = "user_message"
    message: Message


class AssistantMessage(MessagePayload, frozen=True):
    type = "assistant_message"
    message: Message


class ToolUseMessage(MessagePayload, frozen=True):
    """A call and its result as one action. It is said when the call is known; `tool_result` fills the result in."""

    type = "tool_use_message"
    call: ToolCall
    result: ToolResult | None = None


class ErrorMessage(MessagePayload, frozen=True):
    type = "error_message"
    error: ErrorInfo


# --- exchange: one request and all that it took ---------------------------------------------------------------


class ExchangePayload(Payload, frozen=True):
    layer = "exchange"


class ExchangeRequest(ExchangePayload, frozen=True):
    type = "exchange_request"
    message: Message
    model: str = ""
    client_request_id: str | None = None
    cause: str | None = None
    """The call of another session that asked for this, if this agent works for another."""


class ExchangeResponse(ExchangePayload, frozen=True):
    """The one signal that work is over, for every outcome."""

    type = "exchange_response"
    status: ExchangeStatus
    stop_reason: StopReason
    duration_ms: float
    turns: int
    usage: Usage
    cost_usd: float | None
    """Of this exchange, its tools, and all that it delegated. None if something was used whose price is not known."""
    error: ErrorInfo | None = None
    limit: str | None = None
    """Which budget ended it: `turns`, `tokens`, `usd` or `seconds`."""
    note: str | None = None
    """What is unusual about the outcome, in a sentence."""
    delegated: Usage | None = None
    """What agents used that worked for this one."""


class Unknown(Payload, frozen=True):
    """An event of a type this version does not know, kept as it came."""

    type = "unknown"
    layer = "stream"
    data: Any
