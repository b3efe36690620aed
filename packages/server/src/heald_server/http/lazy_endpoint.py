"""An ASGI application that is made by the first request for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from starlette.types import Receive, Scope, Send


class AsgiApp(Protocol):
    """An ASGI application."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]: ...


E = TypeVar("E", bound=AsgiApp)


class LazyEndpoint(Generic[E]):
    """Opens an ASGI application in a thread, with the first request."""

    def __init__(self, open_endpoint: Callable[[], E]) -> None:
        self._open_endpoint = open_endpoint
        self._opening = asyncio.Lock()
        self.opened: E | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self.open())(scope, receive, send)

    async def open(self) -> E:
        async with self._opening:
            if self.opened is None:
                self.opened = await asyncio.to_thread(self._open_endpoint)
        return self.opened
