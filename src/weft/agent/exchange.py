"""One exchange: a request and everything until its final answer.

It runs in a task of its own, so that ending it is one cancellation and whoever waits for it is never hurt by that. Each
way out leads through `_close`: exactly one `exchange_response`, a message that is closed, a result for every call.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from weft.agent.assembler import settled
from weft.agent.driver import Driver
from weft.agent.html import page_call
from weft.agent.output import OutputError, read_output
from weft.agent.previews import Previews
from weft.agent.repeats import Repeats
from weft.agent.result import AgentResult, note_on
from weft.agent.tracker import ExchangeTracker
from weft.agent.turns import Turns
from weft.core.errors import WeftError
from weft.core.events import (
    CancelRequested,
    ConversationDequeued,
    ConversationEnd,
    ConversationInterrupted,
    ConversationStart,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    ExchangeStatus,
    FileChanged,
    ToolPlanned,
    ToolUseMessage,
    UserMessage,
)
from weft.core.ids import new_id
from weft.core.messages import Message, assistant, user
from weft.core.payload import Payload
from weft.core.tools import ToolCall, ToolResult
from weft.providers.base import ProviderTurn
from weft.providers.hosting import LimitReached
from weft.tools.batch import Batch
from weft.tools.shape import Shape

if TYPE_CHECKING:
    from weft.agent.engine import AgentEngine

CORRECTIONS = 2
"""How often a model may try again to give the output that was asked for."""
_PATIENCE = 0.3  # seconds that a cancelled exchange waits for the price list


class _Limit(Exception):
    """A budget is used up."""

    def __init__(self, limit: str) -> None:
        super().__init__("")
        self.limit = limit


class Exchange:
    """A request on its way. Await `result()`, end it with `cancel()`, add to it with `steer()`."""

    def __init__(
        self,
        engine: "AgentEngine",
        request: ExchangeRequest,
        *,
        shape: Shape | None = None,
        exchange_id: str | None = None,
    ) -> None:
        self.id = exchange_id or new_id("ex")
        self.message = request.message
        self.tracker = ExchangeTracker()
        self.driver: Driver | None = None
        self.error: WeftError | None = None
        """Why it failed."""
        self.is_queued = False
        """The log says that it waits."""
        self._engine = engine
        self._shape = shape
        self.request = request
        self._publish = engine.bus.publish
        self._previews = Previews(engine.runtime.registry, engine.runtime.workspace, self._publish)
        self._turns = Turns(engine, self._previews, self.tracker, shape)
        self._repeats = Repeats()
        self._steering: deque[Message] = deque()
        self._batch: Batch | None = None
        self._done: asyncio.Future[AgentResult] = asyncio.get_running_loop().create_future()
        self._cancelled: str | None = None  # the reason, once somebody asked for it
        self._limit: str | None = None
        self._explained = ""  # the limit, where it is not one of the budget
        self._begun = self._answered = self._over = self._told = self._stopping = False
        self._started = monotonic()
        self._history = 0  # where this exchange begins in the conversation
        self._text = ""
        self._output: Any = None

    # --- from outside ------------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def is_told(self) -> bool:
        """Its last event has been handed out."""
        return self._told

    def on_end(self, then: Callable[[], object]) -> None:
        """Call back when there is an outcome."""
        self._done.add_done_callback(lambda _: then())

    async def result(self) -> AgentResult:
        """The outcome. Cancelling whoever waits here cancels the exchange, and waits until it has ended."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel("The caller was cancelled.")
            await asyncio.wait([self._done])
            raise

    def cancel(self, reason: str = "") -> bool:
        """End it. False if that changes nothing: it is over, or being ended."""
        if self._over or self._cancelled is not None:
            return False
        self._cancelled = reason
        if not self._begun:  # still in the queue: the exchange is opened and closed when its turn comes
            if self.is_queued:
                self._engine.bus.publish_apart(ConversationDequeued(self.id, reason))
            self._done.set_result(self._outcome(self.tracker.response("cancelled", self._elapsed())))
            return True
        self._publish(CancelRequested(reason))
        self._stop()
        return True

    def give_up(self, error: Exception) -> None:
        """It will not begin. Whoever waits for it gets the error."""
        self._cancelled = ""
        self._fail(error)

    def steer(self, message: Message) -> bool:
        """Let the model see a message at its next turn. False if there will be none."""
        if self._answered or self._over or self._cancelled is not None:
            return False
        self._steering.append(message)
        return True

    def _stop(self) -> None:
        if self._stopping:
            return  # once is enough: what cleans up is left in peace
        self._stopping = True
        if self._batch is not None:
            self._batch.cancel()
        if self.driver is not None:
            self.driver.task.cancel()

    # --- the loop ----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        if self._cancelled is not None:
            self.close_unrun()
            return
        self._open()
        self._engine.bus.publish_all([UserMessage(self.message), ConversationStart()])
        timer = self._start_timer()
        status = await self._work()
        if timer is not None:
            timer.cancel()
        if self._engine.host is not None:
            with suppress(asyncio.CancelledError):
                await self._engine.host.leave(cut=status != "completed")
        with suppress(asyncio.CancelledError):  # whoever cancels from here on ends the wait, not the ending
            await self._turns.bill.ready(patience=None if self._cancelled is None else _PATIENCE)
        self._close("cancelled" if self._cancelled is not None else status)

    def close_unrun(self) -> None:
        """It was ended before it began: the log tells both."""
        self._cancelled = self._cancelled or ""
        self._open()
        self._publish(CancelRequested(self._cancelled))
        self._close("cancelled")

    def _open(self) -> None:
        self._begun = True
        self._engine.bus.exchange = self.id
        self._started = monotonic()
        self._history = len(self._engine.messages)
        self._publish(self.request)

    async def _work(self) -> ExchangeStatus:
        """All turns. Whatever happens, how it ended."""
        try:
            self._engine.prepare(self._shape)
            self._engine.append(self.message)
            await self._turns.begin()
            await self._talk()
            self._answered = True
            await self._write_page()
            return "completed"
        except (_Limit, LimitReached) as reached:
            self._limit, self._explained = reached.limit, str(reached)
            return "limit"
        except asyncio.CancelledError:
            self._abandon_message()
            if self._limit is not None and self._cancelled is None:
                return "limit"
            if self._cancelled is None:  # from outside, by whoever owns the task
                self._cancelled = "The task was cancelled."
                self._publish(CancelRequested(self._cancelled))
            return "cancelled"
        except WeftError as error:
            self.error = error
        except Exception as error:
            logging.getLogger("weft").exception("The exchange failed by a fault of Weft.")
            self.error = WeftError(f"Something went wrong inside Weft ({type(error).__name__}); please report it.")
        self._turns.abandon()
        return "failed"

    async def _talk(self) -> None:
        """Turn after turn, until the model has nothing more to do."""
        engine = self._engine
        corrections = 0
        while True:
            self._take_steering()
            self._may_ask()
            turn = await self._turns.take(self._may_ask)
            self._text = turn.text
            self._engine.bus.publish_all(settled(turn.message))
            calls = turn.tool_calls
            if calls:
                await self._run_tools(turn, calls)
                if turn.stop_reason not in ("refusal", "content_filter"):
                    continue
            else:
                engine.session.append_tool_results(turn, [])
            if turn.stop_reason == "pause_turn" or self._steering:
                continue
            problem = self._read_output()
            if problem is None:
                return
            corrections += 1
            if corrections > CORRECTIONS:
                raise OutputError(f"The model's answer is not of the type that was asked for: {problem}.")
            self._say(user(f"Your answer does not fit: {problem}. Answer again with nothing but the JSON."))

    async def _run_tools(self, turn: ProviderTurn, calls: list[ToolCall]) -> None:
        engine = self._engine
        batch = engine.runtime.batch(calls, self._emit, self._repeats.notes(calls), self.driver)
        limit = engine.budget.reached(self.tracker)
        try:
            if limit is not None:
                batch.refuse(f"{engine.budget.explain(limit, self.tracker)} The call was not run.", "cancelled")
                raise _Limit(limit)
            await self._run_batch(batch)
        finally:
            engine.session.append_tool_results(turn, batch.results)

    async def _run_batch(self, batch: Batch) -> None:
        self._batch = batch
        try:
            self._go_on()
            await batch.run()
        except asyncio.CancelledError:
            batch.refuse("The exchange was ended before the call was run.", "cancelled")
            raise
        finally:
            self._batch = None

    def _go_on(self) -> None:
        """Nothing starts once the end was asked for; a reactor may have, inside a step of this very task."""
        if self._cancelled is not None or self._limit is not None:
            raise asyncio.CancelledError

    def _may_ask(self) -> None:
        """Before each request to a model, those that are tried again included."""
        self._go_on()
        budget = self._engine.budget
        limit = "turns" if self.tracker.turns >= budget.turns else budget.reached(self.tracker)
        if limit is not None:
            raise _Limit(limit)

    def _start_timer(self) -> asyncio.TimerHandle | None:
        seconds = self._engine.budget.seconds
        return asyncio.get_running_loop().call_later(seconds, self._time_is_up) if seconds is not None else None

    def _time_is_up(self) -> None:
        if not self._over and self._cancelled is None:
            self._limit = "seconds"
            self._stop()

    def _take_steering(self) -> None:
        while self._steering:
            self._say(self._steering.popleft())

    def _say(self, message: Message) -> None:
        self._publish(UserMessage(message))
        self._engine.append(message)

    def _read_output(self) -> str | None:
        """The typed value of the answer, if one was asked for; what is wrong with it."""
        if self._shape is None:
            return None
        try:
            self._output = read_output(self._text, self._shape)
        except ValueError as error:
            return str(error)
        return None

    async def _write_page(self) -> None:
        """A page that the model wrote as text becomes the file that it did not write."""
        self._go_on()
        call = page_call(self._text, self._engine.runtime)
        if call is not None:
            self._engine.bus.publish_all([call, ToolUseMessage(call), ToolPlanned(call.id, call.name)])
            await self._run_batch(self._engine.runtime.batch([call], self._emit))

    # --- what is heard -----------------------------------------------------------------------------------------------

    def _emit(self, payload: Payload) -> None:
        """What tools have to say."""
        if type(payload) is ToolResult:
            self._previews.settle(payload)
            if self._engine.host is not None:
                self._engine.host.settle(payload)
        elif type(payload) is FileChanged:
            self._previews.changed(payload)
        elif payload.layer == "state":
            self.tracker.feed(payload)  # what a call cost
        self._publish(payload)

    # --- how it ends -------------------------------------------------------------------------------------------------

    def _abandon_message(self) -> None:
        """A message that will not be finished is closed. What the user saw of its text stays in the conversation."""
        said = self._turns.abandon()
        if said.strip():
            self._text = said
            self._engine.append(assistant(said))

    def _close(self, status: ExchangeStatus) -> None:
        self._over = True
        self._take_steering()  # what the model did not come to see is part of the conversation all the same
        if status != "failed":
            self.error = None
        elif self.error is not None:
            self._publish(ErrorOccurred(self.error.info()))
            self._publish(ErrorMessage(self.error.info()))
        limit = self._limit if status == "limit" else None
        reason = self._cancelled if status == "cancelled" else limit
        self._publish(ConversationEnd() if reason is None else ConversationInterrupted(reason))
        response = self.tracker.response(
            status,
            self._elapsed(),
            error=self.error.info() if self.error is not None else None,
            limit=limit,
            note=note_on(
                status,
                self.tracker.stop_reason,
                self._text,
                limit and (self._explained or self._engine.budget.explain(limit, self.tracker)),
            ),
        )
        self._publish(response)
        self._engine.bus.exchange = None
        self._engine.bus.after(partial(self._tell, self._outcome(response) if not self._done.done() else None))

    def _tell(self, outcome: AgentResult | None, unheard: Exception | None) -> None:
        """Its last event has been handed out, or never will be."""
        self._told = True
        if self._done.done():
            return
        if unheard is None and outcome is not None:
            self._done.set_result(outcome)
        elif unheard is not None:
            self._fail(unheard)

    def _fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)
            self._done.exception()  # nobody needs to ask

    def _outcome(self, response: ExchangeResponse) -> AgentResult:
        return AgentResult.of(
            response,
            text=self._text,
            files=self._engine.runtime.workspace.files(),
            output=self._output,
            messages=self._engine.messages[self._history :] if self._begun else [],
            exchange=self.id,
        )

    def _elapsed(self) -> float:
        return round((monotonic() - self._started) * 1000, 3)
