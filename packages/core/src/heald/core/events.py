"""Events: the facts of a session, in four layers.

Each type is a frozen struct. These are payloads, as wires and tools create them; `core.envelope` adds their position in
a session's log.
"""

from typing import Any, Literal

from heald.core.errors import ErrorInfo
from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolCall, ToolResult, ToolStatus
from heald.core.payload import Payload, StreamPayload
from heald.core.turn import StopReason, Usage

ExchangeStatus = Literal["completed", "cancelled", "failed", "limit"]


# --- stream: increments while a model writes and tools run ---------------------------------------------------
# `tool_call` and `tool_result` are here too: their payloads are `ToolCall` and `ToolResult` of core.tools.


class MessageStart(StreamPayload, frozen=True):
    """A model begins an answer. `attempt` counts the requests for it."""

    type = "message_start"
    message_id: str
    model: str
    attempt: int


class TextContentBlockStart(StreamPayload, frozen=True):
    """A block of text begins."""

    type = "text_content_block_start"
    index: int
    block: str
    refusal: bool = False


class TextDelta(StreamPayload, frozen=True):
    """More text of the answer."""

    type = "text_delta"
    index: int
    block: str
    text: str


class TextContentBlockStop(StreamPayload, frozen=True):
    """A block of text is complete."""

    type = "text_content_block_stop"
    index: int
    block: str


class ThinkingContentBlockStart(StreamPayload, frozen=True):
    """A block of thinking begins."""

    type = "thinking_content_block_start"
    index: int
    block: str


class ThinkingDelta(StreamPayload, frozen=True):
    """More of what the model thinks."""

    type = "thinking_delta"
    index: int
    block: str
    text: str


class ThinkingContentBlockStop(StreamPayload, frozen=True):
    """A block of thinking is complete."""

    type = "thinking_content_block_stop"
    index: int
    block: str


class ToolUseContentBlockStart(StreamPayload, frozen=True):
    """A call begins; its arguments follow. `id` is the call's."""

    type = "tool_use_content_block_start"
    index: int
    block: str
    id: str
    name: str
    form: str | None = None  # of a call that the model wrote as text, such as `hermes`


class InputJsonDelta(StreamPayload, frozen=True):
    """More of the arguments of a call, as JSON text."""

    type = "input_json_delta"
    index: int
    block: str
    partial_json: str


class ToolUseContentBlockStop(StreamPayload, frozen=True):
    """The arguments of a call are complete."""

    type = "tool_use_content_block_stop"
    index: int
    block: str
    id: str


class MessageDelta(StreamPayload, frozen=True):
    """The end of a message, with the provider's own stop reason and usage."""

    type = "message_delta"
    message_id: str
    stop_reason: StopReason
    usage: Usage
    provider_stop_reason: str | None = None
    provider_usage: JsonObject | None = None
    cost_usd: float | None = None
    """Its price in US dollars, if the provider reports it or the exchange has a budget in dollars."""
    interrupted: bool = False
    """The provider ended the message for a reason that is not a regular end; `provider_stop_reason` names it."""
    calls_allowed: bool = True
    """False if the tool choice of the request was `none`: calls of the message are not run."""
    notes: list[str] = []
    """Sentences about parts of the answer that the message cannot hold, and about repairs of it."""


class MessageStop(StreamPayload, frozen=True):
    """The answer is complete."""

    type = "message_stop"
    message_id: str


class MessageDiscarded(StreamPayload, frozen=True):
    """A failed attempt: drop everything since its `message_start`. Its usage still counts."""

    type = "message_discarded"
    message_id: str
    error: ErrorInfo
    usage: Usage = Usage()
    estimated: bool = False
    """The provider did not report usage; this is estimated from the length."""


class ToolOutputDelta(StreamPayload, frozen=True):
    """Output of a tool while it runs."""

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
    """The preview of a file is void: its call failed or was withdrawn."""

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
    output_schema: JsonObject | None = None
    """The JSON Schema that the answer must match."""
    budget: JsonObject | None = None
    """The limits that the request set for itself."""


class ConversationDequeued(StatePayload, frozen=True):
    """A queued request was cancelled. Its exchange may still be opened to report it."""

    type = "conversation_dequeued"
    request: str
    reason: str = ""


class ConversationSteered(StatePayload, frozen=True):
    """A message joins the running exchange. The model sees it at its next turn, which `user_message` reports."""

    type = "conversation_steered"
    message: Message
    client_request_id: str | None = None


