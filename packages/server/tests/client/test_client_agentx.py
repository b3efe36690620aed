"""`heald_server.AgentXClient` on the real server, and `react` on a remote agent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from client_bench import look
from client_served import OTHER, TOKEN, S, served
from cutting_proxy import cutting

import heald
import heald_server
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.sessions.store import iterate_events
from heald_server.client.errors import NoRemoteSession, ServerRefused, TokenRefused
from heald_server.dialects.registry import open_dialect
from heald_server.settings import ServerSettings

TURNS = (["Let me see. ", S.call("look", n=1), S.call("look", n=2)], "Done.", "More.")
PAGE_TITLE: JsonObject = {
    "name": "page_title",
    "description": "The title of the page.",
    "input_schema": {"type": "object", "properties": {"upper": {"type": "boolean"}}},
}


async def test_handlers_get_the_events_in_the_order_of_the_log(tmp_path: Path) -> None:
    seen: list[JsonObject] = []
    async with served(tmp_path, *TURNS, piece=3) as server:
        async with heald_server.AgentXClient(server.url, TOKEN) as agent:
            agent.react({"onEvent": seen.append})
            response = await agent.run("Go.")
            assert agent.session is not None
            session = agent.session
        log = [event async for event in iterate_events(server.context.sessions.store, session)]
    dialect = open_dialect("agentx", session)
    frames = [frame.data for event in log for frame in dialect.feed(event)]
    assert seen == frames
    assert response == frames[-1]
    assert response["data"]["assistantMessage"]["content"] == "Done."


async def test_no_event_is_lost_or_doubled_when_connections_break(tmp_path: Path) -> None:
    seen: list[JsonObject] = []
    turns = [[f"Step {turn}. " * 20, S.call("look", n=turn)] for turn in range(8)]
    async with cutting(cuts=40, longest=4000, seed=4) as proxy:
        settings = ServerSettings(port=0, origins=(proxy.url,), goodbye_seconds=0.5)
        async with served(tmp_path, *turns, "Done.", settings=settings, piece=5, pause=0.002) as server:
            proxy.to = server.port
            async with heald_server.AgentXClient(proxy.url, TOKEN) as agent:
                agent.react({"onEvent": seen.append})
                await asyncio.wait_for(agent.run("Go."), 60)
                session = str(agent.session)
            log = [event async for event in iterate_events(server.context.sessions.store, session)]
    dialect = open_dialect("agentx", session)
    assert proxy.made > 10
    assert seen == [frame.data for event in log for frame in dialect.feed(event)]


async def test_a_tool_use_message_is_new_once_and_updated_once(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    class Chat:
        def onToolUseMessage(self, event: JsonObject) -> None:  # noqa: N802
            seen.append(("new", event["data"]["toolResult"]["output"]["value"]))

        async def onToolUseMessageUpdate(self, event: JsonObject) -> None:  # noqa: N802
            await asyncio.sleep(0)
            seen.append(("update", event["data"]["toolResult"]["output"]["value"]))

    async with served(tmp_path, *TURNS) as server, heald_server.AgentXClient(server.url, TOKEN) as agent:
        agent.react(Chat)
        await agent.run("Go.")
    assert [kind for kind, _ in seen] == ["new", "new", "update", "update"]
    assert [value for kind, value in seen if kind == "new"] == ["", ""]
    assert all(value for kind, value in seen if kind == "update")


async def test_a_tool_that_the_client_runs(tmp_path: Path) -> None:
    script = ([S.call("page_title", upper=True)], "It is there.")
    results: list[JsonObject] = []
    async with (
        served(tmp_path, *script) as server,
        heald_server.AgentXClient(server.url, TOKEN, client_tools=[PAGE_TITLE]) as agent,
    ):

        async def run_tool(event: JsonObject) -> None:
            await agent.send_tool_result(event["data"]["id"], {"title": "HOME"})

        agent.react({"onToolCall": run_tool, "onToolResult": lambda event: results.append(event["data"])})
        await asyncio.wait_for(agent.run("Which page?"), 120)
        with pytest.raises(ServerRefused):
            await agent.send_tool_result(results[0]["toolId"], "late")
    assert (results[0]["isError"], results[0]["content"]) == (False, '{"title":"HOME"}')


async def test_a_failing_handler_stops_nothing(tmp_path: Path) -> None:
    seen: list[str] = []

    def breaks(_: JsonObject) -> None:
        raise RuntimeError("broken")

    async def breaks_later(_: JsonObject) -> None:
        raise RuntimeError("broken")

    async with served(tmp_path, *TURNS) as server, heald_server.AgentXClient(server.url, TOKEN) as agent:
        agent.react({"onToolCall": breaks})
        agent.react({"onToolCall": breaks_later})
        unsubscribe = agent.react({"onExchangeResponse": lambda event: seen.append(event["data"]["status"])})
        await agent.run("Go.")
        unsubscribe()
        await agent.run("More.")
    assert seen == ["completed"]


async def test_what_the_server_refuses(tmp_path: Path) -> None:
    async with served(tmp_path, "Hello.") as server:
        with pytest.raises(TokenRefused):
            async with heald_server.AgentXClient(server.url, "wrong"):
                pass
        async with heald_server.AgentXClient(server.url, TOKEN) as agent:
            session = agent.session
            with pytest.raises(ServerRefused):
                await agent.approve("apr_unknown")
        with pytest.raises(ConfigurationError, match="closed"):
            await agent.send("Hello?")
        async with heald_server.AgentXClient(server.url, OTHER, session=session) as stranger:
            with pytest.raises(NoRemoteSession):
                await stranger.run("Hi")
    with pytest.raises(ConfigurationError, match="has its own model; omit it"):
        heald_server.AgentXClient("http://127.0.0.1:1", session="ses_1", model="x")
    with pytest.raises(ConfigurationError, match="nearest name is 'onToolResult'"):
        heald_server.AgentXClient("http://127.0.0.1:1").react({"onToolReslut": print})


async def test_subscribe_to_a_remote_agent(tmp_path: Path) -> None:
    seen: list[Any] = []
    async with served(tmp_path, *TURNS) as server, heald_server.connect(server.url, TOKEN) as agent:
        subscription = agent.subscribe(seen.append, types=["tool_result", "tool_call"])
        await agent.run("Go.")
        assert len(seen) == 4
        subscription.close()
        await agent.run("More.")
    assert len(seen) == 4


@pytest.mark.parametrize("kind", ["local", "stored", "remote"])
async def test_camel_case_handlers_of_any_agent_get_the_data_of_the_dialect(kind: str, tmp_path: Path) -> None:
    seen: list[JsonObject] = []
    reactor = {"onToolResult": seen.append, "onToolUseMessage": seen.append, "onExchangeResponse": seen.append}
    async with served(tmp_path, *TURNS) as server:
        agent: heald.AgentInterface
        if kind == "remote":
            agent = heald_server.connect(server.url, TOKEN)
        else:
            agent = heald.Agent(S(TURNS), tools=[look])
            if kind == "stored":
                agent = await heald.open_session("reacting", agent, store="memory:")
        unsubscribe = heald_server.react(agent, reactor)
        await agent.run("Go.")
        count = len(seen)
        unsubscribe()
        await agent.close()
    results = [event["data"] for event in seen if event["type"] == "tool_result"]
    messages = [event["data"] for event in seen if event["type"] == "tool_use_message"]
    assert [result["toolId"] for result in results] == [message["toolCall"]["id"] for message in messages]
    assert seen[-1]["data"]["stopReason"] == "end_turn"
    assert count == len(seen) == 5


def test_an_agent_names_the_place_for_camel_case_handlers() -> None:
    class Chat:
        def on_text_delta(self, event: heald.events.Event) -> None: ...

        def onToolResult(self, event: heald.events.Event) -> None: ...  # noqa: N802

    with pytest.raises(
        ConfigurationError, match=r"'onToolResult'; name it 'on_tool_result', or .* heald_server\.react"
    ):
        heald.Agent(S([])).subscribe(Chat())
