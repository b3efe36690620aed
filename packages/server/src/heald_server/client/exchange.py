"""One exchange on a server."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

import msgspec

from heald.agent.request_message import Prompt
from heald.agent.result import AgentResult
from heald.agent.typed_output import OutputError, read_output
from heald.core.errors import HealdError
from heald.core.messages import Message
from heald.core.type_parameters import OutputT
from heald.tools.type_schema import TypeSchema
from heald_server.client.errors import restore_error

if TYPE_CHECKING:
    from heald_server.client.agent import RemoteAgent


_PATIENCE = 5.0  # seconds for a cancelled exchange to end


class RemoteExchange(Generic[OutputT]):
    """A request to a server. Await `result()`, end it with `cancel()`, add to it with `steer()`.

    It runs on the server: losing the connection, or closing the client, does not end it.
    """

    def __init__(
        self,
        agent: "RemoteAgent[Any]",
        message: Message | None,
        request: str = "",
        shape: TypeSchema | None = None,
        deps: object = None,
    ) -> None:
        self.id = ""
        """Empty until the server has sent it; see `accepted`."""
        self.message = message
        self.request = request
        """Its `client_request_id`: a request with the same id is the same exchange."""
        self.error: HealdError | None = None
        """The error of a failed exchange."""
        self.deps = deps
        """What the tools that run in this client get as `ToolContext.deps`."""
        self._agent = agent
        self._shape = shape
        loop = asyncio.get_running_loop()
        self._accepted: asyncio.Future[str] = loop.create_future()
        self._done: asyncio.Future[AgentResult[OutputT]] = loop.create_future()
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

    async def result(self) -> AgentResult[OutputT]:
        """Wait for the outcome. Cancelling the waiting task cancels the exchange and waits for its end."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel("The caller was cancelled.")
            await self.wait_ended()
            raise

    @property
    def known_result(self) -> AgentResult[OutputT] | None:
        """The result, if there is one by now."""
        has_result = self._done.done() and self._done.exception() is None
        return self._done.result() if has_result else None

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

    def resolve(self, result: AgentResult[Any]) -> None:
        if self._done.done():
            return
        self.error = restore_error(result.error) if result.status == "failed" and result.error is not None else None
        if self._shape is not None:
            value: object = msgspec.UNSET
            try:
                value = read_output(result.text, self._shape) if result.completed else value
            except ValueError as error:
                self.error = OutputError(f"The model's answer is not of the type that was asked for: {error}.")
            result = result.with_output(value)
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
