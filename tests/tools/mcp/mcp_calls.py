"""What the tests of MCP share: servers to start, and calls as a runtime makes them."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_host import forked_command
from weft.core.events import ToolOutputDelta
from weft.core.messages import ToolCall
from weft.core.payload import Payload
from weft.tools.context import SessionObjects, ToolContext
from weft.tools.definitions import Tool
from weft.tools.mcp import McpServer, McpServers
from weft.tools.results import ToolOutput

HERE = Path(__file__).parent


def real(**options: Any) -> McpServer:
    """A server made with the protocol's own package."""
    options.setdefault("connect_timeout", 180.0)
    return McpServer(name="real", command=sys.executable, args=(str(HERE / "mcp_real_server.py"),), **options)


def raw(*ways: str, name: str = "raw", **options: Any) -> McpServer:
    """A server that misbehaves."""
    return McpServer(name=name, command=sys.executable, args=(str(HERE / "mcp_raw_server.py"), *ways), **options)


def forked(name: str, script: str, *words: str, **options: Any) -> McpServer:
    """A server of a script here, forked from a process that has loaded the protocol's package."""
    options.setdefault("connect_timeout", 180.0)  # the machine may be busy
    command, *args = forked_command(str(HERE / script), *words)
    return McpServer(name=name, command=command, args=tuple(args), **options)


def by_name(servers: McpServers) -> dict[str, Tool]:
    return {tool.name: tool for tool in servers.tools}


async def run(tool: Tool, shown: list[str] | None = None, **arguments: Any) -> ToolOutput:
    def emit(payload: Payload) -> None:
        if shown is not None and isinstance(payload, ToolOutputDelta):
            shown.append(payload.text)

    ctx = ToolContext(
        ToolCall(id="c1", name=tool.name, input=arguments),
        None,  # pyright: ignore[reportArgumentType]
        emit=emit,
        keep=SessionObjects(),
        ask=None,  # pyright: ignore[reportArgumentType]
    )
    return await tool.run(arguments, ctx)


async def until(true: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    found: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(stat.parent.name))
        except OSError:
            continue
    return found


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
