"""The events of one exchange, as `stream` returns them."""

from collections.abc import AsyncGenerator
from typing import Any, Generic, Protocol, cast

from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.type_parameters import OutputT


class _Outcome(Protocol):
    """The part of an exchange that tells its outcome."""

    error: HealdError | None

    async def result(self) -> AgentResult[Any]: ...


class StreamedExchange:
    """The exchange of a stream. It is sent when the first event is read."""

    def __init__(self) -> None:
        self.exchange: _Outcome | None = None


class AgentStream(Generic[OutputT]):
    """The events of one exchange, for `async for`; the last one is `exchange_response`. Leaving the loop cancels.

    The request is sent when the first event is read. `await stream.result()` reads the rest and returns the result,
    with the value of the type that was requested. In a notebook, a stream at the end of a cell shows the answer as it
    grows.
    """

    def __init__(self, events: AsyncGenerator[Event], streamed: StreamedExchange) -> None:
        self._events = events
        self._streamed = streamed

    def __aiter__(self) -> AsyncGenerator[Event]:
        return self._events  # not the stream itself: a loop that is left drops the generator, which cancels

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def aclose(self) -> None:
        """End the stream. An exchange that still runs is cancelled."""
        await self._events.aclose()

    async def result(self) -> AgentResult[OutputT]:
        """Read the events that are left, and return the result. Raises the error of a failed exchange."""
        async for _ in self._events:
            pass
        exchange = self._streamed.exchange
        if exchange is None:
            raise HealdError("The stream was closed before its first event was read, so there is no result.")
        result = await exchange.result()
        if exchange.error is not None:
            raise exchange.error
        return cast("AgentResult[OutputT]", result)

    def __repr__(self) -> str:
        state = "not started" if self._streamed.exchange is None else "started"
        return f"<AgentStream {state}; read it with `async for`, or await its result()>"

    def _ipython_display_(self) -> None:
        """Show the answer in a notebook's cell as it grows."""
        from heald.agent.notebook_cell import show_stream

        show_stream(self)
