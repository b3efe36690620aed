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
    """The tools of an agent by name. Plain functions are converted to tools when they are added."""

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._sources: list[tuple[ToolSource, int, dict[str, Tool]]] = []  # with the version and the tools of it
        for tool in tools:
            if not isinstance(tool, Tool) and isinstance(tool, ToolSource):  # the second check is slow
                self._sources.append((tool, -1, {}))
            else:
                self.add(tool)
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
        return changed

    @property
    def has_sources(self) -> bool:
        """Whether tools may come and go."""
        return bool(self._sources)

    def add(self, tool: ToolLike) -> Tool:
        if isinstance(tool, Mapping):
            tool = declared_tool(cast("Mapping[str, Any]", tool))
        elif not isinstance(tool, Tool):
            tool = tool_of(cast("Callable[..., Any]", tool))
        if tool.name in self._tools:
            raise ConfigurationError(f"There are two tools named {tool.name!r}; give one of them another name.")
        if not TOOL_NAME.match(tool.name):
            raise ConfigurationError(
                f"{tool.name!r} is not a valid name for a tool: use at most 64 letters, digits, _ and -."
            )
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> None:
        self._tools.pop(name, None)

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def nearest(self, name: str) -> str | None:
        """Return the most similar tool name, or None."""
        from difflib import get_close_matches

        return next(iter(get_close_matches(name, self._tools, 1, 0.6)), None)

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [tool.definition for tool in self._tools.values()]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
