"""Runs the turns of one exchange: prepares each request, streams the answer, and falls back to the next model."""

from collections.abc import Callable

import msgspec

from heald.agent.account import Account
from heald.agent.conversation import Conversation
from heald.agent.cost_meter import CostMeter
from heald.agent.previews import FilePreviews
from heald.agent.request_allowance import RequestAllowance
from heald.agent.strategy import StrategyList
from heald.agent.turn_listener import AnswerTooLong, TurnListener
from heald.core.context_events import ConversationCompacted, RequestWithdrawn
from heald.core.errors import ConfigurationError, ContextOverflow, ErrorCode, HealdError, ProviderError
from heald.core.events import RetryScheduled
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.core.turn import Usage
from heald.providers.base import ProviderTurn
from heald.wires.service_tier import read_tier

_MAX_REFUSED = 3
"""How often a request that is refused as too long is shortened."""
_REMOVED = "The message was removed from the conversation."


class TurnRunner:
    """Runs the turns of one exchange, each on the current model or on a fallback."""

    def __init__(
        self,
        conversation: Conversation,
        strategies: StrategyList,
        previews: FilePreviews,
        account: Account,
        *,
        output_schema: JsonObject | None,
        stop: Callable[[], BaseException | None],
    ) -> None:
        """`stop` returns the exception that forbids a further request, if there is one."""
        self.bill = CostMeter(account.tracker, conversation)
        self.attempts_before = 0
        """Attempts at the next turn by a process that ended."""
        self._conversation = conversation
        self._publish = conversation.bus.publish
        self._strategies = strategies
        self._account = account
        self._allowance = RequestAllowance(conversation, account)
        self._output_schema = output_schema
        self._stop = stop
        self._listener = TurnListener(
            conversation.bus.publish_all, previews, account.tracker, self.bill, self._allowance, stop
        )
        self._removed = 0  # messages that compactions removed during the exchange, less those that replaced them
        self._tool_choice: str | None = None  # of the remaining turns, if it is not that of the settings

    async def begin(self) -> None:
        """Prepare the first turn. Raises ConfigurationError for a budget in dollars without known prices."""
        self.bill.start_loading()
        if not self._account.has_usd:
            return
        await self.bill.finish()
        self._listener.price = self.bill.price
        session = self._conversation.session
        tier = read_tier(self._conversation.settings.service_tier)
        sample = Usage(input=1000, output=1000, tier=tier)
        if session.cost(sample).usd is None and not getattr(session, "reports_cost", False):
            place = "" if tier is None else f" in the service tier {tier!r}"
            raise ConfigurationError(
                f"The price of {self._conversation.models.name}{place} is not known, so a budget in dollars cannot be "
                "enforced; limit tokens instead."
            )

    async def run_turn(self) -> ProviderTurn:
        """Run the next turn."""
        listener, allowance = self._listener, self._allowance
        listener.attempts_before, self.attempts_before = self.attempts_before, 0
        listener.retry_stopped = False
        self._raise_if_stopped()
        await self._prepare_request()
        if not self._conversation.window.measure_request():
            self._on_compacted(await self._conversation.window.fit())
        refused = 0
        while True:
            try:
                if not allowance.reserve_now():
                    await allowance.reserve()
                listener.limit_answer(allowance.limit)
                self._raise_if_stopped()
                session = self._conversation.session
                turn = await self._strategies.stream_turn(session.stream_turn, listener)
                self._conversation.window.after_request(turn.usage)
                self.bill.add(turn.usage, turn.cost_usd, session=session)
            except AnswerTooLong:
                raise allowance.explain_cut() from None
            except ProviderError as error:
                refused += isinstance(error, ContextOverflow)
                allowance.release()
                await self._recover(error, refused)
                continue
            finally:
                allowance.release()
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
        if listener.retry_stopped:  # by a limit, or it waits for room in the account
            self._raise_if_stopped()
            listener.retry_stopped = False
        elif not await self._make_room(error, refused) and not await self._conversation.models.switch_to_next(error):
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
        self._account.add_compaction(compaction)
        return True

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice of the remaining turns of the exchange."""
        self._tool_choice = choice

    def abandon(self, code: ErrorCode = "cancelled") -> str:
        """Close a message that will not be finished. Returns the text of it that was published."""
        return self._listener.abandon(code)

    def exchange_messages(self, first: int) -> list[Message]:
        """Return the messages of the exchange, if the context had `first` messages when it began."""
        return self._conversation.messages[max(first - self._removed, 0) :]

    def withdraw(self, error: HealdError, first: int) -> HealdError:
        """Remove a request that no model can be sent, so that the conversation stays usable.

        Returns the error of the exchange. A request that the model has begun to answer stays.
        """
        messages = self.exchange_messages(first)
        if not error.withdraws_request or not messages or any(message.role == "assistant" for message in messages):
            return error
        window = self._conversation.window
        reason = _REMOVED
        if isinstance(error, ContextOverflow):
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
