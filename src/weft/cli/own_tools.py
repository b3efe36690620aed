"""The tools that settings name besides the built-in ones: functions, folders of them, and MCP servers.

Every problem is one sentence that begins with its place: a file and its line, a variable or a flag.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.cli.options import Setting, find_own_tools
from weft.cli.terminal import print_note, show_progress
from weft.config.paths import display_path, user_file, working_folder
from weft.core.errors import ConfigurationError, WeftError
from weft.providers.config import is_foreign_key
from weft.tools.definitions import Tool
from weft.tools.function_tools import ToolLike
from weft.tools.own_functions import is_own, is_path, load_tools

if TYPE_CHECKING:
    from weft.config.mcp_servers import ConfiguredServer
    from weft.tools.mcp import McpServer, McpServers

NONE = "none"


class OwnTools:
    """The loaded functions and the running MCP servers."""

    def __init__(self, functions: Sequence[Tool] = (), servers: "McpServers | None" = None) -> None:
        self._functions = functions
        self._servers = servers
        self.problems: list[str] = []
        """Sentences about servers that could not be started."""

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
    options: argparse.Namespace, *, folders: Sequence[str | Path] = ()
) -> AsyncGenerator[OwnTools]:
    """Load the tools and start the servers that the options name. With `--tools none` there are none.

    The servers are informed of the folders. If one asks for a sign-in and this is a terminal, a browser opens.
    """
    if options.tools == [NONE]:
        yield OwnTools()
        return
    named = find_own_tools(options)
    functions = load_functions(named.names)
    if not named.servers:
        yield OwnTools(functions)
        return
    from weft.tools.mcp import McpServers
    from weft.tools.mcp.sign_in import SignIn

    configs: list[McpServer] = []
    problems: list[str] = []
    for each in named.servers:
        try:
            configs.append(configure_server(each))
        except ConfigurationError as error:
            if each.required:
                raise
            problems.append(f"{error} Its tools are missing.")
    places = {each.name: each.where for each in named.servers}
    sign_in = SignIn(open_sign_in if sys.stderr.isatty() else None)
    names = ", ".join(each.name for each in configs)
    show_progress(f"MCP server{'s' * (len(configs) > 1)} {names}", "starting")
    async with McpServers(configs, on_failure=lambda _: None, sign_in=sign_in, folders=folders) as servers:
        show_progress("")
        own = OwnTools(functions, servers)
        own.problems = problems
        for name, fault in servers.failures.items():
            sentence = f"{places[name]}: {fault} {_hint(servers.log(name))}"
            if next(each for each in named.servers if each.name == name).required:
                raise ConfigurationError(sentence)
            own.problems.append(f"{sentence} Its tools are missing.")
        yield own


async def open_sign_in(server: str, address: str) -> None:
    """Open the page on which the user signs in to a server."""
    print_note(f"The MCP server {server} asks you to sign in. If no browser opens, open this page:")
    print_note(address)
    import webbrowser

    await asyncio.to_thread(webbrowser.open, address)


async def list_server_tools(server: "ConfiguredServer") -> list[str]:
    """Start a server and return the names of its tools. Raises ConfigurationError if it does not start."""
    from weft.tools.mcp import McpServers

    async with McpServers([configure_server(server)], on_failure=lambda _: None) as servers:
        for fault in servers.failures.values():
            raise ConfigurationError(f"{server.where}: {fault} {_hint(servers.log(server.name))}")
        return [tool.name for tool in servers.tools]


def print_problems(own: OwnTools) -> None:
    for problem in own.problems:
        print_note(problem)


def load_functions(settings: Sequence[Setting]) -> list[Tool]:
    """Load the functions that the settings name. Raises ConfigurationError for the first problem."""
    builtin: set[str] = set()
    found: dict[str, tuple[Tool, str]] = {}
    for setting in settings:
        for name in setting.value:
            if setting.key == "tools" and not is_own(name):
                continue
            builtin = builtin or _builtin_tool_names()
            for tool in _load(name, setting):
                where = f"{setting.origin}: {name!r}"
                if tool.name in builtin:
                    raise ConfigurationError(f"{where} has the name {tool.name!r} of a built-in tool; rename it.")
                known, place = found.get(tool.name, (tool, where))
                if known is not tool and place != where:
                    raise ConfigurationError(f"{where} has the name {tool.name!r}, as has {place}; rename one.")
                if known is not tool:
                    raise ConfigurationError(f"{where} has two tools of the name {tool.name!r}; rename one.")
                found[tool.name] = tool, where
    return [tool for tool, _ in found.values()]


def _builtin_tool_names() -> set[str]:
    from weft.tools.builtin import builtin_tool_names  # who names no tools of their own loads none

    return builtin_tool_names()


def _load(name: str, setting: Setting) -> list[Tool]:
    folder = setting.folder or _user_folder(setting) or working_folder() or Path()
    if setting.folder is not None and is_path(name):
        root = setting.folder.resolve()
        if name.startswith("~") or not (root / name).resolve().is_relative_to(root):
            raise ConfigurationError(f"{setting.origin}: {name!r} is not in the same folder; a project names its own.")
    try:
        return load_tools(name, folder)
    except ConfigurationError as error:
        raise ConfigurationError(f"{setting.origin}: {error}") from None


def _user_folder(setting: Setting) -> Path | None:
    """The folder of the user's file, if the setting comes from there."""
    return user_file().parent if setting.origin.startswith(f"{display_path(user_file())}:") else None


def configure_server(server: "ConfiguredServer") -> "McpServer":
    """Make the configuration of a server. Raises ConfigurationError that begins with its place."""
    from weft.tools.mcp import McpServer

    for variable in server.variables() if server.of_project else ():
        if is_foreign_key(variable):
            raise ConfigurationError(
                f"{server.where}: a project's file may not use {variable}, which may be a key of yours; "
                f"write this into {display_path(user_file())}, or name a variable of its own."
            )
    table = server.expanded()
    folder = server.folder / table.pop("cwd", "")
    try:
        return McpServer(
            name=server.name,
            args=tuple(table.pop("args", ())),
            cwd=str(folder) if "command" in table else None,
            **{key: value for key, value in table.items() if key != "required"},
        )
    except WeftError as error:
        raise ConfigurationError(f"{server.where}: {error}") from None


def _hint(log: str) -> str:
    """The last line that a server printed, or what to do."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return f"It printed: {lines[-1][:200]}" if lines else "Check its command or url."
