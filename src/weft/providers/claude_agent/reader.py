"""Reads one turn from a query: messages that were streamed, messages that came whole, attempts the SDK gave up."""

from collections.abc import Callable, Container, Iterable

import msgspec
from claude_agent_sdk import AssistantMessage, Message, ResultMessage, StreamEvent, TextBlock

from weft.core.errors import IncompleteStream, ProviderError, WeftError
from weft.core.events import RetryScheduled
from weft.core.json import as_object
from weft.core.payload import Payload
from weft.providers.base import OnEvent, ProviderTurn
from weft.providers.claude_agent.faults import failure_of
from weft.providers.claude_agent.query import Query
from weft.providers.claude_agent.turn import TurnStream, events_of

_AGAIN = IncompleteStream("The answer broke off, and Claude Code asked for it again.")


class Ended(msgspec.Struct, frozen=True):
    """How a turn ended, beside its message."""

    goes_on: bool = False
    """The loop has more to say without being asked."""
    total_usd: float | None = None
    """What the SDK's session has cost so far, where the query has its result."""


class TurnReader:
    def __init__(self, model: str, taken: Container[str], on_event: OnEvent) -> None:
        self._model = model
        self._taken = taken
        self._on_event = on_event
        self._attempt = 0
        self._stream: TurnStream | None = None

    async def read(self, query: Query, note: Callable[[str, str | None], object]) -> Ended:
        """Publish one message but for its end. Notes where the SDK keeps what it says. Raises what went wrong."""
        while True:
            try:
                message = await query.next()
                failure = failure_of(message)
            except WeftError as error:
                message, failure = None, error
            if isinstance(message, StreamEvent | AssistantMessage | ResultMessage) and failure is None:
                note(message.session_id or "", message.uuid if isinstance(message, AssistantMessage) else None)
            if self.is_done and (failure is not None or query.begins(message)):
                if message is not None:
                    query.unread(message)
                return Ended(goes_on=True)
            if failure is not None:
                self.abort(failure)
                raise failure
            if isinstance(message, ResultMessage):
                query.over = True
                self._end(query, message)
                return Ended(total_usd=message.total_cost_usd)
            if message is not None and self._take(query, message):
                return Ended()

    @property
    def is_done(self) -> bool:
        """The whole message is there; how it ends is not published yet."""
        return self._stream is not None and self._stream.done

    def _take(self, query: Query, message: Message) -> bool:
        """Take what comes next. True if the message is there and has calls that wait to be run."""
        if isinstance(message, AssistantMessage) and query.begins(message):
            self._whole(query, message)
        elif isinstance(message, StreamEvent):
            if query.begins(message):
                query.streamed = query.counted = str(as_object(message.event.get("message")).get("id"))
                self._open()
            if self._stream is not None:
                self._tell(self._stream.feed(message.event))
        return self._stream is not None and self._stream.has_calls

    def _end(self, query: Query, result: ResultMessage) -> None:
        """The query is over. Where it left no message, its result stands for one."""
        if self.is_done:
            return
        content = [TextBlock(text=result.result)] if result.result else []
        self._whole(query, AssistantMessage(content=list(content), model=self._model))

    def abort(self, error: WeftError) -> None:
        """Nothing more comes. A message that is open does not count; one that did not begin was an attempt too."""
        if not isinstance(error, ProviderError):
            return
        if self._stream is None:
            self._open()
        assert self._stream is not None
        self._tell(self._stream.abort(error))

    def finish(self, session: str, at: str) -> ProviderTurn:
        """Publish the end of the message that is there."""
        assert self._stream is not None
        turn = self._stream.turn(session, at)
        self._tell(self._stream.held)
        return turn

    def _open(self) -> None:
        self._attempt += 1
        if self._stream is not None:
            self._tell(self._stream.abort(_AGAIN))
            self._on_event(RetryScheduled(self._stream.id, self._attempt, 0.0, _AGAIN.info()))
        self._stream = TurnStream(self._model, self._attempt, self._taken)
        self._tell(self._stream.open())

    def _whole(self, query: Query, message: AssistantMessage) -> None:
        self._open()
        assert self._stream is not None
        known = message.message_id is not None and message.message_id == query.counted
        query.counted = message.message_id
        for event in events_of(message, counted=known):
            self._tell(self._stream.feed(event))

    def _tell(self, payloads: Iterable[Payload]) -> None:
        for payload in payloads:
            self._on_event(payload)
