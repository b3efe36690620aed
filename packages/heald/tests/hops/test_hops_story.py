"""One exchange in eight clients: begun in useChat, watched in AG-UI, approved by A2A, steered in ACP, finished in
/v1/responses."""

import asyncio
import random
import sys
from pathlib import Path

import pytest
from a2a_client import A2AHopClient
from acp_client import AcpHopClient
from ag_ui_client import AgUiClient
from crash_parts import Host, Server, endpoint
from hop_client import HopClient
from hop_run import TOOL, HopRun, work_script
from native_clients import AgentXHopClient, RestClient, SocketClient
from responses_client import ResponsesClient
from use_chat_client import UseChatClient

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")


async def _watch_until(client: HopClient, *, waits: bool) -> None:
    """Follow until the exchange waits for an approval, or until it ends."""
    async with asyncio.timeout(120):
        while not (client.approval is not None if waits else client.has_ended):
            await client.watch(1000)


async def test_one_exchange_goes_through_all_clients(host: Host, tmp_path: Path) -> None:
    folder, effects, tools = tmp_path / "server", tmp_path / "effects", tmp_path / "tools"
    tools.mkdir()
    (tools / "hop_effects.py").write_text(TOOL.format(effects=str(effects)))
    options = ("--permissions", "ask", "--tools", "none", "--tool", str(tools))
    async with endpoint(work_script) as model, Server(host, folder, model, *options) as server:
        assert await server.start()
        page, watcher, agent = UseChatClient(server.url), AgUiClient(server.url), A2AHopClient(server.url)
        never = random.Random(0)
        never.random = lambda: 1.0  # nobody kills the editor here
        editor, program = AcpHopClient(server.url, folder / "work", never), ResponsesClient(server.url)
        others = [RestClient(server.url), SocketClient(server.url), AgentXHopClient(server.url, never)]
        clients: list[HopClient] = [page, watcher, agent, editor, program, *others]

        await page.begin("Work story.", "story")
        for client in clients:
            client.session = page.session
        await _watch_until(watcher, waits=True)
        await _watch_until(agent, waits=True)
        await server.kill()
        assert await server.start()
        await agent.approve()
        await _watch_until(editor, waits=True)
        await editor.steer("Also this.", "")
        await _watch_until(program, waits=True)
        await program.approve()
        await _watch_until(program, waits=False)

        run = HopRun(server, effects, 0)
        await run.prove(clients, steers=["Also this."])
        assert run.counts.compared == len(clients) == 8
        assert effects.read_text().split() == ["story-1", "story-2"]
        for client in clients:
            await client.close()
