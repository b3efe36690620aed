"""Runs the turns of one exchange: prepares each request, streams the answer, and falls back to the next model."""

from collections.abc import Callable

import msgspec

from heald.agent.budget import Budget
from heald.agent.conversation import Conversation
from heald.agent.cost_meter import CostMeter
from heald.agent.previews import FilePreviews
from heald.agent.strategy import StrategyList
from heald.agent.tracker import ExchangeTracker
from heald.agent.turn_listener import AnswerTooLong, TurnListener
from heald.core.context_events import ConversationCompacted, RequestWithdrawn
from heald.core.errors import ConfigurationError, ContextOverflow, HealdError, ProviderError
from heald.core.events import RetryScheduled
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.core.turn import Usage
from heald.providers.base import ProviderTurn
from heald.providers.tool_host import LimitReached

_MAX_REFUSED = 3
"""How often a request that is refused as too long is shortened."""
_BUDGET_MARGIN = 1.1
"""How far a running answer may exceed a budget, by estimate, before it is cut."""
_MIN_ANSWER = 64
"""Tokens that every answer may have: a budget that is used up by then ends the exchange after it."""


class TurnRunner:
    """Runs the turns of one exchange, each on the current model or on a fallback."""

    def __init__(
        self,
        conversation: Conversation,
        strategies: StrategyList,
        previews: FilePreviews,
        tracker: ExchangeTracker,
        budget: Budget,
        *,
        output_schema: JsonObject | None,
        stop: Callable[[], BaseException | None],
    ) -> None:
        """`stop` returns the exception that forbids a further request, if there is one."""
        self.bill = CostMeter(tracker, lambda: conversation.session)
        self.attempts_before = 0
        """Attempts at the next turn by a process that ended."""
        self._conversation = conversation
        self._publish = conversation.bus.publish
        self._strategies = strategies
        self._tracker = tracker
        self._budget = budget
        self._output_schema = output_schema
        self._stop = stop
        self._listener = TurnListener(conversation.bus.publish_all, previews, tracker, self.bill)
        self._listener.may_retry = lambda: stop() is None
        self._removed = 0  # messages that compactions removed during the exchange, less those that replaced them
        self._tool_choice: str | None = None  # of the remaining turns, if it is not that of the settings
        self._answer_limit: tuple[int | None, str] | None = None  # of every answer, if no budget shrinks

    async def begin(self) -> None:
        """Prepare the first turn. Raises ConfigurationError for a budget in dollars without known prices."""
        self.bill.start_loading()
        if self._budget.tokens is None and self._budget.usd is None:
            self._answer_limit = self._find_answer_limit()
        if self._budget.usd is None:
            return
        await self.bill.finish()
        session = self._conversation.session
        if session.cost(Usage(input=1000, output=1000)).usd is None and not getattr(session, "reports_cost", False):
            raise ConfigurationError(
                f"The price of {self._conversation.models.name} is not known, so a budget in dollars cannot be "
                "enforced; limit tokens instead."
            )

    async def run_turn(self) -> ProviderTurn:
        """Run the next turn."""
        listener = self._listener
        listener.attempts_before, self.attempts_before = self.attempts_before, 0
        listener.retry_stopped = False
        self._raise_if_stopped()
        await self._prepare_request()
        if not self._conversation.window.measure_request():
            self._on_compacted(await self._conversation.window.fit())
        self._raise_if_stopped()
        refused = 0
        while True:
            tokens, limit = self._answer_limit or self._find_answer_limit()
            listener.limit_answer(tokens)
            session = self._conversation.session
            try:
                turn = await session.stream_turn(listener)
            except AnswerTooLong:
                raise LimitReached(self._budget.explain(limit, self._tracker), limit) from None
            except ProviderError as error:
                refused += isinstance(error, ContextOverflow)
                await self._recover(error, refused)
                continue
            self._conversation.window.after_request(turn.usage)
            self.bill.add(turn.usage, turn.billed_usd, session=session)
            if self._tool_choice is None and self._conversation.settings.tool_choice != "none":
                self._tool_choice = "auto"  # a required call is required once, or the model could never answer
            return turn

    async def _prepare_request(self) -> None:
        """Let the strategies change the next request, and pass it to the provider session."""
        request = await self._strategies.before_turn()
        session, settings = self._conversation.session, self._conversation.settings
        session.tools = request.tools
        schema = self._output_schema if self._output_schema is not None else settings.output_schema
        choice = self._tool_choice or settings.tool_choice
        if (schema, choice, request.system) != (settings.output_schema, settings.tool_choice, settings.system):
            settings = msgspec.structs.replace(
                settings, output_schema=schema, tool_choice=choice, system=request.system
            )
        if session.settings != settings:
            session.settings = settings

    async def _recover(self, error: ProviderError, refused: int) -> None:
        """Prepare another attempt after a failed one: with a shorter context, or on the next model. Raises the error
        if there is none."""
        listener = self._listener
        if listener.retry_stopped:
            self._raise_if_stopped()
        if not await self._make_room(error, refused) and not await self._conversation.models.switch_to_next(error):
            raise error
        self._raise_if_stopped()
        await self._prepare_request()
        listener.attempts_before = listener.attempt
        self._publish(RetryScheduled(listener.message, listener.attempt + 1, 0.0, error.info()))
        self._raise_if_stopped()
        self._conversation.window.measure_request()

    async def _make_room(self, error: ProviderError, refused: int) -> bool:
        """Shorten a conversation that is too long. Returns whether another attempt may help."""
        if not isinstance(error, ContextOverflow) or refused > _MAX_REFUSED:
            return False
        return self._on_compacted(await self._conversation.window.shrink(error))

    def _on_compacted(self, compaction: ConversationCompacted | None) -> bool:
        if compaction is None:
            return False
        self._removed += compaction.removed - (compaction.message is not None)
        self._publish(compaction)
        self._tracker.feed(compaction)
        return True

    def _find_answer_limit(self) -> tuple[int | None, str]:
        """Return the estimated tokens after which the next answer is cut, and the name of the limit.

        Estimates are coarse: the margin for `max_output_tokens`, which most servers enforce themselves, is wide.
        """
        conversation, budget = self._conversation, self._budget
        limits: list[tuple[int, str]] = []
        if budget.message_tokens is not None:
            limits.append((budget.message_tokens, "message_tokens"))
        if conversation.settings.max_output_tokens is not None:
            limits.append((2 * conversation.settings.max_output_tokens + 256, "max_output_tokens"))
        if budget.tokens is not None:
            left = budget.tokens * _BUDGET_MARGIN - self._tracker.tokens - conversation.window.tokens()
            limits.append((max(round(left), _MIN_ANSWER), "tokens"))
        price = conversation.session.cost(Usage(output=1000)).usd if budget.usd is not None else None
        if budget.usd is not None and price:
            left = budget.usd * _BUDGET_MARGIN - (self._tracker.cost or 0.0)
            limits.append((max(round(left / price * 1000), _MIN_ANSWER), "usd"))
        return min(limits, default=(None, ""))

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice of the remaining turns of the exchange."""
        self._tool_choice = choice

    def abandon(self) -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        return self._listener.abandon()

    def exchange_messages(self, first: int) -> list[Message]:
        """Return the messages of the exchange, if the context had `first` messages when it began."""
        return self._conversation.messages[max(first - self._removed, 0) :]

    def withdraw(self, error: HealdError, first: int) -> HealdError:
        """Remove a request that no model can be sent, so that the conversation stays usable.

        Returns the error of the exchange. A request that the model has begun to answer stays.
        """
        messages = self.exchange_messages(first)
        if not isinstance(error, ContextOverflow) or not messages:
            return error
        if any(message.role == "assistant" for message in messages):
            return error
        window = self._conversation.window
        reason = _describe_too_long(window.tokens(messages), window.known_size)
        del self._conversation.session.messages[-len(messages) :]
        self._publish(RequestWithdrawn(reason, len(messages)))
        from copy import copy

        withdrawn = copy(error)
        withdrawn.args = (f"{error} {reason}",)
        return withdrawn

    def _raise_if_stopped(self) -> None:
        error = self._stop()
        if error is not None:
            raise error


def _describe_too_long(tokens: int, size: int | None) -> str:
    room = f" of a context of {size:,}" if size is not None else ""
    return (
        f"The message needs about {tokens:,} tokens{room}, so it was removed from the conversation. Send a shorter "
        "one, name files instead of pasting them, or choose a model with a larger context."
    )
