"""Pictures with more pixels than can be decoded safely are refused by their header, on every way into the server."""

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.media import MAX_PIXELS, describe_picture_fault
from serving_parts import served

S = heald.testing.ScriptedModel


def _png(width: int, height: int) -> bytes:
    """A PNG whose header says this size. Its data is short, as a bomb's is."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


BOMB = base64.b64encode(_png(30_000, 30_000)).decode()
ADDRESS = f"data:image/png;base64,{BOMB}"
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat completions": (
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ADDRESS}}]}],
        },
    ),
    "responses": (
        "/v1/responses",
        {"model": "m", "input": [{"role": "user", "content": [{"type": "input_image", "image_url": ADDRESS}]}]},
    ),
    "AI SDK": (
        "/api/chat",
        {
            "id": "c1",
            "messages": [
                {"id": "1", "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": ADDRESS}]}
            ],
        },
    ),
    "AG-UI": (
        "/agui",
        {
            "threadId": "t",
            "runId": "r",
            "state": {},
            "messages": [
                {
                    "id": "1",
                    "role": "user",
                    "content": [
                        {"type": "binary", "mimeType": "image/png", "data": BOMB},
                        {"type": "text", "text": "?"},
                    ],
                }
            ],
            "tools": [],
            "context": [],
            "forwardedProps": {},
        },
    ),
}


def test_the_header_decides() -> None:
    assert describe_picture_fault(_png(6000, 6000)) is None
    assert "30000x30000" in (describe_picture_fault(_png(30_000, 30_000)) or "")
    assert describe_picture_fault(b"<svg/>") is not None
    assert MAX_PIXELS >= 6000 * 6000


@pytest.mark.parametrize("way", REQUESTS)
async def test_clients_of_others(tmp_path: Path, way: str) -> None:
    path, body = REQUESTS[way]
    async with served(tmp_path, {"m": lambda: S(["Hello."])}) as server, server.client.post(path, json=body) as answer:
        text = await answer.text()
        assert answer.status in (400, 413), text
        assert "30000x30000" in text


async def test_messages_blobs_and_results(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        parts = [{"type": "image", "media_type": "image/png", "data": BOMB}]
        async with server.client.post(f"/sessions/{session}/messages", json={"content": parts}) as answer:
            assert answer.status == 413, await answer.text()
        assert await server.log(session) == []


async def test_a_tool_that_reads_one(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(_png(30_000, 30_000))
    async with heald.Agent(
        S([[S.call("read_file", path="bomb.png")], "Done."]), tools=["files"], workspace=tmp_path
    ) as agent:
        results: list[Any] = []
        agent.subscribe(lambda event: results.append(event.data), types=["tool_result"])
        await agent.run("Go.")
        assert "30000x30000" in results[0].text
