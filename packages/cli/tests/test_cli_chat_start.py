"""The start of `heald chat` in a real terminal: slow MCP servers are named, and what is typed meanwhile is sent."""

import sys
from pathlib import Path

from cli_tmux import NEEDS_TMUX, ColdTmux

from cli_pages import here
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX

SLOW_SERVER = """
import os, time
from mcp.server.mcpserver import MCPServer

while not os.path.exists("go"):
    time.sleep(0.05)
server = MCPServer("slow")
server.run("stdio")
"""


async def test_a_request_that_is_typed_while_servers_start_is_sent(tmp_path: Path) -> None:
    here("slow.py").write_text(SLOW_SERVER)
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello too.")) as server:
        place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        words = ["chat", *place, "--mcp", f"slow={sys.executable} slow.py"]
        async with ColdTmux(tmp_path, *words) as terminal:
            await terminal.shows("starting MCP server slow …")
            await terminal.enter("Hello")
            here("go").touch()
            screen = await terminal.shows("› Hello", "Hello too.", without="starting MCP server")
            assert screen.count("Hello\n") == 1  # it was not echoed before
            terminal.press("C-d")
            await terminal.shows("status 0")
            terminal.type("echoed")
            await terminal.shows("echoed")  # the terminal is as it was
