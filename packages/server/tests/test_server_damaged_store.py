"""A damaged file of sessions: what was accepted ends, and what comes later is refused, each with the reason."""

import asyncio
import os
import struct
from pathlib import Path

import heald
from serving_parts import S, served

REASON = "The file of the sessions is damaged"


def talkative() -> heald.testing.ScriptedModel:
    return S(["word " * 40_000] * 3, piece=50, pause=0.001)


async def damage_free_pages(folder: Path) -> None:
    """Make a file in which everything can be read and what is there can be changed, but which cannot grow."""
    async with served(folder, talkative) as server:
        session = await server.session()
        for _ in range(4):
            await server.store.put_blob(session, os.urandom(400_000))
        await server.store.delete(session)
    file = folder / "sessions.db"
    data = bytearray(file.read_bytes())
    (size,) = struct.unpack(">H", data[16:18])
    (trunk,) = struct.unpack(">I", data[32:36])
    at = (trunk - 1) * size
    data[at + 4 : at + 8] = b"\x7f\xff\xff\xff"  # the number of free pages that this page lists
    file.write_bytes(data)


async def test_an_exchange_ends_and_further_ones_are_refused(tmp_path: Path) -> None:
    await damage_free_pages(tmp_path)
    async with served(tmp_path, talkative) as server:
        session = await server.session()
        await server.send(session)
        async with asyncio.timeout(60):
            async with server.client.get(f"/sessions/{session}/events?after=0") as stream:
                assert b'"reason":"store"' in await stream.read()
            async with server.client.get(f"/sessions/{session}/events?after=0") as stream:
                assert stream.status == 503
                assert REASON in await stream.text()
        bodies = {"/sessions": {}, f"/sessions/{session}/messages": {"text": "Go on."}}
        for path, body in bodies.items():
            async with server.client.post(path, json=body) as answer:
                assert answer.status == 503
                assert REASON in await answer.text()
        async with server.client.get("/ready") as answer:
            assert answer.status == 503
        async with server.client.get(f"/sessions/{session}") as answer:
            assert answer.status == 200, "what is there can be read"
        async with server.client.ws_connect("/ws") as socket:
            await socket.send_json({"type": "subscribe", "session": session, "id": 1})
            assert REASON in (await socket.receive_json())["error"]["message"]
