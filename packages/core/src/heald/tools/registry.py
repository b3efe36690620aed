"""The registry of an agent's tools."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from heald.core.errors import ConfigurationError
from heald.core.messages import ToolDefinition
from heald.tools.declared_tools import declared_tool
from heald.tools.definitions import TOOL_NAME, Tool
from heald.tools.function_tools import tool_of


@runtime_checkable
class ToolSource(Protocol):
    """Tools that change while an agent runs, such as those of MCP servers. `version` differs after each change."""

    @property
    def version(self) -> int: ...

    @property
    def tools(self) -> Sequence[Tool]: ...


ToolLike = Tool | Callable[..., Any] | Mapping[str, Any] | ToolSource


class Registry:
    """The tools of an agent by name. Plain functions are converted to tools when they are added.

    The tools that clients run lie over the agent's own: one of the same name hides the agent's as long as it is there.
    """

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        self._tools: dict[str, Tool] = {}  # the agent's own
        self._client_tools: dict[str, Tool] = {}
        self._client_only = False
        self._standing: set[str] = set()  # tools of the agent that are offered even where only the client's are
        self._offered = self._tools
        self._sources: list[tuple[ToolSource, int, dict[str, Tool]]] = []  # with the version and the tools of it
        for tool in tools:
            if not isinstance(tool, Tool) and isinstance(tool, ToolSource):  # the second check is slow
                self._sources.append((tool, -1, {}))
            else:
                self.add(tool)
        if self._sources:
            self.refresh()

    def refresh(self) -> bool:
        """Read the sources that changed. Returns whether there was one. A name that is in use is left out."""
        changed = False
        for at, (source, version, before) in enumerate(self._sources):
            if source.version == version:
                continue
            changed = True
            now = source.version
            offered = {tool.name: tool for tool in source.tools}
            for name, tool in before.items():
                if self._tools.get(name) is tool:
                    del self._tools[name]
            added = {name: tool for name, tool in offered.items() if name not in self._tools and TOOL_NAME.match(name)}
            self._tools |= added
            self._sources[at] = source, now, added
        if changed:
            self._lay_over()
        return changed

    @property
    def has_sources(self) -> bool:
        """Whether tools may come and go."""
        return bool(self._sources)

    def set_client_tools(self, tools: Sequence[Tool], *, only: bool = False) -> None:
        """Replace the tools that clients run. With `only` the agent's own are not offered, and cannot be called."""
        self._client_tools = {tool.name: tool for tool in tools}
        self._client_only = only
        self._lay_over()

    @property
    def agent_names(self) -> list[str]:
        """The names of the agent's own tools, hidden ones included."""
        return list(self._tools)

    def _lay_over(self) -> None:
        if not self._client_tools and not self._client_only:
            self._offered = self._tools
            return
        agent_tools = {
            name: tool
            for name, tool in self._tools.items()
            if name not in self._client_tools and (not self._client_only or name in self._standing)
        }
        self._offered = agent_tools | self._client_tools

    def add(self, tool: ToolLike, *, stands: bool = False) -> Tool:
        """Add a tool of the agent. One that `stands` is offered even where only the client's tools are."""
        if not isinstance(tool, Tool):
            is_declared = isinstance(tool, Mapping)
            tool = declared_tool(cast("Any", tool)) if is_declared else tool_of(cast("Callable[..., Any]", tool))
        name = tool.name
        if name in self._tools:
            raise ConfigurationError(f"There are two tools named {name!r}; give one of them another name.")
        self._tools[name] = tool
        if stands:
            self._standing.add(name)
        if self._offered is not self._tools:
            self._lay_over()
        return tool

    def remove(self, name: str) -> None:
        """Remove a tool of the agent."""
        self._tools.pop(name, None)
        self._lay_over()

    def find(self, name: str) -> Tool | None:
        return self._offered.get(name)

    def nearest(self, name: str) -> str | None:
        """Return the most similar tool name, or None."""
        from difflib import get_close_matches

        return next(iter(get_close_matches(name, self._offered, 1, 0.6)), None)

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [tool.definition for tool in self._offered.values()]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._offered.values())

    def __len__(self) -> int:
        return len(self._offered)

    def __contains__(self, name: object) -> bool:
        return name in self._offered
