"""The outcomes of finished requests, by which a repeated request is answered."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from heald.agent.exchange import Exchange
from heald.agent.request_message import Prompt
from heald.agent.result import AgentResult
from heald.core.errors import HealdError

MAX_REQUESTS = 1_000
"""The number of requests whose outcomes an agent keeps."""


class FinishedExchange:
    """A request that has its outcome: the id and the result of its exchange."""

    def __init__(
        self,
        exchange: str,
        outcome: AgentResult[Any] | BaseException,
        *,
        error: HealdError | None = None,
        read_files: Callable[[], dict[str, str]],
    ) -> None:
        """`outcome` is an exception if the result could not be stored."""
        self.id = exchange
        self.error = error
        """The error of a failed exchange."""
        self._outcome = outcome
        self._read_files = read_files

    @property
    def is_over(self) -> bool:
        return True

    @property
    def is_delivered(self) -> bool:
        return True

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call back soon: there is an outcome."""
        asyncio.get_running_loop().call_soon(callback)

    async def result(self) -> AgentResult[Any]:
        """Return the outcome, with the files as they are now and without messages."""
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return msgspec.structs.replace(self._outcome, files=self._read_files())

    def cancel(self, reason: str = "") -> bool:
        """Return False: the exchange is over."""
        return False

    def steer(self, prompt: Prompt, client_request_id: str | None = None) -> bool:
        """Return False: the exchange is over."""
        return False


class RequestOutcomes:
    """The exchanges of an agent by `client_request_id`. Of a finished one only the outcome is kept."""

    def __init__(self, read_files: Callable[[], dict[str, str]]) -> None:
        self._read_files = read_files
        self._exchanges: dict[str, Exchange | FinishedExchange] = {}

    def find(self, client_request_id: str) -> Exchange | FinishedExchange | None:
        """Return the exchange of a request."""
        return self._exchanges.get(client_request_id)

    def add(self, client_request_id: str, exchange: Exchange | FinishedExchange) -> None:
        """Return this exchange when the request is repeated. The oldest finished requests are forgotten."""
        self._exchanges[client_request_id] = exchange
        if not isinstance(exchange, FinishedExchange):
            exchange.on_end(partial(self._finish, client_request_id, exchange))
        if len(self._exchanges) > MAX_REQUESTS:
            self._drop_oldest()

    def add_finished(
        self, client_request_id: str, exchange: str, outcome: AgentResult[Any], error: HealdError | None = None
    ) -> None:
        """Return this outcome when the request is repeated."""
        finished = FinishedExchange(exchange, outcome, error=error, read_files=self._read_files)
        self.add(client_request_id, finished)

    def _finish(self, client_request_id: str, exchange: Exchange) -> None:
        """Replace an exchange that has ended by its outcome."""
        if self._exchanges.get(client_request_id) is exchange:
            outcome = exchange.outcome
            if isinstance(outcome, AgentResult):
                outcome = msgspec.structs.replace(outcome, files={}, messages=[])
            self._exchanges[client_request_id] = FinishedExchange(
                exchange.id, outcome, error=exchange.error, read_files=self._read_files
            )

    def _drop_oldest(self) -> None:
        oldest = next((name for name, exchange in self._exchanges.items() if exchange.is_over), None)
        if oldest is not None:
            del self._exchanges[oldest]
