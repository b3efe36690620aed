"""Sends to a client that reads slowly, as long as it reads at all."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Scope

from heald_server.http.connections import Connection


class StallTimeout:
    """Waits for a client that reads slowly, as long as it reads at all.

    A batch of events is far more than a slow line carries in the time limit. A client that was disconnected there would
    ask for the same batch for ever.
    """

    def __init__(self, scope: Scope, seconds: float) -> None:
        self._seconds = seconds
        self._connection: Connection | None = scope.get("state", {}).get("connection")
        """None under other servers, which do not show what was accepted."""

    async def send(self, send: Callable[[], Awaitable[None]]) -> None:
        """Send something. Raises `TimeoutError` once the client has accepted nothing for the time limit.

        `send` is called a second time if it was cancelled while it waited; it has sent nothing then.
        """
        connection = self._connection
        while True:
            before = connection.unaccepted if connection is not None else 0
            try:
                async with asyncio.timeout(self._seconds):
                    await send()
                return
            except TimeoutError:
                if connection is None or connection.unaccepted >= before:
                    raise
