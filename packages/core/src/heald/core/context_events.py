"""Events of the context: the part of a conversation that the next request to a model holds.

The log keeps every message. These events change only what is sent: a compaction shortens it, and can be undone. A
server may report how much of it the model has read.
"""

from typing import Literal

from heald.core.events import StatePayload
from heald.core.messages import Message
from heald.core.turn import Usage

CompactionReason = Literal["window", "refused", "requested"]
"""The context would not fit, the endpoint refused it as too long, or a person asked."""


class ContextPayload(StatePayload, frozen=True):
    """Changes the context."""


class ConversationCompacted(ContextPayload, frozen=True):
    """The context was shortened. The messages stay in the log."""

    type = "conversation_compacted"
    reason: CompactionReason
    shortened: int = 0
    """Results, pictures and files in this many messages at the start were shortened."""
    kept: int = 300
    """The number of characters that stay of each shortened result."""
    removed: int = 0
    """After that, this many messages at the start were removed."""
    message: Message | None = None
    """The message that replaces the removed ones."""
    written_by: Literal["model", "provider", "rule"] | None = None
    """Who wrote that message: the model, as a summary, the provider, in an encrypted form, or Heald, because no summary
    was to be had."""
    tokens_before: int = 0
    """The estimated tokens of a request before the compaction."""
    tokens_after: int = 0
    usage: Usage = Usage()
    """The tokens that the summary cost. They count for the exchange."""
    cost_usd: float | None = 0.0
    """The cost of the summary. None if a price is unknown."""


class ConversationRestored(ContextPayload, frozen=True):
    """The compaction at `seq`, the last one, was undone."""

    type = "conversation_restored"
    seq: int


class RequestWithdrawn(ContextPayload, frozen=True):
    """The request of this exchange is not part of the context any more, because no model could be sent it."""

    type = "request_withdrawn"
    reason: str
    messages: int
    """The number of messages at the end of the context that were removed."""


class PromptProgress(StatePayload, frozen=True):
    """The model has read a part of the request, and has written nothing yet. llama.cpp's server reports it."""

    type = "prompt_progress"
    message_id: str
    processed: int
    """The tokens that were read, those of its cache included."""
    total: int
    """The tokens of the request."""

    @property
    def percent(self) -> int:
        return min(100 * self.processed // self.total, 100) if self.total > 0 else 0
