"""One exchange on a server: its handle, and the record of its events."""

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from weft.agent.interface import Prompt
from weft.agent.result import AgentResult, OutputError, read_output
from weft.agent.state import ConversationState
from weft.agent.tracker import ExchangeTracker
from weft.client.errors import restore_error
from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.events import ExchangeRequest, ExchangeResponse
from weft.core.messages import Message, Text
from weft.tools.type_schema import TypeSchema

if TYPE_CHECKING:
    from weft.client.agent import RemoteAgent

_PATIENCE = 5.0  # seconds for a cancelled exchange to end


class RemoteExchange:
    """A request to a server. Await `result()`, end it with `cancel()`, add to it with `steer()`.

    It runs on the server: losing the connection, or closing the client, does not end it.
    """

    def __init__(
        self, agent: "RemoteAgent", message: Message | None, request: str = "", shape: TypeSchema | None = None
    ) -> None:
        self.id = ""
        """Empty until the server has sent it; see `accepted`."""
        self.message = message
        self.request = request
        """Its `client_request_id`: a request with the same id is the same exchange."""
        self.error: WeftError | None = None
        """The error of a failed exchange."""
        self._agent = agent
        self._shape = shape
        loop = asyncio.get_running_loop()
        self._accepted: asyncio.Future[str] = loop.create_future()
        self._done: asyncio.Future[AgentResult] = loop.create_future()
        self._cancel_reason: str | None = None
        self._over = False

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def is_delivered(self) -> bool:
        """Its last event was delivered, or never will be."""
        return self._over

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call back when there is an outcome."""
        self._done.add_done_callback(lambda _: callback())

    async def accepted(self) -> str:
        """Wait until the server has stored the request. From then on it is answered, with or without this client."""
        return await asyncio.shield(self._accepted)

    async def result(self) -> AgentResult:
        """Wait for the outcome. Cancelling the waiting task cancels the exchange and waits for its end."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel("The caller was cancelled.")
            await self.wait_ended()
            raise

    async def wait_ended(self) -> None:
        """Wait for the end of the exchange, for a few seconds at most."""
        await asyncio.wait([self._done], timeout=_PATIENCE)

    def cancel(self, reason: str = "") -> bool:
        """End the exchange. Returns False if it is over or being cancelled already."""
        if self._over or self._cancel_reason is not None:
            return False
        self._cancel_reason = reason
        if self.id:
            self._agent.cancel_exchange(self.id, reason)
        return True

    def steer(self, prompt: Prompt) -> bool:
        """Show the model a message at its next turn. Returns False if the exchange is over."""
        if self._over or self._cancel_reason is not None:
            return False
        self._agent.send(prompt, when_busy="steer")
        return True

    # --- called by the mirror ----------------------------------------------------------------------------------------

    def set_id(self, exchange: str) -> None:
        if self.id:
            return
        self.id = exchange
        self._accepted.set_result(exchange)
        if self._cancel_reason is not None:
            self._agent.cancel_exchange(exchange, self._cancel_reason)

    def mark_delivered(self) -> None:
        """Record that the last event was delivered; the outcome follows."""
        self._over = True

    def resolve(self, result: AgentResult) -> None:
        if self._done.done():
            return
        self.error = restore_error(result.error) if result.status == "failed" and result.error is not None else None
        if self._shape is not None and result.completed:
            try:
                result = msgspec.structs.replace(result, output=read_output(result.text, self._shape))
            except ValueError as error:
                self.error = OutputError(f"The model's answer is not of the type that was asked for: {error}.")
        self._done.set_result(result)

    def fail(self, error: Exception) -> None:
        """Fail the exchange: its outcome will not be known here."""
        self._over = True
        for future in (self._accepted, self._done):
            if not future.done():
                future.set_exception(error)
                future.exception()  # mark it as retrieved

    def raise_failure(self) -> None:
        """Raise the error that kept the outcome from this client, if there is one."""
        if self._done.done() and (error := self._done.exception()) is not None:
            raise error


class ExchangeRecord:
    """Folds the events of one exchange. If its beginning is unknown, events are held until `begin`."""

    def __init__(self, exchange: str) -> None:
        self.exchange = exchange
        self.response: ExchangeResponse | None = None
        """Its last event, once it is over."""
        self._state = ConversationState()
        self._held: list[Event] | None = []

    def feed(self, event: Event) -> None:
        if self._held is not None and isinstance(event.data, ExchangeRequest):
            self._held = None
        if self._held is not None:
            self._held.append(event)
            return
        self._state.feed(event)
        if isinstance(event.data, ExchangeResponse):
            self.response = event.data

    def begin(self, earlier: Iterable[Event]) -> None:
        """Feed the events before the first one that arrived."""
        held, self._held = self._held, None
        for event in (*earlier, *(held or ())):
            self.feed(event)

    @property
    def messages(self) -> list[Message]:
        """The messages that the exchange has added to the conversation."""
        return list(self._state.messages)

    def drop(self) -> None:
        """Record that the exchange was cancelled in the queue."""
        self.response = self.response or ExchangeTracker().response("cancelled", 0.0)

    def result(self, files: dict[str, str]) -> AgentResult:
        assert self.response is not None
        messages = self.messages
        last = next((message for message in reversed(messages) if message.role == "assistant"), None)
        text = _text(last) if last is not None else ""
        return AgentResult.from_response(
            self.response, text=text, files=files, messages=messages, exchange=self.exchange
        )


def _text(message: Message) -> str:
    """Return the text of a message without refusals."""
    return "".join(block.text for block in message.content if isinstance(block, Text) and not block.refusal)
