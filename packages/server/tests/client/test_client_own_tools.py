"""`heald_server.connect(tools=[…])`: functions of the client, called by the model of a session on a real server."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from client_bench import until
from client_served import TOKEN, S, client, served
from cutting_proxy import cutting

import heald
import heald_server
from heald.core.events import ClientToolRequested, ConversationWaiting
from heald.core.messages import ToolResult
from heald_check.checker import check_log
from heald_server.client.agent import RemoteAgent
from heald_server.client.client_tools import ClientToolRunner, split_tools
from heald_server.settings import ServerSettings


class Places:
    """Tools that remember how often they ran, and where."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.threads: set[int] = set()
        self.gate = asyncio.Event()
        self.stopped = 0

    def near(self, city: str) -> dict[str, str]:
        """A place near a city."""
        self.calls.append(city)
        self.threads.add(threading.get_ident())
        if city == "Atlantis":
            raise ValueError("It sank.")
        if city == "Home":
            raise heald.ToolFault("Private.", status="denied")
        return {"near": city}

    async def wait(self) -> str:
        """Wait until the test goes on."""
        self.calls.append("wait")
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return "waited"


def near(city: str) -> Any:
    return S.call("near", city=city)


def connected(url: str, places: Places, session: str | None = None) -> RemoteAgent:
    _, functions, definitions = split_tools([places.near, places.wait])
    return client(url, session, tools=functions, client_tools=definitions)


def results(messages: list[heald.Message]) -> list[tuple[str, str]]:
    blocks = [block for message in messages for block in message.content]
    return [(block.status, block.text) for block in blocks if isinstance(block, ToolResult)]


async def test_functions_run_here_and_errors_reach_the_model(tmp_path: Path) -> None:
    places = Places()
    turns = ([near("Oslo"), near("Atlantis"), near("Home"), S.call("look", n=1)], "Done.")
    async with (
        served(tmp_path, *turns) as server,
        heald_server.connect(server.url, TOKEN, tools=[places.near]) as agent,
    ):
        result = await agent.run("Go.")
        assert results(result.messages) == [
            ("ok", '{"near":"Oslo"}'),
            ("error", "ValueError: It sank."),
            ("denied", "The client did not run this call. Private."),
            ("ok", "saw 1"),
        ]
        assert sorted(places.calls) == ["Atlantis", "Home", "Oslo"]
        assert threading.get_ident() not in places.threads
        assert not check_log(await server.log(agent))


async def test_named_tools_are_those_of_the_server(tmp_path: Path) -> None:
    places = Places()
    turns = ([near("Oslo"), S.call("look", n=1), S.call("change", what="a")], "Done.")
    async with served(tmp_path, *turns) as server:
        async with heald_server.connect(server.url, TOKEN, tools=["look", places.near]) as agent:
            outcomes = results((await agent.run("Go.")).messages)
        assert [status for status, _ in outcomes] == ["ok", "ok", "unknown_tool"]


async def test_a_definition_is_answered_by_the_program(tmp_path: Path) -> None:
    async with served(tmp_path, [near("Oslo")], "Done.") as server:
        definition = heald.providers.ToolDefinition(name="near", description="A place.")
        async with heald_server.connect(server.url, TOKEN, tools=[definition]) as agent:
            exchange = agent.send("Go.")
            await until(lambda: agent.client_calls)
            agent.send_tool_result(agent.client_calls[0].id, "Bergen")
            assert results((await exchange.result()).messages) == [("ok", "Bergen")]


async def test_a_name_of_the_servers_own_is_refused(tmp_path: Path) -> None:
    def look(n: int) -> int:
        """Look."""
        return n

    async with served(tmp_path, "Hello.") as server:
        async with heald_server.connect(server.url, TOKEN, tools=[look]) as agent:
            with pytest.raises(heald.HealdError, match="has a tool named 'look' of its own"):
                await agent.run("Go.")
        async with heald_server.connect(server.url, TOKEN) as plain:
            await plain.run("Go.")
        with pytest.raises(heald.HealdError, match="of its own"):
            async with heald_server.connect(server.url, TOKEN, session=plain.session, tools=[look]):
                pass


