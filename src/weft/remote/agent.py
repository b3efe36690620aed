"""The agent interface, for a session on a server."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Collection, Sequence
from functools import partial
from typing import Literal

import msgspec

from weft.agent.answering import Answerer, Approver, OnApproval, OnQuestion
from weft.agent.background import Background
from weft.agent.bus import EventBus
from weft.agent.reactors import QUEUE, Reactor, Subscription
from weft.agent.result import AgentResult
from weft.agent.streaming import EventStream
from weft.core.content import File, Image, Text
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ApprovalRequested, QuestionAsked
from weft.core.ids import new_id
from weft.core.json import JsonObject, encode
from weft.core.messages import Message, user
from weft.core.payload import Layer
from weft.remote.address import Address, Token
from weft.remote.asking import RemoteApprovals, heard
from weft.remote.calls import Calls
from weft.remote.errors import ServerRefused
from weft.remote.exchange import RemoteExchange
from weft.remote.line import Line
from weft.remote.mirror import Mirror
from weft.remote.outbox import LARGEST, Command, Outbox
from weft.remote.pace import Pace
from weft.tools.approvals import NotPending
from weft.tools.outcome import plain_text

Prompt = str | Message | Sequence[str | Text | Image | File]
WhenBusy = Literal["queue", "steer", "interrupt", "refuse"]

_SETTLED = frozenset({"not_found", "gone", "conflict"})
_REASON = 500  # characters that a server takes
_ROOM = 4096  # bytes of a message beside its content


class RemoteAgent:
    """One conversation on a server, with the methods of `weft.Agent`. Make it with `weft.connect`.

    It reconnects and resumes by itself: events arrive in the order of the log, each once. Closing it, or losing the
    connection, does not cancel what runs on the server; `cancel`, and leaving a `stream` early, do.
    """

    def __init__(
        self,
        address: Address,
        token: Token,
        *,
        session: str | None = None,
        settings: JsonObject | None = None,
        on_approval: OnApproval | None = None,
        on_question: OnQuestion | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._address = address
        self._pace = pace or Pace()
        self._calls = Calls(address, token, self._pace)
        self._outbox = Outbox()
        self._mirror = Mirror(self._calls, session, settings or {}, self._pace, self._ask_again)
        self._line = Line(self._calls, self._outbox, self._mirror.cursor, self._mirror, self._pace)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._background: Background | None = None
        self._is_closed = False
        approvals = RemoteApprovals(self, self._is_waiting)
        self._approver = Approver(on_approval, approvals) if on_approval is not None else None
        self._answerer = Answerer(on_question, approvals) if on_question is not None else None
        for reactor in (self._approver, self._answerer):
            if reactor is not None:
                self.bus.subscribe(reactor)

    @property
    def session(self) -> str | None:
        """The session's id; None until the first use makes one."""
        return self._mirror.session

    @property
    def bus(self) -> EventBus:
        return self._mirror.bus

    def __repr__(self) -> str:
        return f"<RemoteAgent {self.session or 'without a session yet'} at {self._address}>"

    # --- asking ------------------------------------------------------------------------------------------------------

    async def open(self) -> str:
        """Make or join the session now instead of at the first request. Gives its id."""
        self._begin()
        return await self._mirror.joined()

    async def run(self, prompt: Prompt) -> AgentResult:
        """Ask, and wait until everything is done. A failed exchange raises its error."""
        exchange = self.send(prompt)
        result = await exchange.result()
        if exchange.error is not None:
            raise exchange.error
        return result

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event]:
        """Ask, and hear each event as it happens; the last one is `exchange_response`. Leaving the loop cancels."""
        await self.open()
        stream = EventStream(self.bus)
        exchange = self.send(prompt)
        try:
            told = False
            while not told:
                events = await stream.next_of(exchange)
                told = exchange.is_told
                for event in events:
                    yield event
        finally:
            stream.close()
            if exchange.cancel("The stream was left."):
                await exchange.ended()
        exchange.check()

    def run_sync(self, prompt: Prompt) -> AgentResult:
        """`run` for scripts and notebooks. All calls share one loop in the background."""
        if self._background is None:
            self._background = Background()
        return self._background.run(self.run(prompt))

    def send(
        self, prompt: Prompt, *, when_busy: WhenBusy = "queue", client_request_id: str | None = None
    ) -> RemoteExchange:
        """Ask without waiting. While another exchange runs, the new one waits for its turn (`queue`), joins it at the
        model's next turn (`steer`), ends it and takes its place (`interrupt`), or is not taken (`refuse`).

        The request has an id, one of its own if none is given, so that it is one exchange however often it has to be
        sent. The same id again, from any client, gives the exchange that it began.
        """
        message = _message(prompt)
        self._begin()
        exchange = RemoteExchange(self, message, client_request_id or new_id("req"))
        self._mirror.expect(exchange)
        parts = msgspec.to_builtins(message.content)
        asked = {"content": parts, "client_request_id": exchange.request, "when_busy": when_busy}
        if len(encode(asked)) + _ROOM > LARGEST:
            self._mirror.later(self._submitted(exchange, self._post(asked)))
        else:
            command = self._outbox.put({"type": "send", **asked})
            self._mirror.later(self._submitted(exchange, command.answer))
        return exchange

    def cancel(self, reason: str = "") -> bool:
        """End the exchange that runs. False if none does, as far as is known here."""
        mirror = self._mirror
        running = mirror.state.exchange
        known = mirror.waiting() if running is None else mirror.handle_of(running)
        if known is not None:
            return known.cancel(reason)
        if running is None:
            return False
        self.cancel_exchange(running, reason)
        return True

    def cancel_exchange(self, exchange: str, reason: str = "") -> None:
        """End one that runs or waits, by its id."""
        self._begin()
        self._outbox.put({"type": "cancel", "exchange": exchange, "reason": reason[:_REASON]})

    @property
    def current(self) -> RemoteExchange | None:
        """The exchange that runs, whoever asked for it: await its `result()` to pick up what another client left."""
        return self._mirror.current(partial(RemoteExchange, self, None))

    # --- being asked -------------------------------------------------------------------------------------------------

    def approve(
        self, approval: str, *, arguments: JsonObject | None = None, always: bool = False, digest: str | None = None
    ) -> "asyncio.Future[None]":
        """Allow a call that waits: once, or always what it is about; with other arguments if they are given.

        It is on its way at once. Await it to know that it counted: NotPending if somebody else was faster.
        """
        shown = self._mirror.state.approvals.get(approval)
        digest = digest or (shown.digest if shown is not None else None)
        frame: JsonObject = {"type": "approve", "approval": approval, "always": always}
        return self._decide(frame | _given(digest=digest, arguments=arguments))

    def deny(self, approval: str, reason: str = "") -> "asyncio.Future[None]":
        """Refuse a call that waits. The model is told the reason."""
        return self._decide({"type": "deny", "approval": approval, "reason": reason[:_REASON]})

    def answer(self, question: str, text: str) -> "asyncio.Future[None]":
        """Answer a question that a tool put."""
        return self._decide({"type": "answer", "question": question, "text": text})

    @property
    def approvals(self) -> list[ApprovalRequested]:
        """The calls that wait for somebody to allow them."""
        return list(self._mirror.state.approvals.values())

    @property
    def questions(self) -> list[QuestionAsked]:
        """The questions that wait for an answer."""
        return list(self._mirror.state.questions.values())

    # --- watching ----------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Let a reactor hear the events from now on: all, or those of the types or layers named.

        Should the server lose the log that was heard so far, the reactor is dropped as a slow one is: it never hears
        what comes after a gap, and `dropped_at` says where it would have been.
        """
        subscription = self._mirror.subscribe(reactor, types, layers, queue)
        if self.session is not None and _is_in_a_loop():
            self._begin()
        return subscription

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return list(self._mirror.state.messages)

    async def close(self) -> None:
        """Leave. What was asked is still delivered, if the server is there; what runs goes on without us."""
        background, self._background = self._background, None
        if background is None:
            await self._close()
            return
        await asyncio.wrap_future(background.start(self._close()))
        background.close()

    async def _close(self) -> None:
        if self._is_closed:
            return
        if self._line.is_up:
            await self._outbox.settle(self._pace.goodbye)
        self._is_closed = True
        await self._line.close()
        self._outbox.fail(self._mirror.closed())
        await self._mirror.close()
        await self._calls.close()

    async def __aenter__(self) -> "RemoteAgent":
        if self.session is not None:
            await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """The line is up, in the loop that began it."""
        if self._is_closed:
            raise ConfigurationError("This client was closed; connect again with the id of its session.")
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            raise ConfigurationError("A connection lives in the event loop that opened it; use it there.")
        self._loop = loop
        self._line.start()

    async def _submitted(self, exchange: RemoteExchange, answer: Awaitable[JsonObject]) -> None:
        try:
            accepted = await answer
        except Exception as error:
            self._mirror.forget(exchange)
            exchange.fail(error)
            if not isinstance(error, WeftError):
                raise
            return
        name = accepted.get("exchange")
        if isinstance(name, str) and name:
            self._mirror.answered(exchange, name, str(accepted.get("state")))
        else:
            self._mirror.forget(exchange)
            exchange.fail(self._calls.stranger())

    async def _post(self, submission: JsonObject) -> JsonObject:
        """What is too large for the socket goes beside it."""
        session = await self._mirror.joined()
        return await self._mirror.patiently(lambda: self._calls.send(session, submission))

    def _decide(self, frame: JsonObject) -> "asyncio.Future[None]":
        self._begin()
        decided = asyncio.ensure_future(_counted(self._outbox.put(frame)))
        decided.add_done_callback(heard)
        return decided

    def _is_waiting(self, name: str) -> bool:
        state = self._mirror.state
        return not self._is_closed and (name in state.approvals or name in state.questions)

    def _ask_again(self, waiting: ApprovalRequested | QuestionAsked) -> None:
        """What waited for a person before we came."""
        cursor, state = self._mirror.cursor, self._mirror.state
        kind, layer = waiting.type, waiting.layer
        event = Event(cursor.seq, "", cursor.session, state.exchange, kind, layer, 0.0, 0, waiting)
        if isinstance(waiting, ApprovalRequested) and self._approver is not None:
            self._approver.on_approval_requested(event)
        if isinstance(waiting, QuestionAsked) and self._answerer is not None:
            self._answerer.on_question_asked(event)


async def _counted(command: Command) -> None:
    try:
        await command.answer
    except ServerRefused as error:
        if error.reason not in _SETTLED:
            raise
        if command.written > 1:
            return  # the first one counted, only its answer was lost
        raise NotPending(str(error)) from None


def _message(prompt: Prompt) -> Message:
    if isinstance(prompt, Message):
        if prompt.role != "user":
            raise ConfigurationError(f"An exchange begins with a user message, not with one of role {prompt.role!r}.")
        return prompt
    parts = [prompt] if isinstance(prompt, str) else prompt
    return user(*(plain_text(part) if isinstance(part, str) else part for part in parts))


def _given(**values: object) -> JsonObject:
    return {name: value for name, value in values.items() if value is not None}


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
