"""What the tests of MCP share: servers to start, and calls as a runtime makes them."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from heald.core.events import ToolOutputDelta
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.mcp import McpServer, McpServers
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_output import ToolOutput
from mcp_host import forked_command

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


async def run(tool: Tool, outputs: list[str] | None = None, **arguments: Any) -> ToolOutput:
    def emit(payload: Payload) -> None:
        if outputs is not None and isinstance(payload, ToolOutputDelta):
            outputs.append(payload.text)

    ctx = ToolContext(
        ToolCall(id="c1", name=tool.name, input=arguments),
        None,  # pyright: ignore[reportArgumentType]
        emit=emit,
        keep=SessionObjects(),
        ask=None,  # pyright: ignore[reportArgumentType]
    )
    return await tool.run(arguments, ctx)


async def until(true: Callable[[], object], seconds: float = 120.0) -> None:
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
    pids: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                pids.add(int(stat.parent.name))
        except OSError:
            continue
    return pids


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
