"""Tools that a client of /v1 brings: the only ones unless the agent's are asked for, and first among equal names."""

from pathlib import Path
from typing import Any

import pytest

from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from heald_server.settings import ServerSettings
from serving_parts import S, Served, served

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = {"name": "read_file", "description": "The client's own.", "parameters": SCHEMA}
BODIES: dict[str, Any] = {
    CHAT: {"messages": [{"role": "user", "content": "Read it"}], "tools": [{"type": "function", "function": READ}]},
    RESPONSES: {"input": "Read it", "tools": [{"type": "function", **READ}]},
}


class Offers:
    """A model that notes what it is offered, and calls `read_file`."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []
        self.described: list[str] = []

    def __call__(self, request: ScriptedRequest) -> Script:
        self.names.append([tool.name for tool in request.tools])
        self.described += [tool.description for tool in request.tools if tool.name == "read_file"]
        last = request.messages[-1]
        if last.role == "tool":
            return "Result: " + "".join(block.text for block in last.content if isinstance(block, ToolResult))
        return S.call("read_file", path="a.txt")


async def _post(server: Served, api: str, body: dict[str, Any]) -> dict[str, Any]:
    async with server.client.post(api, json=body) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
@pytest.mark.parametrize(
    ("mode", "asked", "is_only"),
    [("only", None, True), ("only", True, False), ("beside", None, False), ("beside", False, True)],
)
async def test_the_agents_tools_are_off_unless_asked_for(
    api: str, mode: Any, asked: bool | None, is_only: bool, tmp_path: Path
) -> None:
    offers = Offers()
    settings = ServerSettings(port=0, client_tools=mode)
    async with served(tmp_path, lambda: S([offers] * 9), settings=settings) as server:
        more = {} if asked is None else {"agent_tools": asked}
        answer = await _post(server, api, BODIES[api] | more)
    (names,) = offers.names
    assert names.count("read_file") == 1
    assert (names == ["read_file"]) is is_only
    assert offers.described == ["The client's own."]
    assert "read_file" in str(answer)  # the client is asked to run it


async def test_the_label_of_the_server_asks_for_the_agents_tools(tmp_path: Path) -> None:
    offers = Offers()
    label = {"type": "mcp", "server_label": "heald", "require_approval": "never"}
    body = BODIES[RESPONSES] | {"tools": [*BODIES[RESPONSES]["tools"], label]}
    async with served(tmp_path, lambda: S([offers] * 9)) as server:
        await _post(server, RESPONSES, body)
    assert {"read_file", "write_file"} <= set(offers.names[0])


async def test_a_result_continues_and_the_agents_tools_come_back_without_the_clients(tmp_path: Path) -> None:
    offers = Offers()
    async with served(tmp_path, lambda: S([offers] * 9)) as server:
        first = (await _post(server, CHAT, BODIES[CHAT]))["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": "Mine."}
        messages = [*BODIES[CHAT]["messages"], first, result]
        second = (await _post(server, CHAT, BODIES[CHAT] | {"messages": messages}))["choices"][0]["message"]
        assert second["content"] == "Result: Mine."
        (info,) = (await server.context.sessions.list()).sessions
        await server.context.open_sessions.close_session(info.id)  # as after a restart
        asked = {"role": "user", "content": "Read it again"}
        third = (await _post(server, CHAT, {"messages": [*messages, second, asked]}))["choices"][0]["message"]
        assert len((await server.context.sessions.list()).sessions) == 1
    assert offers.names[:2] == [["read_file"], ["read_file"]]
    assert "write_file" in offers.names[2]
    assert "a.txt" in third["content"]  # the agent's own tool has run


async def test_an_agents_tool_cannot_be_called_where_only_the_clients_are(tmp_path: Path) -> None:
    def calls(request: ScriptedRequest) -> Script:
        last = request.messages[-1]
        if last.role == "tool":
            return ", ".join(block.status for block in last.content if isinstance(block, ToolResult))
        return S.call("write_file", path="a.txt", content="No.")

    async with served(tmp_path, lambda: S([calls] * 9)) as server:
        answer = await _post(server, CHAT, BODIES[CHAT])
    assert answer["choices"][0]["message"]["content"] == "unknown_tool"
