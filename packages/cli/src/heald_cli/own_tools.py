"""The tools that settings name besides the built-in ones: functions, folders of them, and MCP servers.

Every problem is one sentence that begins with its place: a file and its line, a variable or a flag.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from heald.commands.own_tool_settings import find_own_tools
from heald.commands.terminal import print_note, show_progress
from heald.core.errors import ConfigurationError
from heald.tools.definitions import Tool
from heald.tools.own_functions import is_own
from heald.tools.registry import ToolLike
from heald_cli.own_functions import load_functions
from heald_cli.own_servers import configure_server, failure_hint, open_sign_in

if TYPE_CHECKING:
    from heald.tools.mcp import McpServer, McpServers


NONE = "none"


class OwnTools:
    """The loaded functions and the running MCP servers."""

    def __init__(self, functions: Sequence[Tool] = (), servers: "McpServers | None" = None) -> None:
        self._functions = functions
        self._servers = servers
        self.problems: list[str] = []
        """Sentences about servers that could not be started."""
        self.on_problem: Callable[[str], object] | None = None
        """Called with each problem of a server that starts in the background."""
        self.starting: asyncio.Task[None] | None = None
        """Starts the servers, if they start in the background."""

    async def wait_started(self, seconds: float | None = None) -> bool:
        """Wait for servers that start in the background. Returns whether all have started, or failed, by then."""
        if self.starting is not None:
            await asyncio.wait([self.starting], timeout=seconds)
        return self.starting is None or self.starting.done()

    def add_problem(self, sentence: str) -> None:
        self.problems.append(sentence)
        if self.on_problem is not None:
            self.on_problem(sentence)

    @property
    def servers(self) -> "McpServers | None":
        """The running MCP servers, if settings name some."""
        return self._servers

    def sources(self) -> list[ToolLike]:
        """The functions, and the servers as a source of tools that change while an agent runs."""
        return [*self._functions, *([self._servers] if self._servers is not None else ())]

    def tools(self) -> list[Tool]:
        """The tools as they are now: a server may change its own."""
        return [*self._functions, *(self._servers.tools if self._servers is not None else ())]

    def by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools()}


def builtin_names(names: Sequence[str]) -> list[str]:
    """The names in `tools` that stand for built-in tools."""
    return [name for name in names if name != NONE and not is_own(name)]


@asynccontextmanager
async def open_own_tools(
    options: argparse.Namespace, *, folders: Sequence[str | Path] = (), waits: bool = True
) -> AsyncGenerator[OwnTools]:
    """Load the tools and start the servers that the options name. With `--tools none` there are none.

    The servers are informed of the folders. If one asks for a sign-in and this is a terminal, a browser opens. Without
    `waits` the servers start in the background, unless one is required, and their tools come when they have started.
    """
    if options.tools == [NONE]:
        yield OwnTools()
        return
    named = find_own_tools(options)
    functions = load_functions(named.names)
    if not named.servers:
        yield OwnTools(functions)
        return
    from heald.tools.mcp import McpServers
    from heald.tools.mcp.sign_in import SignIn

    configs: list[McpServer] = []
    problems: list[str] = []
    for server in named.servers:
        try:
            configs.append(configure_server(server))
        except ConfigurationError as error:
            if server.required:
                raise
            problems.append(f"{error} Its tools are missing.")
    places = {server.name: server.where for server in named.servers}
    waits = waits or any(server.required or "url" in server.table for server in named.servers)  # a sign-in prints
    sign_in = SignIn(open_sign_in if sys.stderr.isatty() else None)
    servers = McpServers(configs, on_failure=lambda _: None, sign_in=sign_in, folders=folders)
    own_tools = OwnTools(functions, servers)
    own_tools.problems = problems
    required = {server.name for server in named.servers if server.required}
    async with AsyncExitStack() as stack:

        async def start() -> None:
            await stack.enter_async_context(servers)
            for name, fault in servers.failures.items():
                sentence = f"{places[name]}: {fault} {failure_hint(servers.log(name))}"
                if name in required:
                    raise ConfigurationError(sentence)
                own_tools.add_problem(f"{sentence} Its tools are missing.")

        if waits:
            names = ", ".join(config.name for config in configs)
            show_progress(f"MCP server{'s' * (len(configs) > 1)} {names}", "starting")
            await start()
            show_progress("")
            yield own_tools
            return
        own_tools.starting = asyncio.create_task(start(), name="heald-mcp-start")
        try:
            yield own_tools
        finally:
            own_tools.starting.cancel()
            with suppress(asyncio.CancelledError):
                await own_tools.starting


def print_problems(own_tools: OwnTools) -> None:
    for problem in own_tools.problems:
        print_note(problem)
