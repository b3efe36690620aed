"""Commands that a socket cannot read are answered with their id, so that their sender does not wait for ever."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heald_server import AgentXClient
from heald_server.client.errors import ServerRefused
from serving_parts import TOKEN, served

UNREADABLE = [
    ({"type": "send", "id": "cmd_1", "text": ["Hello"]}, "cmd_1"),
    ({"type": "send", "id": 7, "session": 3, "text": "Hello"}, 7),
    ({"type": "no_such_command", "id": "cmd_2"}, "cmd_2"),
    ({"id": "cmd_3", "text": "a command without a type"}, "cmd_3"),
    ({"type": "approve", "id": "cmd_4"}, "cmd_4"),
    ({"type": "ping", "id": "x" * 300}, "x" * 300),
    ({"type": "send", "text": ["Hello"]}, None),
    ({"type": "ping", "id": {"a": 1}}, None),
    (["no object"], None),
]


@pytest.mark.parametrize("path", ["/ws", "/sessions/{session}/ws", "/sessions/{session}/ws?dialect=agentx"])
async def test_an_unreadable_command_is_answered_with_its_id(path: str, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        async with server.client.ws_connect(path.format(session=session)) as socket:
            for command, identifier in UNREADABLE:
                await socket.send_json(command)
                frame = await _next_error(socket)
                assert (frame["id"], frame["error"]["code"]) == (identifier, "invalid"), command
            await socket.send_str('{"type": "send", "id": "cmd_5", ')
            assert (await _next_error(socket))["id"] is None
            await socket.send_json({"type": "ping", "id": 1})
            assert (await _next(socket, "pong"))["id"] == 1


async def test_an_unreadable_command_names_its_session(tmp_path: Path) -> None:
    async with served(tmp_path) as server, server.client.ws_connect("/ws") as socket:
        await socket.send_json({"type": "approve", "id": 1, "session": "ses_1"})
        assert (await _next_error(socket))["session"] == "ses_1"


async def test_a_client_of_the_server_does_not_wait_for_ever(tmp_path: Path) -> None:
    text: Any = ["Hello"]
    async with served(tmp_path) as server, AgentXClient(server.url, TOKEN) as agent, asyncio.timeout(120):
        with pytest.raises(ServerRefused, match="cannot be read"):
            await agent.send(text)


async def _next_error(socket: Any) -> dict[str, Any]:
    return await _next(socket, "error")


async def _next(socket: Any, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(120):
        while True:
            frame = await socket.receive_json()
            if frame["type"] == kind:
                return frame
