"""A client of the hops: what each of the eight can do, and what it knows of the exchange that it watches."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any, ClassVar

import aiohttp
from crash_parts import TOKEN
from exchange_view import ExchangeView

from heald.core.json import loads

SILENCE = 60.0
"""Seconds after which a client that hears nothing fails: no test waits for so long on purpose."""
LOST = (aiohttp.ClientError, ConnectionError, TimeoutError)
"""A connection that was cut. The client comes back."""


class Refused(Exception):
    """The server refused a request, for a reason that repeating does not change."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class HopClient(ABC):
    """One client of a session. Requests have ids, so that one that was cut can be repeated."""

    name: ClassVar[str]
    steers: ClassVar[bool] = False

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = ""
        self.approval: str | None = None
        """The approval that waits, as far as this client knows."""
        self.has_ended = False
        """The exchange is over, as far as this client knows."""
        self.cuts = 0

    @abstractmethod
    async def begin(self, text: str, request: str) -> None:
        """Ask. Without a session this creates one. Returns once the request is accepted."""

    @abstractmethod
    async def watch(self, most: int) -> None:
        """Follow the exchange for so many frames at most, or until it ends or waits for somebody."""

    @abstractmethod
    async def approve(self) -> None:
        """Allow the call that waits."""

    async def steer(self, text: str, request: str) -> None:
        raise NotImplementedError

    @abstractmethod
    async def view(self, exchange: str) -> ExchangeView:
        """What the client has of an exchange that is over."""

    async def settle(self) -> None:  # noqa: B027
        """Wait until all that the client sent is answered."""

    async def close(self) -> None:  # noqa: B027
        """Leave."""

    def renew(self) -> None:
        """Forget the exchange before: another one begins."""
        self.approval, self.has_ended = None, False

    # --- HTTP --------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def http(self) -> AsyncGenerator[aiohttp.ClientSession]:
        timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(self.url, headers=headers, timeout=timeout) as client:
            yield client

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        async with self.http() as client, client.request(method, path, json=body, headers=headers) as answer:
            if answer.status >= 400:
                raise Refused(answer.status, await answer.text())
            yield answer

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        async with self.stream(method, path, body) as answer:
            return loads(await answer.text())


async def data_frames(answer: aiohttp.ClientResponse) -> AsyncGenerator[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events."""
    async for line in answer.content:
        if line.startswith(b"data: {"):
            yield loads(line[6:])


async def first(frames: AsyncGenerator[dict[str, Any]], most: int) -> AsyncGenerator[dict[str, Any]]:
    """So many frames at most; the connection is closed behind them."""
    taken = 0
    async with aclosing(frames):
        async for frame in frames:
            yield frame
            taken += 1
            if taken >= most:
                return
