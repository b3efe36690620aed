"""Publishes the events of one answer while it streams."""

import sys
from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from heald.agent.cost_meter import CostMeter
from heald.agent.previews import FilePreviews
from heald.agent.request_allowance import RequestAllowance
from heald.agent.tracker import ExchangeTracker
from heald.core.errors import ErrorCode, ErrorInfo
from heald.core.events import (
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
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.payload import Payload
from heald.core.turn import Usage

_TOKEN_BYTES = 4
"""Bytes of UTF-8 to a token, about."""
_STOPPED = "The message was stopped before it was finished."


class AnswerTooLong(Exception):
    """The open message is longer than it may be."""


class TurnListener:
    """Publishes the payloads of a provider session and tracks their effects."""

    def __init__(
        self,
        publish: Callable[[Sequence[Payload]], object],
        previews: FilePreviews,
        tracker: ExchangeTracker,
        bill: CostMeter,
        allowance: RequestAllowance,
        stop: Callable[[], BaseException | None],
    ) -> None:
        self.message = ""
        """The id of the last message."""
        self.attempt = 0
        """The attempt at the turn that made it."""
        self.attempts_before = 0
        """Attempts at the same turn by models that failed."""
        self.retry_stopped = False
        """A retry was refused."""
        self.price: Callable[[Usage], float | None] | None = None
        """Returns the cost of a message, if dollars are limited: the log then holds it."""
        self._publish = publish
        self._previews = previews
        self._tracker = tracker
        self._bill = bill
        self._allowance = allowance
        self._stop = stop
        self._is_open = False  # a message
        self._texts: list[str] = []  # of the open message, without a refusal
        self._refusals: set[int] = set()  # the indexes of its blocks that are one
        self._length = 0  # of the open message, of any kind, in bytes of UTF-8
        self._max_length = sys.maxsize

    def __call__(self, payload: Payload) -> object:
        """Publish a payload. Returns False, and publishes nothing, for a retry that may not happen."""
        if type(payload) is RetryScheduled:
            return self._on_retry(payload)
        self.on_payloads((payload,))
        return None

    def on_payloads(self, payloads: Sequence[Payload]) -> None:
        """Publish payloads that arrived together. What follows from one is published right after it."""
        published: list[Payload] = []
        publish, effects = published.append, self._effects
        try:
            for payload in payloads:
                publish(payload)
                kind = type(payload)
                if kind in effects:
                    effects[kind](self, payload, published)
                    continue
                if type(payload) is InputJsonDelta:
                    text = payload.partial_json
                    if self._previews.following:
                        self._previews.feed(payload)
                elif type(payload) is TextDelta:
                    text = payload.text
                    if payload.index not in self._refusals:
                        self._texts.append(text)
                elif type(payload) is ThinkingDelta:
                    text = payload.text
                else:
                    continue
                self._length += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
                if self._length > self._max_length:
                    self._extend_or_stop()
        finally:
            self._publish(published)

    def limit_answer(self, tokens: int | None) -> None:
        """Raise `AnswerTooLong` once an answer has about this many tokens."""
        self._max_length = sys.maxsize if tokens is None else tokens * _TOKEN_BYTES

    def _extend_or_stop(self) -> None:
        limit = self._allowance.extend(self._length // _TOKEN_BYTES)
        if limit is None:
            raise AnswerTooLong
        self.limit_answer(limit)

    def abandon(self, code: ErrorCode = "cancelled") -> str:
        """Close a message that will not be finished. Returns the text of it that was published, which stays in the
        conversation if the code is `cancelled`."""
        if not self._is_open:
            return ""
        text = "".join(self._texts)
        usage = Usage(output=-(-self._length // _TOKEN_BYTES))
        self(MessageDiscarded(self.message, ErrorInfo(code=code, message=_STOPPED), usage, estimated=True))
        return text

    # --- effects of a payload, which is the last one of `published` ---------------------------------------------------

    def _on_start(self, payload: MessageStart, published: list[Payload]) -> None:
        if self.attempts_before:
            payload = msgspec.structs.replace(payload, attempt=payload.attempt + self.attempts_before)
            published[-1] = payload
        self.attempt = payload.attempt
        self.message = payload.message_id
        self._is_open, self._texts, self._refusals, self._length = True, [], set(), 0
        published.append(ConversationThinking())

    def _on_text(self, payload: TextContentBlockStart, published: list[Payload]) -> None:
        if payload.refusal:
            self._refusals.add(payload.index)
        published.append(ConversationResponding())

    def _on_call(self, payload: ToolUseContentBlockStart, published: list[Payload]) -> None:
        self._previews.start_call(payload)

    def _on_call_stop(self, payload: ToolUseContentBlockStop, published: list[Payload]) -> None:
        """Publish the rest of a preview before the end of its call."""
        if not self._previews.following:
            return
        published.pop()
        self._publish(published)
        self._previews.end_arguments(payload.block)
        published[:] = [payload]

    def _on_message_delta(self, payload: MessageDelta, published: list[Payload]) -> None:
        self._tracker.usage += payload.usage
        self._tracker.stop(payload)
        if self.price is not None and payload.cost_usd is None:
            published[-1] = msgspec.structs.replace(payload, cost_usd=self.price(payload.usage))

    def _on_stop(self, payload: MessageStop, published: list[Payload]) -> None:
        self._is_open, self._texts = False, []  # the provider session has the whole message
        self._tracker.turns += 1

    def _on_retry(self, payload: RetryScheduled) -> object:
        if self._stop() is not None or not self._allowance.fits():
            self.retry_stopped = True
            return False
        if self.attempts_before:
            payload = msgspec.structs.replace(payload, attempt=payload.attempt + self.attempts_before)
        return self._publish((payload,))

    def _on_discarded(self, payload: MessageDiscarded, published: list[Payload]) -> None:
        self._publish(published)
        published.clear()
        self._is_open, self._texts = False, []
        self._tracker.feed(payload)
        self._previews.discard()
        if payload.usage.total is not None:
            self._bill.add(payload.usage)

    _effects: ClassVar[dict[type[Payload], Callable[..., None]]] = {
        MessageStart: _on_start,
        TextContentBlockStart: _on_text,
        ToolUseContentBlockStart: _on_call,
        ToolUseContentBlockStop: _on_call_stop,
        MessageDelta: _on_message_delta,
        MessageStop: _on_stop,
        MessageDiscarded: _on_discarded,
    }
