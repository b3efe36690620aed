"""The result of an exchange, for callers that may be cancelled."""

import asyncio

from heald.agent.interface import ExchangeInterface
from heald.agent.result import AgentResult


async def await_result(exchange: ExchangeInterface) -> AgentResult:
    """Wait for the result of an exchange. A cancelled caller does not cancel the exchange."""
    waiting = asyncio.ensure_future(exchange.result())
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        waiting.add_done_callback(_retrieve_error)  # nobody else waits for it; asyncio would log its error
        raise


def _retrieve_error(task: "asyncio.Task[AgentResult]") -> None:
    if not task.cancelled():
        task.exception()