class ConversationStart(StatePayload, frozen=True):
    """The agent begins to work on a request."""

    type = "conversation_start"


class ConversationThinking(StatePayload, frozen=True):
    """The model thinks."""

    type = "conversation_thinking"


class ConversationResponding(StatePayload, frozen=True):
    """The model writes its answer."""

    type = "conversation_responding"


class ConversationEnd(StatePayload, frozen=True):
    """The agent has given its final answer."""

    type = "conversation_end"


class ConversationInterrupted(StatePayload, frozen=True):
    """The exchange ended before the final answer: it was cancelled, or reached its budget."""

    type = "conversation_interrupted"
    reason: str = ""


class ToolPlanned(StatePayload, frozen=True):
    """A call is complete and will be decided on."""

    type = "tool_planned"
    id: str
    name: str


class ToolExecuting(StatePayload, frozen=True):
    """A call begins to run."""

    type = "tool_executing"
    id: str
    name: str
    attempt: int
    resources: list[str] = []
    summary: str = ""
    idempotent: bool = False
    """The call may be repeated if its writer crashes: with the same id it takes effect once."""


class ToolCompleted(StatePayload, frozen=True):
    """A call succeeded."""

    type = "tool_completed"
    id: str
    name: str
    duration_ms: float
    summary: str = ""
    cost_usd: float | None = 0.0
    """Its cost beside the model. None if a price is unknown."""
    cached: bool = False
    """Whether the result of an earlier equal call was used, because no file that it had read has changed."""


class ToolFailed(StatePayload, frozen=True):
    """A call failed, was denied or was cancelled."""

    type = "tool_failed"
    id: str
    name: str
    status: ToolStatus
    duration_ms: float
    summary: str = ""
    cost_usd: float | None = 0.0
    """Its cost until then."""


class ApprovalRequested(StatePayload, frozen=True):
    """This call needs an approval. `digest` binds the approval to its tool and arguments."""

    type = "approval_requested"
    approval: str
    call_id: str
    name: str
    digest: str
    summary: str
    """All arguments for the person who decides: hidden characters are escaped, long texts are cut in the middle."""
    diff: str = ""  # of the files that the call will change
    input: JsonObject = {}
    """The arguments that the tool gets, whole."""
    reason: str = ""
    """Why it is asked for, if not only because of the mode."""


class ApprovalResolved(StatePayload, frozen=True):
    """A decision on a call: allowed or denied, by a person or by the program."""

    type = "approval_resolved"
    approval: str
    call_id: str
    decision: Literal["allowed", "denied"]
    reason: str = ""
    input: JsonObject | None = None
    """Other arguments that the approver gave the call."""
    always: bool = False
    """The approval also holds for the same call later in the session."""
    by: str = ""
    """Who decided: a user of a server, or the local person at a `terminal` or in an `editor`. Empty if a program
    decided, and in logs from before this field."""


class QuestionAsked(StatePayload, frozen=True):
    """A tool asks the user a question, and waits."""

    type = "question_asked"
    question: str
    call_id: str
    text: str
    suggestions: list[str]


class QuestionAnswered(StatePayload, frozen=True):
    """The answer to a question of a tool."""

    type = "question_answered"
    question: str
    call_id: str
    answer: str


class ClientToolRequested(StatePayload, frozen=True):
    """A call waits for a client to run it and to send its result. `id` is the call's."""

    type = "client_tool_requested"
    id: str
    name: str
    input: JsonObject
    timeout_seconds: float
    """The call ends with status `timeout` if no result has arrived by then."""


class ConversationWaiting(StatePayload, frozen=True):
    """Nothing but calls of clients is open: the exchange goes on when they have their results."""

    type = "conversation_waiting"
    call_ids: list[str]


class AgentChanged(StatePayload, frozen=True):
    """Another agent continues the conversation, from the next turn on: with its instructions, tools and model."""

    type = "agent_changed"
    agent: str
    """The name of the agent that speaks from now on; empty for an agent without a name."""
    previous: str = ""
    model: str = ""
    """The model of that agent."""
    call_id: str = ""
    """The call that handed the conversation over; empty if a person or a program did."""
    reason: str = ""


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
    """At the first revision: the SHA-256 of the earlier content; None if there was none."""


class FileAccepted(StatePayload, frozen=True):
    """A user accepted a file: from here on it is compared with the content of this hash."""

    type = "file_accepted"
    path: str
    hash: str | None