async def test_a_call_from_while_the_connection_was_away_runs_once(tmp_path: Path) -> None:
    places = Places()
    turns = ([near("Oslo")], [S.call("wait")], [near("Rome")], "Done.")
    async with cutting(cuts=30, longest=4000) as proxy:
        settings = ServerSettings(port=0, origins=(proxy.url,), goodbye_seconds=0.5)
        async with served(tmp_path, *turns, settings=settings, pause=0.002, piece=1) as server:
            proxy.to = server.port
            async with connected(proxy.url, places) as agent:
                exchange = agent.send("Go.")
                await until(lambda: "wait" in places.calls)
                proxy.cut_all()
                places.gate.set()
                assert (await exchange.result()).text == "Done."
                log = await server.log(agent)
    assert proxy.made > 0
    assert places.calls == ["Oslo", "wait", "Rome"]
    assert sum(isinstance(event.data, ClientToolRequested) for event in log) == 3
    assert not check_log(log)


async def test_the_next_client_runs_what_the_last_one_did_not_answer(tmp_path: Path) -> None:
    first, second = Places(), Places()
    async with served(tmp_path, [S.call("wait"), near("Oslo")], "Done.") as server:
        async with connected(server.url, first) as agent:
            exchange = agent.send("Go.")
            await until(lambda: first.calls.count("wait") and results_so_far(agent) == 1)
            assert exchange.id
        assert first.stopped == 1
        second.gate.set()
        async with connected(server.url, second, agent.session) as other:
            assert other.current is not None
            result = await other.current.result()
        assert (result.text, second.calls) == ("Done.", ["wait"])  # the other call has its result
        assert results(result.messages) == [("ok", "waited"), ("ok", '{"near":"Oslo"}')]


def results_so_far(agent: RemoteAgent) -> int:
    calls = agent._mirror.state.tools.values()  # pyright: ignore[reportPrivateUsage]
    return sum(call.result is not None for call in calls)


async def test_a_call_that_is_over_is_stopped_here(tmp_path: Path) -> None:
    places = Places()
    async with served(tmp_path, [S.call("wait")], "Done.") as server, connected(server.url, places) as agent:
        exchange = agent.send("Go.")
        await until(lambda: places.calls)
        exchange.cancel("enough")
        assert (await exchange.result()).status == "cancelled"
        await until(lambda: places.stopped)


async def test_two_clients_watch_and_one_has_the_tool(tmp_path: Path) -> None:
    """Everybody sees the request; the client with the function answers."""
    places = Places()
    async with served(tmp_path, [near("Oslo"), near("Rome"), near("Nara")], "Done.") as server:
        async with connected(server.url, places) as agent:
            await agent.open()
            async with client(server.url, agent.session) as watcher:
                seen: list[str] = []
                watcher.subscribe(lambda event: seen.append(event.type))
                result = await agent.run("Go.")
                await until(lambda: "exchange_response" in seen)
        assert seen.count("client_tool_requested") == 3
        assert [status for status, _ in results(result.messages)] == ["ok"] * 3
        assert sorted(places.calls) == ["Nara", "Oslo", "Rome"]


async def test_the_agent_as_a_tool_keeps_its_functions(tmp_path: Path) -> None:
    places = Places()
    async with served(tmp_path, [near("Oslo")], "Inner.") as server, connected(server.url, places) as agent:
        outer = S([[S.call("expert", prompt="one")], "Done."])
        async with heald.Agent(outer, tools=[agent.as_tool("expert", "Knows it.")]) as caller:
            assert results((await caller.run("Go.")).messages) == [("ok", "Inner.")]
        assert places.calls == ["Oslo"]


async def test_the_log_waits_for_the_client_only_when_nothing_else_runs(tmp_path: Path) -> None:
    places = Places()
    async with served(tmp_path, [S.call("wait"), S.call("look", n=1)], "Done.") as server:
        async with connected(server.url, places) as agent:
            waits: list[ConversationWaiting] = []
            agent.subscribe(lambda event: waits.append(event.data), types=["conversation_waiting"])  # pyright: ignore[reportArgumentType]
            exchange = agent.send("Go.")
            await until(lambda: waits)
            assert results_so_far(agent) == 1
            places.gate.set()
            await exchange.result()
        assert len(waits) == 1


async def test_a_call_that_is_seen_twice_runs_once() -> None:
    """After the server lost the log that was received, the waiting calls are passed on a second time."""
    places = Places()
    sent: list[object] = []
    _, functions, _ = split_tools([places.near])
    runner = ClientToolRunner(functions, lambda _, content, __: sent.append(content))
    for _ in range(2):
        runner.start(ClientToolRequested("call_1", "near", {"city": "Oslo"}, 600.0))
    await until(lambda: sent)
    runner.start(ClientToolRequested("call_1", "near", {"city": "Oslo"}, 600.0))
    await runner.close()
    assert (places.calls, sent) == (["Oslo"], ['{"near":"Oslo"}'])
