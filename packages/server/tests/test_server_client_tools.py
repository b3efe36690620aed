"""Tools that clients run, over REST and the sockets: raw clients, and everything that a client can get wrong."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from outer_program import outer_program

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.core.messages import ToolResult
from heald.tools.client_results import MAX_RESULT
from heald.tools.client_tools import MAX_TOOLS
from heald_check.checker import check_log
from heald_server import App
from heald_server.settings import ServerSettings
from serving_parts import OTHER, TOKEN, S, Served, served

WHERE = {
    "name": "where_am_i",
    "description": "Where the user is.",
    "input_schema": {"type": "object", "properties": {"exact": {"type": "boolean"}}},
}
ASKS = S.call("where_am_i", exact=True)


def _asks() -> heald.testing.ScriptedModel:
    return S([[ASKS], "In Oslo.", [ASKS, ASKS], "In Rome."], piece=4)


class Door:
    """One way in: REST, or one of the two sockets."""

    def __init__(self, server: Served, session: str, socket: aiohttp.ClientWebSocketResponse | None) -> None:
        self.server = server
        self.session = session
        self._socket = socket
        self._commands = 0

    async def order(self, command: dict[str, Any]) -> tuple[str, str]:
        """Send a command. Returns the code and the sentence of the refusal, or empty texts."""
        if self._socket is None:
            path, body = _as_request(command)
            method = "PATCH" if command["type"] == "set_client_tools" else "POST"
            async with self.server.client.request(method, f"/sessions/{self.session}{path}", json=body) as answer:
                return _refusal(await answer.json() if answer.status >= 400 else {})
        self._commands += 1
        await self._socket.send_json({"session": self.session, "id": self._commands, **command})
        async with asyncio.timeout(60):
            while True:
                frame = await self._socket.receive_json()
                if frame["type"] in ("reply", "error") and frame["id"] == self._commands:
                    return _refusal(frame)

    async def send(self, text: str, **more: Any) -> None:
        assert await self.order({"type": "send", "text": text, **more}) == ("", "")

    async def result(self, call_id: Any, content: Any, **more: Any) -> tuple[str, str]:
        return await self.order({"type": "tool_result", "call_id": call_id, "content": content, **more})

    async def pending(self, count: int = 1) -> list[str]:
        """Wait until calls wait for a client."""
        async with asyncio.timeout(60):
            while True:
                async with self.server.client.get(f"/sessions/{self.session}/pending") as answer:
                    calls = (await answer.json())["client_calls"]
                if len(calls) == count:
                    return [call["id"] for call in calls]
                await asyncio.sleep(0.02)

    async def ended(self, exchanges: int = 1) -> tuple[list[ExchangeResponse], list[ToolResult]]:
        """Wait for the end of the exchanges. The log breaks no invariant."""
        async with asyncio.timeout(60):
            while True:
                log = await self.server.log(self.session)
                ends = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
                if len(ends) == exchanges:
                    assert not check_log(log)
                    return ends, [event.data for event in log if isinstance(event.data, ToolResult)]
                await asyncio.sleep(0.02)


def _as_request(command: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    body = {name: value for name, value in command.items() if name != "type"}
    match command["type"]:
        case "send":
            return "/messages", body
        case "tool_result":
            return "/tool_results", body
        case "cancel":
            return "/cancel", body
        case _:
            return "", {"client_tools": body["tools"]}


def _refusal(answer: dict[str, Any]) -> tuple[str, str]:
    error = answer.get("error")
    return (error["code"], error["message"]) if error else ("", "")


@asynccontextmanager
async def door_of(server: Served, kind: str, **body: Any) -> AsyncGenerator[Door]:
    session = await server.session(**body)
    if kind == "rest":
        yield Door(server, session, None)
        return
    path = "/ws" if kind == "ws" else f"/sessions/{session}/ws"
    async with server.client.ws_connect(path) as socket:
        yield Door(server, session, socket)


DOORS = ["rest", "ws", "session-ws"]


@pytest.mark.parametrize("kind", DOORS)
async def test_a_client_registers_is_asked_and_answers(kind: str, tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, kind) as door:
        assert await door.order({"type": "set_client_tools", "tools": [WHERE]}) == ("", "")
        await door.send("Where am I?")
        (call,) = await door.pending()
        async with server.client.get(f"/sessions/{door.session}") as answer:
            view = await answer.json()
        assert (view["client_calls"], view["settings"]["client_tools"]) == ([call], ["where_am_i"])
        assert await door.result(call, [{"type": "text", "text": "Oslo"}]) == ("", "")
        (end,), (result,) = await door.ended()
        assert (end.status, result.status, result.text) == ("completed", "ok", "Oslo")
        async with server.client.get(f"/sessions/{door.session}/client_tools") as answer:
            assert [tool["name"] for tool in (await answer.json())["tools"]] == ["where_am_i"]


@pytest.mark.parametrize("kind", DOORS)
async def test_tools_come_with_the_message_and_with_a_new_session(kind: str, tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, kind, client_tools=[WHERE | {"name": "old"}]) as door:
        await door.send("Where am I?", client_tools=[WHERE])
        (call,) = await door.pending()
        assert await door.result(call, {"city": "Oslo"}) == ("", "")
        await door.ended()
        await door.send("And now?")
        first, second = await door.pending(2)
        assert await door.result(second, "Rome", is_error=True) == ("", "")
        assert await door.result(first, {"type": "execution-denied", "reason": "No."}) == ("", "")
        _, results = await door.ended(2)
        assert [result.status for result in results] == ["ok", "error", "denied"]


@pytest.mark.parametrize("kind", DOORS)
async def test_bad_results_are_refused_and_the_exchange_is_unharmed(kind: str, tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, kind, client_tools=[WHERE]) as door:
        assert (await door.result("call_none", "x"))[0] == "conflict"  # nothing was ever asked
        await door.send("Where am I?")
        (call,) = await door.pending()
        refused = [
            ("conflict", await door.result("call_none", "x")),
            ("invalid", await door.result(7, "x")),
            ("invalid", await door.result(call, "x", is_error="yes")),
            ("invalid", await door.order({"type": "tool_result", "call_id": call})),
            ("invalid", await door.result(call, [{"type": "image", "data": "?"}])),
            ("too_large", await door.result(call, "x" * (MAX_RESULT + 1))),
        ]
        assert [expected for expected, _ in refused] == [code for _, (code, _) in refused]
        assert all(sentence.endswith(".") and "\n" not in sentence for _, (_, sentence) in refused)
        assert f"{MAX_RESULT:,}" in refused[-1][1][1]
        assert await door.pending() == [call]
        assert await door.result(call, "Oslo") == ("", "")
        assert (await door.result(call, "Rome"))[0] == "conflict"
        (end,), (result,) = await door.ended()
        assert (end.status, result.text) == ("completed", "Oslo")
        code, sentence = await door.result(call, "late")
        assert code == "conflict"
        assert "has a result already" in sentence


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("where_am_i", "Expected `array"),
        ([{"name": "read_file"}], "has a tool named 'read_file' of its own"),
        ([WHERE, WHERE], "two client tools"),
        ([{"name": "a", "parameters": {"type": "string"}}], "not of type object"),
        ([{"name": "a", "input_schema": {"type": "object", "properties": {"x": {"type": 7}}}}], "is not valid"),
        ([{"name": f"t{number}"} for number in range(MAX_TOOLS + 1)], f"more than {MAX_TOOLS}"),
    ],
)
async def test_bad_tools_are_refused_and_the_old_ones_stay(kind: str, tools: Any, words: str, tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, kind, client_tools=[WHERE]) as door:
        code, sentence = await door.order({"type": "set_client_tools", "tools": tools})
        assert code == "invalid"
        assert words in sentence
        code, sentence = await door.order({"type": "send", "text": "Go.", "client_tools": tools})
        assert code == "invalid"
        async with server.client.post("/sessions", json={"client_tools": tools}) as answer:
            assert answer.status == 400
        async with server.client.get("/sessions") as answer:
            assert [listed["id"] for listed in (await answer.json())["sessions"]] == [door.session]
        await door.send("Where am I?")
        (call,) = await door.pending()
        assert await door.result(call, "Oslo") == ("", "")
        await door.ended()


async def test_another_owner_sees_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, "rest", client_tools=[WHERE]) as door:
        await door.send("Where am I?")
        (call,) = await door.pending()
        headers = {"Authorization": f"Bearer {OTHER}"}
        body = {"call_id": call, "content": "Paris"}
        async with aiohttp.ClientSession(server.url, headers=headers) as other:
            async with other.post(f"/sessions/{door.session}/tool_results", json=body) as answer:
                assert (answer.status, (await answer.json())["error"]["code"]) == (404, "not_found")
            async with other.get(f"/sessions/{door.session}/client_tools") as answer:
                assert answer.status == 404
            async with other.ws_connect("/ws") as socket:
                await socket.send_json({"type": "tool_result", "id": 1, "session": door.session, **body})
                assert (await socket.receive_json())["error"]["code"] == "not_found"
        assert await door.result(call, "Oslo") == ("", "")
        _, (result,) = await door.ended()
        assert result.text == "Oslo"


async def test_a_second_client_answers_for_one_that_disconnected(tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server:
        async with door_of(server, "ws") as first:
            await first.send("Where am I?", client_tools=[WHERE])
            await first.pending()
        async with server.client.ws_connect(f"/sessions/{first.session}/ws") as socket:
            async with asyncio.timeout(60):
                while (event := await socket.receive_json())["type"] != "conversation_waiting":
                    pass
            (call,) = event["data"]["call_ids"]
            await socket.send_json({"type": "tool_result", "id": 1, "call_id": call, "content": "Oslo"})
            (end,), (result,) = await first.ended()
        assert (end.status, result.text) == ("completed", "Oslo")


async def test_a_reader_with_a_lost_cursor_gets_the_waiting_calls(tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, "rest", client_tools=[WHERE]) as door:
        await door.send("Where am I?")
        (call,) = await door.pending()
        async with server.client.ws_connect("/ws") as socket:
            await socket.send_json({"type": "subscribe", "session": door.session, "resume": 10**6})
            async with asyncio.timeout(60):
                while (frame := await socket.receive_json())["type"] != "reset":
                    pass
        assert [waiting["id"] for waiting in frame["snapshot"]["client_calls"]] == [call]
        assert frame["snapshot"]["status"] == "waiting"


async def test_the_time_limit_of_the_server_ends_the_wait(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, client_tool_timeout=0.3)
    async with served(tmp_path, _asks, settings=settings) as server, door_of(server, "ws") as door:
        await door.send("Where am I?", client_tools=[WHERE])
        (end,), (result,) = await door.ended()
        assert (end.status, result.status) == ("completed", "timeout")
        code, sentence = await door.result(result.id, "late")
        assert code == "conflict"
        assert "time limit of 0.3 s is over" in sentence


async def test_cancel_while_a_call_waits(tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, "ws", client_tools=[WHERE]) as door:
        await door.send("Where am I?")
        (call,) = await door.pending()
        assert await door.order({"type": "cancel"}) == ("", "")
        (end,), (result,) = await door.ended()
        assert (end.status, result.status) == ("cancelled", "cancelled")
        assert (await door.result(call, "late"))[0] == "conflict"


async def test_the_tools_may_change_while_a_call_waits(tmp_path: Path) -> None:
    """Other settings are refused while an exchange runs; the client tools are not."""
    async with served(tmp_path, _asks) as server, door_of(server, "rest", client_tools=[WHERE]) as door:
        await door.send("Where am I?")
        (call,) = await door.pending()
        other = WHERE | {"name": "what_time"}
        assert await door.order({"type": "set_client_tools", "tools": [WHERE, other]}) == ("", "")
        assert await door.result(call, "Oslo") == ("", "")
        await door.ended()
        await server.context.open_sessions.close_session(door.session)
        async with server.client.get(f"/sessions/{door.session}/client_tools") as answer:
            assert [tool["name"] for tool in (await answer.json())["tools"]] == ["where_am_i", "what_time"]


async def test_a_fork_keeps_the_client_tools(tmp_path: Path) -> None:
    async with served(tmp_path, _asks) as server, door_of(server, "rest", client_tools=[WHERE]) as door:
        async with server.client.post(f"/sessions/{door.session}/fork") as answer:
            fork = await answer.json()
        assert fork["settings"]["client_tools"] == ["where_am_i"]
        copy = Door(server, fork["id"], None)
        await copy.send("Where am I?")
        (call,) = await copy.pending()
        assert await copy.result(call, "Oslo") == ("", "")
        await copy.ended()


async def test_the_agent_of_a_program_accepts_client_tools() -> None:
    """Its own settings are fixed; the tools of its clients are not part of them."""

    @heald.tool
    async def locate_here() -> str:
        """A tool of the program."""
        return "own"

    app = App(heald.Agent(S([[ASKS], "In Oslo."]), tools=[locate_here], client_tools=[WHERE]), token=TOKEN)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with app, outer_program(app) as at, aiohttp.ClientSession(headers=headers) as client:
        sessions = f"{at}/assistant/sessions"
        async with client.post(sessions, json={"client_tools": [{"name": "locate_here"}]}) as answer:
            assert (answer.status, "of its own" in await answer.text()) == (400, True)
        async with client.post(sessions, json={"client_tools": [{"name": "more"}]}) as answer:
            session = (await answer.json())["id"]
        async with client.get(f"{sessions}/{session}/client_tools") as answer:
            assert [tool["name"] for tool in (await answer.json())["tools"]] == ["where_am_i", "more"]


def _types(log: list[Event]) -> list[str]:
    return [event.type for event in log]


async def test_a_call_of_the_server_runs_beside_one_of_the_client(tmp_path: Path) -> None:
    @heald.tool
    async def look() -> str:
        """Look."""
        return "seen"

    turns = [[ASKS, S.call("look")], "Done."]
    async with (
        served(tmp_path, lambda: S(turns), tools={"look": look}) as server,
        door_of(server, "rest", client_tools=[WHERE]) as door,
    ):
        await door.send("Go.")
        (call,) = await door.pending()
        async with asyncio.timeout(60):
            while "conversation_waiting" not in _types(await server.log(door.session)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert _types(await server.log(door.session)).count("tool_result") == 1
        assert await door.result(call, "Oslo") == ("", "")
        _, results = await door.ended()
        assert sorted(result.text for result in results) == ["Oslo", "seen"]
