"""Attacks of an MCP server on its client: the event loop stays responsive, and memory and time are bounded."""

import asyncio
import gc
import math
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from mcp_calls import HERE, by_name, run, until
from test_mcp_http import answers, free_port

import heald
from heald.core.events import QuestionAsked
from heald.tools.mcp import McpFault, McpServer, McpServers
from heald.tools.mcp.catalogue import MAX_SCHEMAS

ALLOWED = 0.05
"""Seconds that the loop may block."""


class Ticks:
    """Measures by a sleeping task how long this process keeps the event loop from running.

    The measure is the processor time of the process, so that a busy machine does not count. What was loaded before is
    kept out of garbage collections.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    async def _tick(self) -> None:
        last = time.process_time()
        while True:
            await asyncio.sleep(0.005)
            now = time.process_time()
            self.longest = max(self.longest, now - last)
            last = now

    async def __aenter__(self) -> "Ticks":
        gc.collect()
        gc.freeze()
        self._task = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._task.cancel()
        gc.unfreeze()
        if kind is None:
            print(f"the loop was blocked for {self.longest * 1000:.0f} ms at most", file=sys.stderr)
            assert self.longest < ALLOWED


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def loaded() -> None:
    """Everything that is loaded at the first use is loaded."""
    async with hostile_http() as server, McpServers([hostile(), replace(server, name="web")]) as servers:
        assert servers.failures == {}
        await asyncio.gather(*(run(tool) for tool in servers.tools))
        async with heald.Agent(heald.testing.ScriptedModel(["hi"]), tools=[servers]) as agent:
            await agent.run("Hello.")


def hostile(*attacks: str, **options: Any) -> McpServer:
    words = (str(HERE / "mcp_hostile_server.py"), *attacks)
    settings: dict[str, Any] = {"call_timeout": 20.0} | options
    return McpServer(name="bad", command=sys.executable, args=words, **settings)


@asynccontextmanager
async def hostile_http(*attacks: str) -> AsyncGenerator[McpServer]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "mcp_hostile_server.py"), *attacks, str(port)
    )
    try:
        await until(lambda: answers(port), 60.0)
        yield McpServer(name="bad", url=f"http://127.0.0.1:{port}/mcp", call_timeout=20.0)
    finally:
        process.kill()
        await process.wait()


async def test_500_tools_with_schemas_of_50_kilobytes(caplog: pytest.LogCaptureFixture) -> None:
    async with Ticks(), McpServers([hostile("pages=20", connect_timeout=120.0)]) as servers:
        tools = servers.tools
        assert servers.failures == {}
        assert (await run(by_name(servers)["bad__t1"])).content == "hello"
        async with heald.Agent(heald.testing.ScriptedModel(["hi"]), tools=[servers]) as agent:
            await agent.run("Hello.")
    assert 0 < len(tools) < 500
    assert sum(len(str(tool.definition.input_schema)) for tool in tools) < 2 * MAX_SCHEMAS
    assert len([record for record in caplog.records if "left out" in record.message]) <= 21


@pytest.mark.parametrize("kind", [(), ("events",)], ids=["json", "events"])
async def test_the_same_over_http(kind: tuple[str, ...]) -> None:
    async with hostile_http("pages=20", *kind) as server, Ticks(), McpServers([server]) as servers:
        assert servers.failures == {}
        assert (await run(by_name(servers)["bad__t1"])).content == "hello"


async def test_one_page_of_25_megabytes_is_refused_at_once() -> None:
    start = time.monotonic()
    async with Ticks(), McpServers([hostile("pages=1", connect_timeout=60.0)]) as servers:
        assert "too large" in str(servers.failures["bad"])
        assert time.monotonic() - start < 55  # before the connection times out


async def test_a_list_without_end_is_cut() -> None:
    async with McpServers([hostile("endless", connect_timeout=60.0)]) as servers:
        assert servers.failures == {}
        assert len(servers.tools) == 100


async def test_a_flood_of_changes_is_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = 0
    from heald.tools.mcp import connection

    original = connection.list_tools

    async def count(client: Any) -> Any:
        nonlocal listed
        listed += 1
        return await original(client)

    monkeypatch.setattr(connection, "list_tools", count)
    start = time.monotonic()
    async with McpServers([hostile("flood")]) as servers, Ticks():
        await until(lambda: listed >= 4, 60.0)
        assert (await run(by_name(servers)["bad__t0"])).content == "hello"
        seconds = time.monotonic() - start
    assert listed <= 2 + math.log2(1 + seconds / 0.2)  # 0.2, 0.4, 0.8, 1.6 … seconds apart


@pytest.mark.parametrize("attack", ["nested", "numbers", "objects"])
async def test_results_that_are_slow_to_parse_are_refused(attack: str) -> None:
    async with McpServers([hostile(attack)]) as servers, Ticks():
        with pytest.raises(McpFault, match="too large"):
            await run(by_name(servers)["bad__t0"])


async def test_requests_without_end_are_cut() -> None:
    asked = 0

    async def on_question(question: QuestionAsked) -> str:
        nonlocal asked
        asked += 1
        return "Accept"

    async with McpServers([hostile("asks")]) as servers:
        model = heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("bad__t0")], "done"])
        async with heald.Agent(model, tools=[servers], permissions="auto", on_question=on_question) as agent:
            await agent.run("Go.")
    assert asked <= 50
