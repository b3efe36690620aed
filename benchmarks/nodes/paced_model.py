"""A model endpoint that speaks Chat Completions at a steady pace. Each piece of text carries the time of its birth."""

import asyncio
import json
import re
from contextlib import suppress
from time import time
from typing import Any

from aiohttp import web

BIRTH = re.compile(r"@(\d+\.\d+)")


class PacedModel:
    """Answers `pieces` pieces of text, `rate` of them a second."""

    def __init__(self, pieces: int, rate: float) -> None:
        self._pieces = pieces
        self._rate = rate
        self._runner: web.AppRunner | None = None
        self.requests = 0
        self.url = ""

    @property
    def port(self) -> int:
        assert self._runner is not None
        return self._runner.addresses[0][1]

    async def start(self, *, port: int = 0, reuse_port: bool = False) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, reuse_port=reuse_port)
        await site.start()
        self.url = f"http://127.0.0.1:{self.port}/v1"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        await request.json()
        self.requests += 1
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):  # the node was killed
            await self._send_all(response)
        return response

    async def _send_all(self, response: web.StreamResponse) -> None:
        begin = time()
        for number in range(self._pieces):
            await asyncio.sleep(max(0.0, begin + number / self._rate - time()))
            await self._send(response, {"content": f"{number}@{time():.6f} "})
        await self._send(response, {}, "stop")
        await response.write(b"data: [DONE]\n\n")

    async def _send(self, response: web.StreamResponse, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        chunk["choices"] = [choice]
        if finish is not None:
            chunk["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
