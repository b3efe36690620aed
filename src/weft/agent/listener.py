"""Hears one model message after the other: publishes each payload as it arrives, and follows what it means."""

from collections.abc import Callable
from typing import Any

import msgspec

from weft.agent.assembler import MessageAssembler
from weft.agent.bill import Bill
from weft.agent.previews import Previews
from weft.agent.tracker import ExchangeTracker
from weft.core.errors import ErrorInfo
from weft.core.events import (
    ConversationResponding,
    ConversationThinking,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    RetryScheduled,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.core.payload import Payload
from weft.core.usage import Usage

_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


class Listener:
    """What a provider session calls with each payload of an exchange."""

    def __init__(
        self,
        publish: Callable[[Payload], None],
        previews: Previews,
        tracker: ExchangeTracker,
        bill: Bill,
    ) -> None:
        self.message = ""
        """The message that came last."""
        self.attempt = 0
        """Which try at the turn it was."""
        self.attempts_before = 0
        """Tries at the same turn by models that gave up."""
        self.before_retry: Callable[[], None] | None = None
        """Raises where there shall be no other try."""
        self._publish = publish
        self._previews = previews
        self._tracker = tracker
        self._bill = bill
        self._assembler = assembler = MessageAssembler()
        self._followers: dict[type[Payload], Callable[[Any], object]] = {
            TextDelta: assembler.feed,
            ThinkingDelta: assembler.feed,
            InputJsonDelta: self._on_arguments,
            MessageStart: self._on_start,
            TextContentBlockStart: self._on_text,
            ThinkingContentBlockStart: assembler.feed,
            ToolUseContentBlockStart: self._on_call,
            MessageDelta: tracker.feed,
            MessageStop: self._on_stop,
            MessageDiscarded: self._on_discarded,
        }

    def hear(self, payload: Payload) -> None:
        kind = type(payload)
        if kind is ToolUseContentBlockStop:
            self._previews.end(payload.block)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        elif kind is RetryScheduled and self.before_retry is not None:
            self.before_retry()
        if self.attempts_before and isinstance(payload, MessageStart | RetryScheduled):
            payload = msgspec.structs.replace(payload, attempt=payload.attempt + self.attempts_before)
        self._publish(payload)
        follow = self._followers.get(kind)
        if follow is not None:
            follow(payload)

    def abandon(self) -> str:
        """Close a message that will not be finished. Gives back what the user saw of its text."""
        assembler = self._assembler
        if not assembler.message:
            return ""
        said = assembler.said
        usage = Usage(output=-(-assembler.length // 4))
        self.hear(MessageDiscarded(assembler.message, _STOPPED, usage, estimated=True))
        return said

    def _on_start(self, payload: MessageStart) -> None:
        self._assembler.feed(payload)
        self.attempt = payload.attempt
        self.message = payload.message
        self._publish(ConversationThinking())

    def _on_text(self, payload: TextContentBlockStart) -> None:
        self._assembler.feed(payload)
        self._publish(ConversationResponding())

    def _on_call(self, payload: ToolUseContentBlockStart) -> None:
        self._assembler.feed(payload)
        self._previews.begin(payload)

    def _on_arguments(self, payload: InputJsonDelta) -> None:
        self._assembler.feed(payload)
        self._previews.feed(payload)

    def _on_stop(self, payload: MessageStop) -> None:
        self._assembler.forget()  # the provider session has the whole of it
        self._tracker.feed(payload)

    def _on_discarded(self, payload: MessageDiscarded) -> None:
        self._assembler.forget()
        self._tracker.feed(payload)
        self._previews.discard()
        if payload.usage.total is not None:
            self._bill.add(payload.usage)
