"""`McpServers`: the tools of some servers, for as long as a context lasts."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.mcp.catalogue import Listed
from weft.tools.mcp.config import McpServer
from weft.tools.mcp.connection import Connection
from weft.tools.mcp.faults import McpFault
from weft.tools.mcp.results import output_of
from weft.tools.outcome import ToolOutput
from weft.tools.tool import Tool

MAX_CHANGES = 1000
_MARGIN = 20.0


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A server offers something else than before. `changed`: under the same name, with other words or arguments."""

    server: str
    name: str
    what: Literal["added", "removed", "changed"]


class McpServers:
    """Starts servers, offers their tools, and ends them.

    `tools` is what they offer now. A tool that was taken from it keeps to the description and schema it had then: once
    its server describes it differently, a call is refused as `tool_changed`, and only the tool as taken from `tools`
    again, and approved again, runs.
    """

    def __init__(self, configs: Iterable[McpServer]) -> None:
        self.failures: dict[str, McpFault] = {}
        """Why a server that is not required could not be started, by its name."""
        self.changes: list[ToolChange] = []
        """What changed since the servers were started, the latest last."""
        configs = tuple(configs)
        names = [config.name for config in configs]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ConfigurationError(f"There are several MCP servers of the name {min(twice)!r}; give each its own.")
        self._served = [_Served(config, self.changes) for config in configs]

    @property
    def tools(self) -> list[Tool]:
        return [tool for served in self._served for tool in served.tools()]

    def log(self, server: str) -> str:
        """The last that a started server wrote to its error output."""
        return next((served.connection.log.text() for served in self._served if served.name == server), "")

    async def __aenter__(self) -> "McpServers":
        try:
            await asyncio.gather(*(self._start(served) for served in self._served))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all servers and what they started."""
        await asyncio.gather(*(served.connection.close() for served in self._served))

    async def _start(self, served: "_Served") -> None:
        try:
            await served.connection.start()
        except McpFault as fault:
            if served.connection.server.required:
                raise ConfigurationError(f"{fault} It is required: mend its configuration.") from None
            self.failures[served.name] = fault
            logging.getLogger("weft").warning("%s", fault)


class _Served:
    """A server and what it offers."""

    def __init__(self, config: McpServer, changes: list[ToolChange]) -> None:
        self.name = config.name
        self.connection = Connection(config, self._offer)
        self._changes = changes
        self._offered: dict[str, Listed] | None = None

    def tools(self) -> list[Tool]:
        return [self._tool(listed) for listed in (self._offered or {}).values()]

    def _offer(self, listed: dict[str, Listed]) -> None:
        before, self._offered = self._offered, listed
        if before is None:
            return
        for name in {**before, **listed}:
            old, new = before.get(name), listed.get(name)
            if old is None:
                self._changes.append(ToolChange(self.name, name, "added"))
            elif new is None:
                self._changes.append(ToolChange(self.name, name, "removed"))
            elif old.digest != new.digest:
                self._changes.append(ToolChange(self.name, name, "changed"))
        del self._changes[:-MAX_CHANGES]

    def _tool(self, listed: Listed) -> Tool:
        async def run(args: JsonObject, ctx: ToolContext) -> ToolOutput:
            await self.connection.start()  # after a crash it may come back with other tools
            self._check(listed)
            result = await self.connection.call(listed.original, args, lambda text: ctx.output(text, "progress"))
            return output_of(result)

        claim = " (says it only reads)" if listed.read_only else ""
        line = f"{self.name}: {listed.title}{claim}"
        limits = self.connection.server
        return Tool(
            definition=listed.definition,
            run=run,
            effect="any",
            summary=lambda _: line,
            timeout=limits.connect_timeout + limits.call_timeout + _MARGIN,
        )

    def _check(self, listed: Listed) -> None:
        name = listed.definition.name
        now = (self._offered or {}).get(name)
        if now is None:
            raise McpFault(f"The MCP server {self.name!r} no longer offers {name!r}.", "tool_removed")
        if now.digest != listed.digest:
            raise McpFault(
                f"The MCP server {self.name!r} changed what it says of {name!r} since it was offered; "
                "it is not called until it is offered and approved anew.",
                "tool_changed",
            )
