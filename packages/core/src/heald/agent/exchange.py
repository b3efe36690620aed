"""One exchange: a request and everything until its final answer.

It runs in a task of its own, so that cancelling the exchange does not cancel the caller. Every outcome goes through
`_close`: exactly one `exchange_response`, no open message, a result for every call.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

import msgspec

from heald.agent.account import Account
from heald.agent.assembler import message_payloads
from heald.agent.budget import Budget
from heald.agent.conversation import Conversation
from heald.agent.exchange_state import TRANSITIONS, ExchangeState
from heald.agent.message_time import with_time
from heald.agent.previews import FilePreviews
from heald.agent.repeated_calls import RepeatCounter
from heald.agent.request_message import Prompt, as_user_message, check_continues
from heald.agent.result import AgentResult, describe_outcome
from heald.agent.strategy import StrategyList
from heald.agent.tracker import ExchangeTracker
from heald.agent.turns import TurnRunner
from heald.agent.typed_output import TypedOutput
from heald.core.errors import HealdError
from heald.core.events import (
    CancelRequested,
    ConversationDequeued,
    ConversationEnd,
    ConversationInterrupted,
    ConversationStart,
    ConversationSteered,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    ExchangeStatus,
    FileChanged,
    ToolCompleted,
    ToolFailed,
    ToolPlanned,
    ToolUseMessage,
    UserMessage,
)
from heald.core.ids import new_id
from heald.core.lazy import lazy_property
from heald.core.messages import Message, ToolCall, ToolResult, assistant, user_message
from heald.core.payload import Payload
from heald.core.turn import StopReason
from heald.providers.base import ProviderTurn
from heald.providers.tool_host import LimitReached
from heald.tools.call_batch import CallBatch
from heald.tools.type_schema import TypeSchema

_PRICE_SECONDS = 0.3  # how long a cancelled exchange waits for the price list
_TRACKED = frozenset({ToolCompleted, ToolFailed, ToolResult, FileChanged})  # payloads with an effect on the exchange
_S = ExchangeState
_STOPPED = (_S.CANCELLED, _S.TIMED_OUT)


class Exchange:
    """A running request. Await `result()`, end it with `cancel()`, add to it with `steer()`."""

    state = ExchangeState.NEW
    is_delivered = False
    """Its last event was delivered."""
    task: asyncio.Task[None] | None = None
    """The task that runs it."""
    error: HealdError | None = None
    """The error of a failed exchange."""
    _batch: CallBatch | None = None
    _reason = ""  # of a cancellation, or the name of the limit
    _limit_note = ""  # explains the limit
    _announced = False  # the last message ended for calls and holds none
    _first_message: int | None = None  # index in the conversation, once the exchange has begun
    _text = ""

    def __init__(
        self,
        conversation: Conversation,
        strategies: StrategyList,
        request: ExchangeRequest,
        *,
        budget: Budget,
        shape: TypeSchema | None = None,
        exchange_id: str | None = None,
        tracker: ExchangeTracker | None = None,
        caller: Account | None = None,
        deps: object = None,
    ) -> None:
        self.id = exchange_id or new_id("ex")
        self.message = request.message
        self.request = request
        self.tracker = tracker or ExchangeTracker()
        requested = msgspec.convert(request.budget, Budget) if request.budget is not None else None
        self.account = Account(budget, self.tracker, exchange=self.id, caller=caller, requested=requested)
        self._deps = deps
        self._conversation = conversation
        self._runtime = conversation.runtime
        self._bus = conversation.bus
        self._publish = conversation.bus.publish_all
        self._strategies = strategies
        self._previews = FilePreviews(self._runtime, self._bus.publish)
        self._turns = TurnRunner(
            conversation,
            strategies,
            self._previews,
            self.account,
            output_schema=shape.schema if shape is not None else None,
            stop=self._stop_before_request,
        )
        self._steering: list[Message] = []
        self._unpublished: list[ConversationSteered] = []
        self._done: asyncio.Future[AgentResult[Any]] = asyncio.get_running_loop().create_future()
        self._started = monotonic()
        self._output = TypedOutput(shape) if shape is not None else None

    @lazy_property
    def _repeats(self) -> RepeatCounter:
        return RepeatCounter()

    @property
    def is_over(self) -> bool:
        return self.state in (_S.CLOSED, _S.DELIVERED)

    def move_to(self, state: ExchangeState) -> None:
        """Change the state. Raises RuntimeError for a transition that does not exist."""
        if state not in TRANSITIONS[self.state]:
            raise RuntimeError(f"An exchange that is {self.state.value} cannot become {state.value}.")
        self.state = state

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call back when there is an outcome."""
        self._done.add_done_callback(lambda _: callback())

    async def result(self) -> AgentResult[Any]:
        """Wait for the outcome. Cancelling the waiting task cancels the exchange and waits for its end."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel("The caller was cancelled.")
            await asyncio.wait([self._done])
            raise

    @property
    def outcome(self) -> AgentResult[Any] | BaseException:
        """The result of an exchange that is over, or the reason why there is none."""
        return self._done.exception() or self._done.result()

    def cancel(self, reason: str = "") -> bool:
        """End the exchange. Returns False if it is over or being cancelled already."""
        before = self.state
        if self.is_over or before is _S.CANCELLED:
            return False
        self.move_to(_S.CANCELLED)
        self._reason = reason
        if before in (_S.NEW, _S.QUEUED):  # it is opened and closed when its turn in the queue comes
            if before is _S.QUEUED:
                self._bus.publish_outside_exchange(ConversationDequeued(self.id, reason))
            self._done.set_result(self._outcome(self.tracker.response("cancelled", self._elapsed())))
            return True
        self._publish([CancelRequested(reason)])
        if before is not _S.TIMED_OUT:
            self._stop_task()
        return True

    def abort(self, error: Exception) -> None:
        """Fail an exchange that will not be run."""
        if self.state is not _S.CANCELLED:
            self.move_to(_S.CANCELLED)
        self._reason = ""
        self._fail(error)

    def steer(self, prompt: Prompt, client_request_id: str | None = None) -> bool:
        """Show the model a message at its next turn. Returns False if there will be none."""
        if self.state not in (_S.NEW, _S.QUEUED, _S.RUNNING, _S.LIMITED, _S.TIMED_OUT):
            return False
        message = with_time(as_user_message(prompt))
        self._steering.append(message)
        steered = ConversationSteered(message, client_request_id)
        if self._is_open():
            self._publish([steered])
        else:  # it is published once the exchange is open
            self._unpublished.append(steered)
        return True

    def _is_open(self) -> bool:
        """Whether the log has the request."""
        return self.state not in (_S.NEW, _S.QUEUED)

    def _stop_task(self) -> None:
        """Cancel the running task. Called once only, so that its cleanup is not interrupted."""
        if self._batch is not None:
            self._batch.cancel()
        if self.task is not None:
            self.task.cancel()

    # --- the loop ----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        if self.state is _S.CANCELLED:
            self.close_unrun()
            return
        self.move_to(_S.RUNNING)
        self._runtime.account = self._conversation.account = self.account
        self._runtime.deps = self._deps
        self._begin()
        self.account.start_timer(self._started, self._on_timeout)
        await self._work()
        self.account.stop_timer()
        if self._strategies.act_at_end:
            with suppress(asyncio.CancelledError):
                await self._strategies.after_exchange(completed=self._status() == "completed")
        if self._turns.bill.is_open:
            with suppress(asyncio.CancelledError):  # a cancellation from here on ends the wait, not the closing
                await self._turns.bill.finish(patience=_PRICE_SECONDS if self._is_cancelled() else None)
        self._close()

    def _begin(self) -> None:
        """Publish the request."""
        self._open(UserMessage(self.message), ConversationStart(), *self._unpublished)

    def close_unrun(self) -> None:
        """Open and close an exchange that was cancelled before it ran."""
        if self.state is not _S.CANCELLED:
            self.move_to(_S.CANCELLED)
        if self._first_message is None:
            self._open()
        self._publish([CancelRequested(self._reason)])
        self._refuse_calls()
        self._close()

    def _refuse_calls(self) -> None:
        """Give a result to the calls of an exchange that is closed before it runs. A new one has none."""

    def _is_cancelled(self) -> bool:
        return self.state is _S.CANCELLED

    def _open(self, *payloads: Payload) -> None:
        """Publish the request, and what follows it in the same moment."""
        self._bus.exchange = self.id
        self._started = monotonic()
        self._first_message = len(self._conversation.messages)
        self._publish([self.request, *payloads])

    async def _work(self) -> None:
        """Run all turns. Never raises: the state and `error` hold how it ended."""
        try:
            await self._prepare()
            while await self._run_turn():
                pass
            self._raise_if_stopped()
            self.move_to(_S.ANSWERED)
            await self._run_text_calls()
            return
        except LimitReached as reached:
            self._abandon_message()
            if self.state in (_S.RUNNING, _S.ANSWERED):
                self.move_to(_S.LIMITED)
                self._reason, self._limit_note = reached.limit, str(reached)
            return
        except asyncio.CancelledError:
            self._abandon_message()
            if self.state in (_S.RUNNING, _S.ANSWERED):  # the task itself was cancelled
                self.move_to(_S.CANCELLED)
                self._reason = "The task was cancelled."
                self._publish([CancelRequested(self._reason)])
            return
        except HealdError as error:
            self.error = self._turns.withdraw(error, self._first_message or 0)
        except Exception as error:
            logging.getLogger("heald").exception("The exchange failed by a fault of Heald.")
            self.error = HealdError(f"Something went wrong inside Heald ({type(error).__name__}); please report it.")
        self._turns.abandon(self.error.code)

    async def _prepare(self) -> None:
        """Add the request to the conversation."""
        if self._runtime.registry:
            await self._runtime.refresh_secrets()
        check_continues(self._conversation.messages, self.message)
        self._conversation.append(self.message)
        await self._turns.begin()

    async def _run_turn(self) -> bool:
        """Run the next turn. Returns False if the model has nothing more to do."""
        if self._steering:
            self._add_steering()
        turn = await self._turns.run_turn()
        turn = msgspec.structs.replace(turn, message=with_time(turn.message))
        calls = turn.tool_calls
        self._announced, self._text = not calls and turn.announces_calls, turn.text
        if self._runtime.has_client_tools:
            self._runtime.expect_client_calls(calls)
        self._publish(message_payloads(turn.message))
        if calls:
            await self._run_tools(turn, calls)
        else:
            self._conversation.session.append_tool_results(turn, [])
        return self._needs_turn(turn.stop_reason, calls, turn)

    def _needs_turn(self, stop_reason: StopReason, calls: Sequence[ToolCall], turn: ProviderTurn | None = None) -> bool:
        """Return whether another turn follows a message with these calls. Without a `turn`, it is one of an earlier
        process, and no strategy is asked."""
        if stop_reason == "pause_turn" or self._steering:
            return True
        verdict = self._strategies.after_turn(turn) if turn is not None else None
        if verdict is None and calls and stop_reason not in ("refusal", "content_filter"):
            return True
        if self._output is not None:
            return self._ask_for_correction(self._output)
        if not isinstance(verdict, Message) or self.account.is_out_of_turns:
            return False
        self._conversation.add_user_message(verdict)
        return True

    def _ask_for_correction(self, output: TypedOutput) -> bool:
        """Read the typed output. Returns whether the model was asked to correct output that does not fit."""
        problem = output.read(self._text)
        if problem is None:
            return False
        self._turns.choose_tools("none")
        correction = f"Your answer does not fit: {problem}. Answer again with nothing but the JSON."
        self._conversation.add_user_message(user_message(correction))
        return True

    async def _run_tools(self, turn: ProviderTurn, calls: list[ToolCall]) -> None:
        batch = self._runtime.batch(calls, self._emit, self._repeats.notes(calls), emit_result=self._emit_result)
        reached = self.account.reached(turns=False)
        try:
            if reached is not None:
                batch.refuse(f"{reached} The call was not run.", "cancelled")
                raise reached
            await self._run_batch(batch)
            if (unanswerable := self._runtime.approvals.unanswerable) is not None:
                raise unanswerable
        finally:
            if self._runtime.has_client_tools:
                self._runtime.client_calls.forget(calls)
            self._conversation.session.append_tool_results(turn, batch.results)

    async def _run_batch(self, batch: CallBatch) -> None:
        self._batch = batch
        try:
            self._raise_if_stopped()
            await batch.run()
        except asyncio.CancelledError:
            batch.refuse("The exchange was ended before the call was run.", "cancelled")
            raise
        finally:
            self._batch = None

    def _raise_if_stopped(self) -> None:
        """Start nothing once the exchange is cancelled: a reactor may cancel it within a step of this very task."""
        if self.state in _STOPPED:
            raise asyncio.CancelledError

    def _stop_before_request(self) -> BaseException | None:
        """Return the exception that ends the exchange before its next request to a model, retries included."""
        if self.state in _STOPPED:
            return asyncio.CancelledError()
        return self.account.reached()

    def _on_timeout(self) -> None:
        if self.state in (_S.RUNNING, _S.ANSWERED):
            self.move_to(_S.TIMED_OUT)
            self._reason = "seconds"
            self._stop_task()

    def _add_steering(self) -> None:
        while self._steering:
            self._conversation.add_user_message(self._steering.pop(0))

    async def _run_text_calls(self) -> None:
        """Run the calls that strategies read in the text of the final answer."""
        calls = self._strategies.read_text(self._text)
        if not calls:
            return
        for call in calls:
            self._publish([call, ToolUseMessage(call), ToolPlanned(call.id, call.name)])
        await self._run_batch(self._runtime.batch(calls, self._emit))

    def _emit(self, payload: Payload) -> None:
        """Publish a payload of a tool."""
        if type(payload) in _TRACKED:
            self._track(payload)
        self._publish((payload,))

    def _track(self, payload: Payload) -> None:
        if type(payload) is ToolResult:
            self._previews.finish_call(payload)
        elif type(payload) is FileChanged:
            self._previews.on_file_changed(payload)
        elif isinstance(payload, ToolCompleted | ToolFailed):
            self.account.close_call(payload)

    def _emit_result(self, outcome: ToolCompleted | ToolFailed, result: ToolResult, *message: ToolUseMessage) -> None:
        """Publish the end of a call."""
        if self._previews.open_previews:
            for payload in (outcome, result, *message):
                self._emit(payload)
            return
        self.account.close_call(outcome)
        self._publish((outcome, result, *message))

    # --- the end -----------------------------------------------------------------------------------------------------

    def _abandon_message(self) -> None:
        """Close a message that will not be finished. The text that the user saw stays in the conversation."""
        text = self._turns.abandon()
        if text.strip():
            self._text = text
            self._conversation.append(assistant(text))

    def _status(self) -> ExchangeStatus:
        """The outcome, as far as it is known before the exchange is closed."""
        if self.state is _S.CANCELLED:
            return "cancelled"
        if self.state in (_S.LIMITED, _S.TIMED_OUT):
            return "limit"
        return "failed" if self.error is not None else "completed"

    def _close(self) -> None:
        status = self._status()
        self.move_to(_S.CLOSED)
        self._add_steering()  # messages that the model did not see are still part of the conversation
        if status != "failed":
            self.error = None
        error = self.error.info() if self.error is not None else None
        if error is not None:
            error = msgspec.structs.replace(error, message=self._runtime.hide_secrets(error.message))
            self._publish([ErrorOccurred(error), ErrorMessage(error)])
        limit = self._reason if status == "limit" else None
        blocked = error.message if error is not None and error.code == "content_blocked" else None
        is_interrupted = status in ("cancelled", "limit")
        end = ConversationInterrupted(self._reason) if is_interrupted else ConversationEnd()
        response = self.tracker.response(
            status,
            self._elapsed(),
            error=error,
            limit=limit,
            note=describe_outcome(
                status,
                self.tracker.stop_reason,
                self._text,
                blocked or (limit and (self._limit_note or self.account.explain(limit))),
                announced=self._announced,
                interrupted_by=self.tracker.interrupted_by,
                notes=self.tracker.notes,
            ),
            failure=self.error.stop_reason if self.error is not None else "error",
        )
        self._publish([end, response])
        self._bus.exchange = self._conversation.account = None
        outcome = self._outcome(response) if not self._done.done() else None
        self._bus.call_when_delivered(partial(self._on_delivered, outcome))

    def _on_delivered(self, outcome: AgentResult[Any] | None, error: Exception | None) -> None:
        """The last event was delivered, or `error` is the reason why it never will be."""
        self.move_to(_S.DELIVERED)
        self.is_delivered = True
        del self._turns  # they refer to this exchange, which is so freed without a search for garbage
        if error is not None:
            self._fail(error)
        elif outcome is not None and not self._done.done():
            self._done.set_result(outcome)

    def _fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)
            self._done.exception()  # mark it as retrieved

    def _outcome(self, response: ExchangeResponse) -> AgentResult[Any]:
        first = self._first_message
        return AgentResult.from_response(
            response,
            text=self._text,
            files=self._runtime.workspace.files(),
            output=self._output.value if self._output is not None else None,
            messages=self._turns.exchange_messages(first) if first is not None else [],
            exchange=self.id,
        )

    def _elapsed(self) -> float:
        return round((monotonic() - self._started) * 1000, 3)
