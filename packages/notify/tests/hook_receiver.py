"""A receiver of webhooks on a real socket, which checks each signature as the specification says."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from heald.tools.web.fetcher import allow_hosts


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    def is_signed_by(self, secret: str) -> bool:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return f"v1,{signature}" in self.headers["webhook-signature"].split(" ")


class HookReceiver:
    """Collects requests, and answers each with the status that `status_of` returns for its number, from 0."""

    def __init__(self, status_of: Callable[[int], int]) -> None:
        self.status_of = status_of
        self.received: list[Received] = []
        self.url = ""
        self.authority = ""
        self._changed = asyncio.Condition()

    async def answer(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        async with self._changed:
            self.received.append(Received(headers, await request.read()))
            self._changed.notify_all()
        location = {"Location": "/elsewhere"}
        return web.Response(status=self.status_of(len(self.received) - 1), headers=location)

    async def wait_for(self, count: int) -> list[Received]:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self.received) >= count)
        return self.received


def accept(_: int) -> int:
    """The status of a receiver that accepts each request."""
    return 204


@asynccontextmanager
async def receiving(status_of: Callable[[int], int] = accept) -> AsyncGenerator[HookReceiver]:
    """Receive until the block is left; in it the host of the receiver is allowed."""
    receiver = HookReceiver(status_of)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.authority = f"127.0.0.1:{runner.addresses[0][1]}"
    receiver.url = f"http://{receiver.authority}/hook"
    try:
        with allow_hosts([receiver.authority]):
            yield receiver
    finally:
        await runner.cleanup()