class RetryScheduled(StatePayload, frozen=True):
    """A request to the model failed and is repeated after a delay."""

    type = "retry_scheduled"
    message_id: str
    attempt: int
    delay_s: float
    error: ErrorInfo


class CancelRequested(StatePayload, frozen=True):
    """Somebody asked to end the exchange."""

    type = "cancel_requested"
    reason: str = ""


class ErrorOccurred(StatePayload, frozen=True):
    """The error of a failed exchange."""

    type = "error_occurred"
    error: ErrorInfo


class SessionResumed(StatePayload, frozen=True):
    """A writer continues the session of one that crashed."""

    type = "session_resumed"
    from_seq: int
    requests: list[str] = []
    """Queued requests that are continued, in order."""
    continues: str | None = None
    """The open exchange that this writer continues. None: it is closed."""
    crashed: bool = True
    """The last writer ended without releasing the session. Three crashes end an exchange."""
    node: str = ""
    """The name of the server that continues, if it has one."""


class SessionReleased(StatePayload, frozen=True):
    """The writer stops in an orderly manner and leaves its exchange open, for the next writer to continue."""

    type = "session_released"


class SessionRewound(StatePayload, frozen=True):
    """The conversation continues from an earlier event. Log and files do not change."""

    type = "session_rewound"
    seq: int


ForkedPart = Literal["model", "prompt", "result", "approval"]
"""A part of a session that differs in its fork."""


class SessionForked(StatePayload, frozen=True):
    """The log is that of another session up to `seq`. From here on it may differ: the parts in `changed` do."""

    type = "session_forked"
    parent: str
    seq: int
    """The last event that both logs have."""
    changed: list[ForkedPart] = []
    call_id: str | None = None
    """The call whose result or approval differs."""
    model: str = ""
    """The other model, if its name is known."""
    by: str = ""
    """Who made the fork, as in `approval_resolved`."""


# --- message: whole messages, for storing and showing ---------------------------------------------------------


class MessagePayload(Payload, frozen=True):
    layer = "message"


class UserMessage(MessagePayload, frozen=True):
    """A message of the user, as the model gets it."""

    type = "user_message"
    message: Message


class AssistantMessage(MessagePayload, frozen=True):
    """A whole message of the model."""

    type = "assistant_message"
    message: Message


class ToolUseMessage(MessagePayload, frozen=True):
    """A call and its result as one action. It is published with the call, and a second time with its result."""

    type = "tool_use_message"
    call: ToolCall
    result: ToolResult | None = None


MAX_TOOL_USE_BYTES = 1_000_000
"""The largest `tool_use_message` with a result. A larger pair is not repeated: `tool_result` has the result."""


def tool_use_result(call: ToolCall, result: ToolResult) -> ToolUseMessage | None:
    """The message of a call that has its result, None if it is too large for an event."""
    message = ToolUseMessage(call, result)
    return message if len(encode(message)) <= MAX_TOOL_USE_BYTES else None


class ErrorMessage(MessagePayload, frozen=True):
    """The error of a failed exchange, for showing."""

    type = "error_message"
    error: ErrorInfo


# --- exchange: one request and all that it took ---------------------------------------------------------------


class ExchangePayload(Payload, frozen=True):
    layer = "exchange"


class ExchangeRequest(ExchangePayload, frozen=True):
    """A request, and all that is needed to repeat it. The first event of an exchange."""

    type = "exchange_request"
    message: Message
    model: str = ""
    client_request_id: str | None = None
    cause: str | None = None
    """The call of another session that started this exchange, if this agent is a subagent."""
    output_schema: JsonObject | None = None
    """The JSON Schema that the answer must match."""
    budget: JsonObject | None = None
    """The limits that the request set for itself: `turns`, `tokens`, `usd` and `seconds`."""


class ExchangeResponse(ExchangePayload, frozen=True):
    """The end of an exchange, for every outcome."""

    type = "exchange_response"
    status: ExchangeStatus
    stop_reason: StopReason
    duration_ms: float
    turns: int
    usage: Usage
    cost_usd: float | None
    """The cost of this exchange, its tools and its subagents. None if a price is unknown."""
    error: ErrorInfo | None = None
    limit: str | None = None
    """The budget that ended it: `turns`, `tokens`, `usd` or `seconds`."""
    note: str | None = None
    """A sentence about an unusual outcome."""
    delegated: Usage | None = None
    """The usage of subagents."""


class Unknown(Payload, frozen=True):
    """An event of a type that this version does not know, unchanged."""

    type = "unknown"
    layer = "stream"
    data: Any
