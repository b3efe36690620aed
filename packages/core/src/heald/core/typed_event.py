"""Typed events, for type checkers: `event.type == "text_delta"` narrows `event.data`.

Made by scripts/make_event_union.py. At run time every event is an `Event`, and this module is not loaded.
"""

from typing import TYPE_CHECKING, Generic, Literal

from heald.core import client_events, context_events, events, messages, payload, server_tool_events
from heald.core.envelope import EventHead

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    _Name = TypeVar("_Name", bound=str, covariant=True, default=str)
else:
    from typing import TypeVar

    _Name = TypeVar("_Name", bound=str, covariant=True)

_Data = TypeVar("_Data", bound=payload.Payload, covariant=True)


class EventOf(EventHead, Generic[_Data, _Name], frozen=True):
    """An event with data of one type: `EventOf[TextDelta]`, for annotations."""

    type: _Name
    data: _Data


Event = (
    EventOf[messages.ToolCall, Literal["tool_call"]]
    | EventOf[messages.ToolResult, Literal["tool_result"]]
    | EventOf[events.MessageStart, Literal["message_start"]]
    | EventOf[events.TextContentBlockStart, Literal["text_content_block_start"]]
    | EventOf[events.TextDelta, Literal["text_delta"]]
    | EventOf[events.TextContentBlockStop, Literal["text_content_block_stop"]]
    | EventOf[events.ThinkingContentBlockStart, Literal["thinking_content_block_start"]]
    | EventOf[events.ThinkingDelta, Literal["thinking_delta"]]
    | EventOf[events.ThinkingContentBlockStop, Literal["thinking_content_block_stop"]]
    | EventOf[events.ToolUseContentBlockStart, Literal["tool_use_content_block_start"]]
    | EventOf[events.InputJsonDelta, Literal["input_json_delta"]]
    | EventOf[events.ToolUseContentBlockStop, Literal["tool_use_content_block_stop"]]
    | EventOf[events.MessageDelta, Literal["message_delta"]]
    | EventOf[events.MessageStop, Literal["message_stop"]]
    | EventOf[events.MessageDiscarded, Literal["message_discarded"]]
    | EventOf[events.ToolOutputDelta, Literal["tool_output_delta"]]
    | EventOf[events.FilePreview, Literal["file_preview"]]
    | EventOf[events.FilePreviewReset, Literal["file_preview_reset"]]
    | EventOf[server_tool_events.ServerToolCall, Literal["server_tool_call"]]
    | EventOf[server_tool_events.ServerToolResult, Literal["server_tool_result"]]
    | EventOf[server_tool_events.CitationAdded, Literal["citation_added"]]
    | EventOf[events.ConversationQueued, Literal["conversation_queued"]]
    | EventOf[events.ConversationDequeued, Literal["conversation_dequeued"]]
    | EventOf[events.ConversationSteered, Literal["conversation_steered"]]
    | EventOf[events.ConversationStart, Literal["conversation_start"]]
    | EventOf[events.ConversationThinking, Literal["conversation_thinking"]]
    | EventOf[events.ConversationResponding, Literal["conversation_responding"]]
    | EventOf[events.ConversationEnd, Literal["conversation_end"]]
    | EventOf[events.ConversationInterrupted, Literal["conversation_interrupted"]]
    | EventOf[events.ToolPlanned, Literal["tool_planned"]]
    | EventOf[events.ToolExecuting, Literal["tool_executing"]]
    | EventOf[events.ToolCompleted, Literal["tool_completed"]]
    | EventOf[events.ToolFailed, Literal["tool_failed"]]
    | EventOf[events.ApprovalRequested, Literal["approval_requested"]]
    | EventOf[events.ApprovalResolved, Literal["approval_resolved"]]
    | EventOf[events.QuestionAsked, Literal["question_asked"]]
    | EventOf[events.QuestionAnswered, Literal["question_answered"]]
    | EventOf[events.ClientToolRequested, Literal["client_tool_requested"]]
    | EventOf[events.ConversationWaiting, Literal["conversation_waiting"]]
    | EventOf[events.AgentChanged, Literal["agent_changed"]]
    | EventOf[events.FileChanged, Literal["file_changed"]]
    | EventOf[events.FileAccepted, Literal["file_accepted"]]
    | EventOf[events.RetryScheduled, Literal["retry_scheduled"]]
    | EventOf[events.CancelRequested, Literal["cancel_requested"]]
    | EventOf[events.ErrorOccurred, Literal["error_occurred"]]
    | EventOf[events.SessionResumed, Literal["session_resumed"]]
    | EventOf[events.SessionReleased, Literal["session_released"]]
    | EventOf[events.SessionRewound, Literal["session_rewound"]]
    | EventOf[events.SessionForked, Literal["session_forked"]]
    | EventOf[client_events.ResponseRequested, Literal["response_requested"]]
    | EventOf[context_events.ConversationCompacted, Literal["conversation_compacted"]]
    | EventOf[context_events.ConversationRestored, Literal["conversation_restored"]]
    | EventOf[context_events.RequestWithdrawn, Literal["request_withdrawn"]]
    | EventOf[context_events.PromptProgress, Literal["prompt_progress"]]
    | EventOf[events.UserMessage, Literal["user_message"]]
    | EventOf[events.AssistantMessage, Literal["assistant_message"]]
    | EventOf[events.ToolUseMessage, Literal["tool_use_message"]]
    | EventOf[events.ErrorMessage, Literal["error_message"]]
    | EventOf[events.ExchangeRequest, Literal["exchange_request"]]
    | EventOf[events.ExchangeResponse, Literal["exchange_response"]]
    | EventOf[events.Unknown, Literal["unknown"]]
)
