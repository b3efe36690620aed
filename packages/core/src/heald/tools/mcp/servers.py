"""`McpServers`: starts MCP servers and provides their tools, resources and prompts."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.messages import ResultPart
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.mcp.apps import app_data
from heald.tools.mcp.catalogue import ListedTool, Offer
from heald.tools.mcp.config import McpFault, McpServer
from heald.tools.mcp.connection import McpConnection
from heald.tools.mcp.content import to_output
from heald.tools.mcp.prompts import McpPrompt, get_prompt
from heald.tools.mcp.requests import ServerRequests
from heald.tools.mcp.resources import read_resource, resource_tools
from heald.tools.mcp.sign_in import SignIn
from heald.tools.tool_output import ToolOutput

MAX_CHANGES = 1000
_PERSON_SECONDS = 3600.0
"""Added to the time limit of a call, since a server may ask the user; its own limit is shorter."""


class ToolChange(msgspec.Struct, frozen=True):
    """A change in the tools of a server. `changed` means another description or schema under the same name."""

    server: str
    name: str
    what: Literal["added", "removed", "changed"]


def _log_failure(fault: McpFault) -> None:
    logging.getLogger("heald").warning("%s", fault)


class McpServers:
    """Starts MCP servers, provides their tools, and stops them.

    `tools` lists the current tools. A tool object is bound to the description and schema that it was created with. If
    its server changes them, calls fail with `tool_changed` until the tool is read from `tools` and approved again.
    """

    def __init__(
        self,
        configs: Iterable[McpServer],
        *,
        on_failure: Callable[[McpFault], object] | None = None,
        sign_in: SignIn | None = None,
        folders: Sequence[str | Path] = (),
    ) -> None:
        self.folders = [Path(folder) for folder in folders]
        """The folders that the servers are informed of (roots)."""
        self.version = 0
        """Counts the changes of `tools`."""
        self._on_change: list[Callable[[], object]] = []
        self._on_failure = on_failure or _log_failure
        """Called with the fault of each optional server that could not be started. It is logged by default."""
        self.failures: dict[str, McpFault] = {}
        """The faults of optional servers that could not be started, by server name."""
        self.changes: list[ToolChange] = []
        """The changes since the servers were started, oldest first."""
        configs = tuple(configs)
        names = [config.name for config in configs]
        shared = {name for name in names if names.count(name) > 1}
        if shared:
            raise ConfigurationError(f"There are several MCP servers of the name {min(shared)!r}; give each its own.")
        sign_in = sign_in or SignIn()
        self._served = {config.name: _ServerTools(config, self, sign_in) for config in configs}

    @property
    def tools(self) -> list[Tool]:
        return [tool for served in self._served.values() for tool in served.tools]

    @property
    def names(self) -> list[str]:
        """The names of the servers, those that could not be started too."""
        return list(self._served)

    @property
    def prompts(self) -> list[McpPrompt]:
        """The prompts that the servers offer now."""
        return [
            McpPrompt.of(served.name, prompt)
            for served in self._served.values()
            for prompt in served.connection.prompts
        ]

    @property
    def resources(self) -> list[tuple[str, str, str]]:
        """The resources that the servers list now: server, address and title."""
        return [
            (served.name, resource.uri, resource.title or resource.name)
            for served in self._served.values()
            for resource in served.connection.resources
        ]

    async def read_resource(self, server: str, uri: str) -> list[ResultPart]:
        """Read a resource. Raises McpFault if that fails."""
        return await read_resource(self._find(server).connection, uri)

    async def get_prompt(self, prompt: McpPrompt, arguments: dict[str, str]) -> list[ResultPart]:
        """Return the content of a prompt. Raises McpFault if that fails."""
        return await get_prompt(self._find(prompt.server).connection, prompt.name, arguments)

    def on_change(self, callback: Callable[[], object]) -> None:
        """Call back when the tools of a server change."""
        self._on_change.append(callback)

    def note_change(self, changes: Sequence[ToolChange]) -> None:
        """Count a change of a server's tools."""
        self.version += 1
        self.changes += changes
        del self.changes[:-MAX_CHANGES]
        for callback in self._on_change:
            callback()

    def _find(self, server: str) -> "_ServerTools":
        if server not in self._served:
            raise ConfigurationError(
                f"There is no MCP server {server[:40]!r}; there are {', '.join(self._served) or 'none'}."
            )
        return self._served[server]

    def log(self, server: str) -> str:
        """Return the end of the standard error of a started server."""
        return self._served[server].connection.log.text() if server in self._served else ""

    async def __aenter__(self) -> "McpServers":
        try:
            await asyncio.gather(*(self._start(served) for served in self._served.values()))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop all servers and their child processes."""
        await asyncio.gather(*(served.connection.close() for served in self._served.values()))

    async def _start(self, served: "_ServerTools") -> None:
        try:
            await served.connection.start()
        except McpFault as fault:
            if served.connection.server.required:
                raise ConfigurationError(f"{fault} It is required: correct its configuration.") from None
            self.failures[served.name] = fault
            self._on_failure(fault)


class _ServerTools:
    """A server and its current tools."""

    def __init__(self, config: McpServer, servers: McpServers, sign_in: SignIn) -> None:
        self.name = config.name
        self.tools: list[Tool] = []
        self._servers = servers
        self._offered: Offer | None = None
        self._made: dict[str, Tool] = {}
        self.connection = McpConnection(
            config,
            requests=ServerRequests(config.name, lambda: servers.folders),
            make_tool=self._make_tool,
            on_tools=self._offer,
            sign_in=sign_in,
        )

    def _offer(self, offer: Offer) -> None:
        before, self._offered = self._offered, offer
        self._made = {listed.digest: tool for listed, tool in offer.values()}
        self.tools = [tool for _, tool in offer.values()]
        if self.connection.capabilities.resources is not None:
            limits = self.connection.server
            readers = resource_tools(self.name, self.connection, limits.connect_timeout + limits.call_timeout)
            self.tools += [tool for tool in readers if tool.name not in offer]
        if before is None:
            self._servers.note_change(())
            return
        changes: list[ToolChange] = []
        for name in {**before, **offer}:
            old, new = before.get(name), offer.get(name)
            if old is None:
                changes.append(ToolChange(self.name, name, "added"))
            elif new is None:
                changes.append(ToolChange(self.name, name, "removed"))
            elif old[0].digest != new[0].digest:
                changes.append(ToolChange(self.name, name, "changed"))
        if changes:
            self._servers.note_change(changes)

    def _make_tool(self, listed: ListedTool) -> Tool:
        """Make a tool. This compiles its schema, so it runs in a thread."""
        made = self._made.get(listed.digest)
        if made is not None:
            return made

        async def run(args: JsonObject, ctx: ToolContext) -> ToolOutput:
            await self.connection.start()  # after a crash the server may restart with other tools
            self._check(listed)
            result = await self.connection.call(listed.original, args, ctx)
            page = await self.connection.read_page(listed.app) if listed.app is not None else None
            return to_output(result, app_data(page, args, result) if page is not None else None)

        claim = " (marked as read-only)" if listed.read_only else ""
        line = f"{self.name}: {listed.title}{claim}"
        limits = self.connection.server
        return Tool(
            definition=listed.definition,
            run=run,
            summary=lambda _: line,
            timeout=limits.connect_timeout + limits.call_timeout + max(_PERSON_SECONDS, limits.task_timeout),
            identity=listed.digest,
        )

    def _check(self, listed: ListedTool) -> None:
        name = listed.definition.name
        now, _ = (self._offered or {}).get(name, (None, None))
        if now is None:
            raise McpFault(f"The MCP server {self.name!r} no longer offers {name!r}.", "tool_removed")
        if now.digest != listed.digest:
            raise McpFault(
                f"The MCP server {self.name!r} changed the description of {name!r} since it was offered; "
                "it is not called until it is offered and approved anew.",
                "tool_changed",
            )
