"""Kill -9 of a server whose variants are at work: after the restart each is finished, and nothing built is lost."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from crash_parts import Host, Server, Turn, endpoint

from crash_points import POINTS
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")


def _design(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """A page, and then a word about it that takes a while if the page is to be slow."""
    asked = str([message for message in messages if message["role"] == "user"][-1]["content"])
    if messages[-1]["role"] != "tool" or "not known whether it took effect" in str(messages[-1]["content"]):
        return "I see. ", [("create_file", {"path": "index.html", "content": "<h1>Harbour</h1>\n"})]
    return "It is a page. " * (150 if "slow" in asked else 2), []


async def until(client: aiohttp.ClientSession, name: str, status: str) -> dict[str, Any]:
    """Wait until all variants of a project have a status."""
    async with asyncio.timeout(60), client.get(f"/projects/{name}/events") as stream:
        async for line in stream.content:
            if line.startswith(b"data: "):
                state = loads(line[6:])["project"]
                if all(variant["status"] == status for variant in state["versions"][0]["variants"]):
                    return state
    raise AssertionError("the stream ended first")


async def test_a_kill_in_the_middle_keeps_every_variant_and_finishes_it(host: Host, tmp_path: Path) -> None:
    async with endpoint(_design, pause=0.01) as model, Server(host, tmp_path, model) as server:
        assert await server.start()
        async with server.client() as client:

            async def project(text: str) -> dict[str, Any]:
                async with client.post("/projects", json={"prompt": {"text": text}, "variants": 2}) as answer:
                    assert answer.status == 201, await answer.text()
                    return await answer.json()

            quick = await project("A quick page")
            done = await until(client, quick["id"], "completed")
            slow = await project("A slow page")
            begun = await until(client, slow["id"], "running")
            at = f"/projects/{slow['id']}/versions/{begun['versions'][0]['id']}/variants"
            async with asyncio.timeout(60):
                for number in (0, 1):
                    while True:
                        async with client.get(f"{at}/{number}/files") as answer:
                            if (await answer.json())["files"]:
                                break
                        await asyncio.sleep(0.05)
        await server.kill()
        assert await server.start()
        async with server.client() as client:
            async with client.get(f"/projects/{quick['id']}") as answer:
                finished = (await answer.json())["versions"][0]["variants"]
            before = done["versions"][0]["variants"]
            assert [(entry["status"], entry["usage"]) for entry in finished] == [
                (e["status"], e["usage"]) for e in before
            ]
            lost = (await until(client, slow["id"], "completed"))["versions"][0]["variants"]
            assert all(entry["error"] is None and entry["ended"] for entry in lost)
            assert all(entry["turns"] == 2 for entry in lost)
            async with client.get(f"{at}/1/files/index.html") as answer:
                assert await answer.read() == b"<h1>Harbour</h1>\n"
            async with client.post(f"{at}/1/retry") as answer:
                assert answer.status == 201, await answer.text()
        await server.kill()
    store = SqliteStore(server.database)
    for variant in (*finished, *lost):
        assert not check_log([event async for event in iterate_events(store, variant["session"])])
    await store.close()


AT = {
    "lease.taken": 1,
    "append.before": 8,
    "append.between": 10,
    "append.commit": 9,
    "append.after": 11,
    "release.after": 8,
    "tool.before": 1,
    "tool.after": 1,
}
"""At which passage the server dies, while the variant is built."""
ELSEWHERE = {"recovery.before", "recovery.after"}
"""Points of the next server."""


def test_every_point_is_killed_at() -> None:
    assert set(AT) | ELSEWHERE == set(POINTS)


@pytest.mark.parametrize("point", AT)
async def test_a_variant_is_finished_wherever_its_server_dies(host: Host, tmp_path: Path, point: str) -> None:
    requests = 0

    def counted(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        nonlocal requests
        requests += 1
        return _design(messages)

    async with endpoint(counted, pause=0.01) as model, Server(host, tmp_path, model) as server:
        assert await server.start(f"{point}:{AT[point]}")
        async with server.client() as client:
            with suppress(aiohttp.ClientError, ConnectionError):
                async with client.post("/projects", json={"prompt": {"text": "A slow page"}, "variants": 1}) as answer:
                    assert answer.status == 201
        assert await server.died() == signal.SIGKILL
        assert await server.start()
        async with server.client() as client:
            async with client.get("/projects") as answer:
                (project,) = (await answer.json())["projects"]
            done = await until(client, project["id"], "completed")
            (variant,) = done["versions"][0]["variants"]
            at = f"/projects/{project['id']}/versions/{done['versions'][0]['id']}/variants/0/files/index.html"
            async with client.get(at) as answer:
                assert await answer.read() == b"<h1>Harbour</h1>\n"
        await server.kill()
    store = SqliteStore(server.database)
    log = [event async for event in iterate_events(store, variant["session"])]
    await store.close()
    assert not check_log(log)
    starts = sum(event.type == "message_start" for event in log)
    assert starts <= requests <= starts + 1
    assert sum(event.type == "file_changed" for event in log) == 1
