"""The stream of a project ends with its client, its project and its token, and logs no error."""

import asyncio
import logging
from pathlib import Path

import aiohttp
import pytest
from studio_parts import atelier

from serving_parts import S


async def _read_event(stream: aiohttp.ClientResponse) -> bytes:
    async with asyncio.timeout(60):
        return await stream.content.readuntil(b"\n\n")


async def test_a_client_that_disconnects_leaves_no_error_and_no_subscription(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with atelier(tmp_path, {"one": lambda: S(["Done."])}) as server:
            project = await server.project(models=["one"], variants=1)
            await server.over(project["id"])
            for _ in range(5):
                async with server.client.get(f"/projects/{project['id']}/events") as stream:
                    assert (await _read_event(stream)).startswith(b"event: project_changed\ndata: {")
        assert server.studio.feed.last_published(project["id"]) == 0.0  # nobody is subscribed
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_the_stream_ends_when_the_project_is_deleted(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": lambda: S(["Done."])}) as server:
        project = await server.project(models=["one"], variants=1)
        await server.over(project["id"])
        async with server.client.get(f"/projects/{project['id']}/events") as stream:
            await _read_event(stream)
            await server.ask("DELETE", f"/projects/{project['id']}", 204)
            async with asyncio.timeout(60):
                await stream.content.read()
