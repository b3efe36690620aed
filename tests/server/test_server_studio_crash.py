"""Kill -9 of a server whose variants are at work: after the restart each has its outcome, and nothing built is lost."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from crash_parts import Host, Server, Turn, endpoint

from weft.core.json import loads
from weft.sessions.sqlite import SqliteStore
from weft.sessions.store import iterate_events
from weft.testing import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


def _design(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """A page, and then a word about it that takes a while if the page is to be slow."""
    asked = str([message for message in messages if message["role"] == "user"][-1]["content"])
    if messages[-1]["role"] != "tool":
        return "I see. ", [("create_file", {"path": "index.html", "content": "<h1>Harbour</h1>\n"})]
    return "It is a page. " * (3000 if "slow" in asked else 2), []


async def test_a_kill_in_the_middle_keeps_every_variant_with_an_outcome(host: Host, tmp_path: Path) -> None:
    async with endpoint(_design, pause=0.01) as model, Server(host, tmp_path, model) as server:
        assert await server.start()
        async with server.client() as client:

            async def project(text: str) -> dict[str, Any]:
                async with client.post("/projects", json={"prompt": {"text": text}, "variants": 2}) as answer:
                    assert answer.status == 201, await answer.text()
                    return await answer.json()

            async def until(name: str, status: str) -> dict[str, Any]:
                async with asyncio.timeout(60), client.get(f"/projects/{name}/events") as stream:
                    async for line in stream.content:
                        if line.startswith(b"data: "):
                            state = loads(line[6:])["project"]
                            if all(each["status"] == status for each in state["versions"][0]["variants"]):
                                return state
                raise AssertionError("the stream ended first")

            quick = await project("A quick page")
            done = await until(quick["id"], "completed")
            slow = await project("A slow page")
            begun = await until(slow["id"], "running")
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
                kept = (await answer.json())["versions"][0]["variants"]
            wanted = done["versions"][0]["variants"]
            assert [(each["status"], each["usage"]) for each in kept] == [(e["status"], e["usage"]) for e in wanted]
            async with client.get(f"/projects/{slow['id']}") as answer:
                lost = (await answer.json())["versions"][0]["variants"]
            assert [each["status"] for each in lost] == ["failed", "failed"]
            assert all(each["error"]["message"].endswith(".") and each["ended"] for each in lost)
            async with client.get(f"{at}/1/files/index.html") as answer:
                assert await answer.read() == b"<h1>Harbour</h1>\n"
            async with client.post(f"{at}/1/retry") as answer:
                assert answer.status == 201, await answer.text()
        await server.kill()
    store = SqliteStore(server.database)
    for variant in (*kept, *lost):
        assert not check_log([event async for event in iterate_events(store, variant["session"])])
    await store.close()
