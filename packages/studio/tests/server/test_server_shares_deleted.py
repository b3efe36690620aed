"""A link that was deleted lets no guest in from then on, and no guest stay: streams, sockets and previews end."""

import asyncio
from pathlib import Path
from time import time
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.json import encode, loads
from heald_server.access.tokens import AccessTokens, StoredToken, new_token, token_digest
from serving_parts import OTHER, TOKEN, S, Served
from walked_routes import RouteMethod, ask, whole_server

LONG = 30.0
"""Far more than it takes, and less than the answer of the model lasts."""


def page() -> heald.testing.ScriptedModel:
    writing = [S.call("create_file", path="index.html", content="<h1>Hi</h1>")]
    return S([writing, "word " * 40_000], piece=5, pause=0.01)


async def share_project(owner: Served, *, writable: bool) -> tuple[str, str, dict[str, str], str]:
    """A project that is being built: its path, its session, the headers of a guest, and the path of the link."""
    body = {"prompt": {"text": "A page."}, "stack": "html_css", "variants": 1}
    async with owner.client.post("/projects", json=body) as answer:
        assert answer.status == 201, await answer.text()
        project = await answer.json()
    path = f"/projects/{project['id']}"
    async with owner.client.post(f"{path}/shares", json={"writable": writable}) as answer:
        share = await answer.json()
    guest = {"Authorization": f"Bearer {OTHER}", "X-Heald-Share": share["secret"]}
    return path, project["versions"][0]["variants"][0]["session"], guest, f"{path}/shares/{share['id']}"


async def read_to_the_end(answer: aiohttp.ClientResponse) -> None:
    async with asyncio.timeout(LONG):
        async for _ in answer.content.iter_any():
            pass


async def wait_for(server: Served, path: str, headers: dict[str, str] | None = None) -> None:
    """Wait until a path can be read: a page is being written, or a server has yet to hear of a link."""
    async with asyncio.timeout(LONG):
        while (await ask(server, RouteMethod("GET", path), headers or {})).status != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def find_preview(server: Served, path: str, guest: dict[str, str]) -> str:
    """The address of the preview that a guest gets, once it can be opened."""
    await wait_for(server, path, guest)
    async with server.client.get(path, headers=guest) as answer:
        address: str = (await answer.json())["versions"][0]["variants"][0]["preview"]
    await wait_for(server, address)
    return address


async def delete(server: Served, link: str) -> None:
    async with server.client.delete(link) as answer:
        assert answer.status == 204


@pytest.mark.parametrize("nodes", [1, 2])
async def test_streams_sockets_and_previews_of_guests_end(tmp_path: Path, nodes: int) -> None:
    """On another server of the store too, which hears of it through the store."""
    async with whole_server(tmp_path, model=page) as owner, whole_server(tmp_path, model=page) as second:
        server = owner if nodes == 1 else second
        path, session, guest, link = await share_project(owner, writable=True)
        preview = await find_preview(server, path, guest)
        mine = await server.client.get(f"/sessions/{session}/events")
        streams = [
            await server.client.get(address, headers=guest)
            for address in (
                f"{path}/events",
                f"/sessions/{session}/events",
                f"/sessions/{session}/events?dialect=loop",
            )
        ]
        for stream in streams:
            assert stream.status == 200
            await stream.content.readany()
        socket = await server.client.ws_connect(f"/sessions/{session}/ws", headers=guest)
        await socket.send_json({"resume": None})
        await socket.receive_json()
        await delete(owner, link)
        for stream in streams:
            await read_to_the_end(stream)
            stream.close()
        async with asyncio.timeout(LONG):
            frames: list[dict[str, Any]] = [loads(message.data) async for message in socket]
        assert socket.close_code == 4401
        assert frames[-1]["reason"] == "token"
        assert (await ask(server, RouteMethod("GET", preview))).status == 404
        assert (await ask(server, RouteMethod("GET", path), guest)).status == 404
        assert await mine.content.readany(), "the owner's stream goes on"
        mine.close()
        await owner.client.post(f"/sessions/{session}/cancel", json={})


async def test_a_preview_of_a_guest_ends_with_the_token_of_the_guest_too(tmp_path: Path) -> None:
    async with whole_server(tmp_path, model=page) as server:
        path, session, guest, link = await share_project(server, writable=False)
        theirs = await find_preview(server, path, guest)
        mine = await find_preview(server, path, {"Authorization": f"Bearer {TOKEN}"})
        async with server.client.post("/tokens/rotate", headers={"Authorization": f"Bearer {OTHER}"}) as answer:
            token = (await answer.json())["token"]
        assert (await ask(server, RouteMethod("GET", theirs))).status == 404
        assert (await ask(server, RouteMethod("GET", mine))).status == 200
        fresh = await find_preview(server, path, guest | {"Authorization": f"Bearer {token}"})
        await delete(server, link)
        assert (await ask(server, RouteMethod("GET", fresh))).status == 404
        await server.client.post(f"/sessions/{session}/cancel", json={})


async def test_streams_end_when_a_token_of_the_store_expires(tmp_path: Path) -> None:
    async with whole_server(tmp_path, model=page) as server:
        token = new_token()
        tokens: AccessTokens = server.context.tokens
        record = encode(StoredToken(owner="brief", expires=time() + 1.0))
        await server.context.open_sessions.store.put_record("token", token_digest(token).hex(), record)
        await tokens.reload()
        holder = tokens.identify(token)
        assert holder is not None
        ended = asyncio.Event()
        tokens.on_revoked(holder, ended.set)
        async with asyncio.timeout(LONG):
            await ended.wait()
        assert tokens.identify(token) is None
