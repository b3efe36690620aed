"""SIGTERM while clients of MCP and A2A wait: their responses are completed, by packages that are not ours."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from crash_parts import Host, Server, endpoint

pytest.importorskip("a2a")
pytest.importorskip("mcp")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

HEADERS = {"Accept": "application/json, text/event-stream", "A2A-Version": "1.0"}
INTRODUCTION = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a-client-of-the-tests", "version": "1"},
}


def _rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _message(name: str) -> dict[str, Any]:
    return {"messageId": name, "role": "ROLE_USER", "parts": [{"text": "Short 1."}]}


async def _open_mcp(client: aiohttp.ClientSession) -> dict[str, str]:
    """Introduce the client. Returns the headers of its further requests."""
    async with client.post("/mcp", json=_rpc("initialize", **INTRODUCTION), headers=HEADERS) as answer:
        assert answer.status == 200, await answer.text()
        headers = HEADERS | {"mcp-session-id": answer.headers["mcp-session-id"]}
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with client.post("/mcp", json=notice, headers=headers) as answer:
        assert answer.status == 202, await answer.text()
    return headers


async def test_responses_of_mcp_and_a2a_are_completed(host: Host, tmp_path: Path) -> None:
    async with endpoint(pause=0.15) as model, Server(host, tmp_path, model) as server:
        assert await server.start()
        async with server.client() as client:
            mcp = await _open_mcp(client)
            running = {"/a2a": asyncio.Event(), "/mcp": asyncio.Event()}

            async def ask(path: str, body: dict[str, Any], headers: dict[str, str]) -> bytes:
                async with client.post(path, json=body, headers=headers) as answer:
                    received = b""
                    async for piece in answer.content.iter_any():
                        received += piece
                        if b"That was" in received:
                            running[path].set()
                    assert answer.status == 200, received
                    return received

            call = _rpc("tools/call", name="run_agent", arguments={"prompt": "Short 1."})
            asked = [
                asyncio.create_task(ask("/a2a", _rpc("SendMessage", message=_message("one")), HEADERS)),
                asyncio.create_task(ask("/a2a", _rpc("SendStreamingMessage", message=_message("two")), HEADERS)),
                asyncio.create_task(ask("/mcp", call, mcp)),
            ]
            async with asyncio.timeout(60):
                for process in running.values():
                    await process.wait()
                await server.kill(signal.SIGTERM)
                plain, streamed, called = await asyncio.gather(*asked)
        assert b"TASK_STATE_COMPLETED" in streamed
        assert b"TASK_STATE_COMPLETED" in plain
        assert b'"status":"completed"' in called
        assert "Traceback" not in (tmp_path / "log").read_text()
