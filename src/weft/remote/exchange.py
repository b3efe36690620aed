"""One exchange on a server: asked for from here, or picked up here."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from weft.agent.result import AgentResult
from weft.core.errors import WeftError
from weft.core.messages import Message
from weft.remote.errors import error_of

if TYPE_CHECKING:
    from weft.remote.agent import Prompt, RemoteAgent


_PATIENCE = 5.0  # seconds for a cancelled exchange to end


class RemoteExchange:
    """A request on its way. Await `result()`, end it with `cancel()`, add to it with `steer()`.

    It lives on the server: losing the connection, or closing the client, does not end it.
    """

    def __init__(self, agent: "RemoteAgent", message: Message | None, request: str = "") -> None:
        self.id = ""
        """Empty until the server has said it; see `accepted`."""
        self.message = message
        self.request = request
        """Its `client_request_id`: asking again with it gives the same exchange."""
        self.error: WeftError | None = None
        """Why it failed."""
        self._agent = agent
        loop = asyncio.get_running_loop()
        self._known: asyncio.Future[str] = loop.create_future()
        self._done: asyncio.Future[AgentResult] = loop.create_future()
        self._cancelled: str | None = None
        self._over = self._told = False

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def is_told(self) -> bool:
        """Its last event has been handed out, or never will be."""
        return self._told

    def on_end(self, then: Callable[[], object]) -> None:
        """Call back when there is an outcome."""
        self._done.add_done_callback(lambda _: then())

    async def accepted(self) -> str:
        """Its id, once the server has stored the request. From then on it is answered, whatever becomes of us."""
        return await asyncio.shield(self._known)

    async def result(self) -> AgentResult:
        """The outcome. Cancelling whoever waits here cancels the exchange, and waits until it has ended."""
        try:
            return await asyncio.shield(self._done)
        except asyncio.CancelledError:
            self.cancel("The caller was cancelled.")
            await self.ended()
            raise

    async def ended(self) -> None:
        """Wait until it is over, but no longer than a server needs that is there."""
        await asyncio.wait([self._done], timeout=_PATIENCE)

    def cancel(self, reason: str = "") -> bool:
        """End it. False if that changes nothing: it is over, or being ended."""
        if self._over or self._cancelled is not None:
            return False
        self._cancelled = reason
        if self.id:
            self._agent.cancel_exchange(self.id, reason)
        return True

    def steer(self, prompt: "Prompt") -> bool:
        """Let the model see a message at its next turn. False if it is over."""
        if self._over or self._cancelled is not None:
            return False
        self._agent.send(prompt, when_busy="steer")
        return True

    # --- what the agent tells it -------------------------------------------------------------------------------------

    def name(self, exchange: str) -> None:
        """The server said which one it is."""
        if self.id:
            return
        self.id = exchange
        self._known.set_result(exchange)
        if self._cancelled is not None:
            self._agent.cancel_exchange(exchange, self._cancelled)

    def tell(self) -> None:
        """Its last event has been handed out; the outcome follows."""
        self._over = self._told = True

    def settle(self, result: AgentResult) -> None:
        if self._done.done():
            return
        self.error = error_of(result.error) if result.status == "failed" and result.error is not None else None
        self._done.set_result(result)

    def fail(self, error: Exception) -> None:
        """Its outcome will not be known here."""
        self._over = self._told = True
        for future in (self._known, self._done):
            if not future.done():
                future.set_exception(error)
                future.exception()  # nobody needs to ask

    def check(self) -> None:
        """Raise what came between us and its end, if something did."""
        if self._done.done() and (error := self._done.exception()) is not None:
            raise error
