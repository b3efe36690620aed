"""Turns of one exchange: streams each answer, publishes its events, and falls back to the next model."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from weft.agent.previews import FilePreviews
from weft.agent.reminders import ANNOUNCED, UNCHANGED, UNREAD_CALL, announces_step
from weft.agent.tracker import CostMeter, ExchangeTracker
from weft.core.context_events import ConversationCompacted, RequestWithdrawn
from weft.core.errors import ConfigurationError, ContextOverflow, ErrorInfo, ProviderError, WeftError
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
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.core.messages import Message, ToolCall, ToolResult, user_message
from weft.core.payload import Payload
from weft.core.turn import Usage
from weft.providers.base import LimitReached, ProviderTurn
from weft.tools.results import NO_CHANGE
from weft.tools.type_schema import TypeSchema
from weft.tools.workspace.base import PathFault
from weft.wires.writer import FILE_FORMS

if TYPE_CHECKING:
    from weft.agent.engine import AgentEngine

_MAX_REFUSED = 3
"""How often a request that is refused as too long is shortened."""
_TOKEN_BYTES = 4
"""Bytes of UTF-8 to a token, about."""
_BUDGET_MARGIN = 1.1
"""How far a running answer may exceed a budget, by estimate, before it is cut."""
_MIN_ANSWER = 64
"""Tokens that every answer may have: a budget that is used up by then ends the exchange after it."""
_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


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
    ) -> None:
        self.message = ""
        """The id of the last message."""
        self.attempt = 0
        """The attempt at the turn that made it."""
        self.attempts_before = 0
        """Attempts at the same turn by models that failed."""
        self.may_retry: Callable[[], bool] = lambda: True
        """Whether a failed attempt may be repeated."""
        self.retry_stopped = False
        """`may_retry` has refused a retry."""
        self._publish = publish
        self._previews = previews
        self._tracker = tracker
        self._bill = bill
        self._is_open = False  # a message
        self._texts: list[str] = []  # of the open message, without a refusal
        self._refusals: set[int] = set()  # the indexes of its blocks that are one
        self._length = 0  # of the open message, of any kind, in bytes of UTF-8
        self._max_length = sys.maxsize
        self._effects: dict[type[Payload], Callable[[Any, list[Payload]], None]] = {
            MessageStart: self._on_start,
            TextContentBlockStart: self._on_text,
            ToolUseContentBlockStart: self._on_call,
            ToolUseContentBlockStop: self._on_call_stop,
            MessageDelta: self._on_message_delta,
            MessageStop: self._on_stop,
            MessageDiscarded: self._on_discarded,
        }

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
                    effects[kind](payload, published)
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
                    raise AnswerTooLong
        finally:
            self._publish(published)

    def limit_answer(self, tokens: int | None) -> None:
        """Raise `AnswerTooLong` once an answer has about this many tokens."""
        self._max_length = sys.maxsize if tokens is None else tokens * _TOKEN_BYTES

    def abandon(self) -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        if not self._is_open:
            return ""
        text = "".join(self._texts)
        usage = Usage(output=-(-self._length // _TOKEN_BYTES))
        self(MessageDiscarded(self.message, _STOPPED, usage, estimated=True))
        return text

    # --- effects of a payload, which is the last one of `published` ---------------------------------------------------

    def _on_start(self, payload: MessageStart, published: list[Payload]) -> None:
        if self.attempts_before:
            payload = msgspec.structs.replace(payload, attempt=payload.attempt + self.attempts_before)
            published[-1] = payload
        self.attempt = payload.attempt
        self.message = payload.message
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
        self._tracker.stop_reason = payload.stop_reason

    def _on_stop(self, payload: MessageStop, published: list[Payload]) -> None:
        self._is_open, self._texts = False, []  # the provider session has the whole message
        self._tracker.turns += 1

    def _on_retry(self, payload: RetryScheduled) -> object:
        if not self.may_retry():
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


class TurnRunner:
    """Runs the turns of one exchange, each on the current model or on a fallback."""

    def __init__(
        self,
        engine: "AgentEngine",
        previews: FilePreviews,
        tracker: ExchangeTracker,
        shape: TypeSchema | None,
        stop: Callable[[], BaseException | None],
    ) -> None:
        """`stop` returns the exception that forbids a further request, if there is one."""
        self.bill = CostMeter(tracker, lambda: engine.session)
        self._engine = engine
        self._shape = shape
        self._listener = TurnListener(engine.bus.publish_all, previews, tracker, self.bill)
        self._listener.may_retry = lambda: stop() is None
        self._stop = stop
        self.attempts_before = 0
        """Attempts at the next turn by a process that ended."""
        self._tracker = tracker
        self._reminded = False
        self._removed = 0  # messages that compactions removed during the exchange, less those that replaced them
        self._tool_choice: str | None = None  # that of the settings
        self._answer_limit: tuple[int | None, str] | None = None  # of every answer, if no budget shrinks

    async def begin(self) -> None:
        """Prepare the first turn. Raises ConfigurationError for a budget in dollars without known prices."""
        self.bill.start_loading()
        budget = self._engine.budget
        if budget.tokens is None and budget.usd is None:
            self._answer_limit = self._allowed_answer()
        if budget.usd is None:
            return
        await self.bill.finish()
        session = self._engine.session
        if session.cost(Usage(input=1000, output=1000)).usd is None and not getattr(session, "reports_cost", False):
            raise ConfigurationError(
                f"There is no price for {self._engine.models.name}, so a budget in dollars cannot be kept; "
                "limit tokens instead."
            )

    async def run_turn(self) -> ProviderTurn:
        """Run the next turn."""
        engine, listener, stop = self._engine, self._listener, self._stop
        listener.attempts_before, self.attempts_before = self.attempts_before, 0
        listener.retry_stopped = False
        if (stopped := stop()) is not None:
            raise stopped
        if not self._is_prepared():
            await self._prepare_request()
            _raise_if(stop())
        refused = 0
        while True:
            allowed, limit = self._answer_limit or self._allowed_answer()
            listener.limit_answer(allowed)
            try:
                session = engine.session
                turn = await session.stream_turn(listener)
            except AnswerTooLong:
                raise LimitReached(engine.budget.explain(limit, self._tracker), limit) from None
            except ProviderError as error:
                if listener.retry_stopped:
                    _raise_if(stop())
                refused += isinstance(error, ContextOverflow)
                if not await self._make_room(error, refused) and not await engine.models.switch_to_next(error):
                    raise
                _raise_if(stop())
                await engine.find_edit_format()
                self._prepare()
                await engine.attach_files()
                listener.attempts_before = listener.attempt
                engine.bus.publish(RetryScheduled(listener.message, listener.attempt + 1, 0.0, error.info()))
                _raise_if(stop())
                engine.context.measure_request()
                continue
            engine.context.after_request(turn.usage)
            self.bill.add(turn.usage, turn.billed_usd, session=session)
            if engine.settings.tool_choice != "none" and self._tool_choice is None:
                self.choose_tools("auto")  # a required call is required once, or the model could never answer
            return turn

    def _is_prepared(self) -> bool:
        """Offer the current tools. Returns whether nothing else is to be done before the next request."""
        engine = self._engine
        if engine.runtime.registry.refresh():
            engine.update_tools()
        return engine.overview is None and not engine.can_write_text and engine.context.measure_request()

    async def _prepare_request(self) -> None:
        """Show the current files, and let the next request fit the context of the model."""
        engine = self._engine
        can_write_text = engine.can_write_text
        if can_write_text and await engine.find_edit_format():
            self._prepare()
        await engine.add_overview()
        if can_write_text:
            await engine.attach_files()
        if not engine.context.measure_request():
            self._on_compacted(await engine.context.fit())

    def _prepare(self) -> None:
        self._engine.prepare(self._shape)
        if self._tool_choice is not None:
            self._engine.choose_tools(self._tool_choice)

    def _allowed_answer(self) -> tuple[int | None, str]:
        """The estimated tokens after which the next answer is cut, and the limit that says so.

        Estimates are coarse: the margin for `max_output_tokens`, which most servers keep by themselves, is wide.
        """
        engine, budget = self._engine, self._engine.budget
        found: list[tuple[int, str]] = []
        if budget.message_tokens is not None:
            found.append((budget.message_tokens, "message_tokens"))
        if engine.settings.max_output_tokens is not None:
            found.append((2 * engine.settings.max_output_tokens + 256, "max_output_tokens"))
        if budget.tokens is not None:
            left = budget.tokens * _BUDGET_MARGIN - self._tracker.tokens - engine.context.tokens()
            found.append((max(round(left), _MIN_ANSWER), "tokens"))
        price = engine.session.cost(Usage(output=1000)).usd if budget.usd is not None else None
        if budget.usd is not None and price:
            left = budget.usd * _BUDGET_MARGIN - (self._tracker.cost or 0.0)
            found.append((max(round(left / price * 1000), _MIN_ANSWER), "usd"))
        return min(found, default=(None, ""))

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice of the remaining turns of the exchange."""
        self._tool_choice = choice
        self._engine.choose_tools(choice)

    def abandon(self) -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        return self._listener.abandon()

    def remind(self, turn: ProviderTurn, add: Callable[[Message], None]) -> bool:
        """Remind a model that wrote about a call instead of making it, or a file without a change, once in an exchange.
        Returns whether it did."""
        if self._reminded or self._shape is not None:
            return False
        if self._tracker.turns >= self._engine.budget.turns or self._tool_choice == "none":
            return False
        reminder = self._find_reminder(turn)
        if reminder is not None:
            self._reminded = True
            add(user_message(reminder))
        return reminder is not None

    def _find_reminder(self, turn: ProviderTurn) -> str | None:
        session = self._engine.session
        if turn.tool_calls:
            return self._judge_written_files(turn)
        if not session.tools or not getattr(session, "may_write_calls", False):
            return None
        return UNREAD_CALL if turn.unread_call else ANNOUNCED if announces_step(turn.text) else None

    def _judge_written_files(self, turn: ProviderTurn) -> str | None:
        """Find what a model must be told about files that it wrote as text: no change, or a fault."""
        engine = self._engine
        files = getattr(engine.session, "text_files", None)
        if files is None or any(call.form not in FILE_FORMS for call in turn.tool_calls):
            return None
        results = [block for block in engine.messages[-1].content if isinstance(block, ToolResult)]
        if all(result.summary == NO_CHANGE for result in results):
            return UNCHANGED
        paths = [path for call in turn.tool_calls if isinstance(path := call.input.get("path"), str)]
        after: dict[str, str] = {}
        for path in paths:
            with suppress(PathFault):
                after[path] = engine.runtime.workspace.read_text(path, remember=False)
        request = next((message.text for message in reversed(engine.messages) if message.role == "user"), "")
        from weft.agent.written_files import find_fault

        return find_fault(files.texts, after, request)

    def needs_answer(self, calls: Sequence[ToolCall]) -> bool:
        """Whether the model must see the results of its calls: of files written as text only if one failed."""
        for call in calls:
            if call.form not in FILE_FORMS:
                return True
        if not calls:
            return False
        last = self._engine.messages[-1]
        return any(isinstance(block, ToolResult) and block.status != "ok" for block in last.content)

    def own_messages(self, first: int) -> list[Message]:
        """The messages of the exchange, if the context had `first` messages when it began."""
        return self._engine.messages[max(first - self._removed, 0) :]

    def withdraw(self, error: WeftError, first: int) -> WeftError:
        """Remove a request that no model can be sent, so that it does not spoil the conversation.

        Returns the error of the exchange. A request that the model has begun to answer stays.
        """
        engine = self._engine
        own = self.own_messages(first)
        if not isinstance(error, ContextOverflow) or not own or any(message.role == "assistant" for message in own):
            return error
        reason = _describe_too_long(engine.context.tokens(own), engine.context.known_size)
        del engine.session.messages[-len(own) :]
        engine.bus.publish(RequestWithdrawn(reason, len(own)))
        from copy import copy

        withdrawn = copy(error)
        withdrawn.args = (f"{error} {reason}",)
        return withdrawn

    async def _make_room(self, error: ProviderError, refused: int) -> bool:
        """Shorten a conversation that is too long. Returns whether another attempt may help."""
        if not isinstance(error, ContextOverflow) or refused > _MAX_REFUSED:
            return False
        return self._on_compacted(await self._engine.context.shrink(error))

    def _on_compacted(self, compaction: ConversationCompacted | None) -> bool:
        if compaction is None:
            return False
        self._removed += compaction.removed - (compaction.message is not None)
        self._engine.bus.publish(compaction)
        self._tracker.feed(compaction)
        return True


def _describe_too_long(tokens: int, size: int | None) -> str:
    room = f" of a context of {size:,}" if size is not None else ""
    return (
        f"The message needs about {tokens:,} tokens{room}, so it was removed from the conversation, which goes on "
        "without it. Send a shorter one, name files instead of pasting them, or choose a model with a larger context."
    )


def _raise_if(error: BaseException | None) -> None:
    if error is not None:
        raise error
