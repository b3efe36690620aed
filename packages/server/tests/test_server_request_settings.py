"""The parameters of a request of /v1 hold for its whole exchange, also where another process continues it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import crash_parts
import pytest
from aiohttp import web
from crash_parts import Endpoint, Host, Server, endpoint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")


class RecordingEndpoint(Endpoint):
    """Keeps the bodies of its requests."""

    bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        return await super().answer(request)


async def test_a_continued_response_is_asked_for_with_the_same_parameters(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_parts, "Endpoint", RecordingEndpoint)
    bodies = RecordingEndpoint.bodies
    bodies.clear()
    async with (
        endpoint(lambda _: ("One word after the other. " * 60, []), 0.01) as model,
        Server(host, tmp_path, model) as server,
    ):
        assert await server.start()
        parameters = {"input": "Go.", "background": True, "temperature": 0.3, "max_output_tokens": 7700, "top_p": 0.5}
        async with server.client() as client, asyncio.timeout(60):
            async with client.post("/v1/responses", json=parameters) as answer:
                begun = await answer.json()
            while not bodies:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
        await server.kill()
        assert await server.start()
        async with server.client() as client, asyncio.timeout(60):
            while True:
                async with client.get(f"/v1/responses/{begun['id']}") as answer:
                    response = await answer.json()
                if response["status"] not in ("queued", "in_progress"):
                    break
                await asyncio.sleep(0.1)
    assert response["status"] == "completed", response
    assert len(bodies) == 2
    first, second = ({name: body[name] for name in body if name not in ("stream", "messages")} for body in bodies)
    assert (first["temperature"], first["top_p"]) == (0.3, 0.5)
    assert second == first
