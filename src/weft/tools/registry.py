"""The tools of an agent, by name."""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from weft.core.errors import ConfigurationError
from weft.core.tools import ToolDefinition
from weft.tools.function import tool_of
from weft.tools.tool import Tool

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")

ToolLike = Tool | Callable[..., Any]


class Registry:
    """Finds a tool by the name a model uses. A plain function is made a tool on the way in."""

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: ToolLike) -> Tool:
        if not isinstance(tool, Tool):
            tool = tool_of(tool)
        if tool.name in self._tools:
            raise ConfigurationError(f"There are two tools named {tool.name!r}; give one of them another name.")
        if not _NAME.match(tool.name):
            raise ConfigurationError(f"{tool.name!r} is no name for a tool: use at most 64 letters, digits, _ and -.")
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> None:
        self._tools.pop(name, None)

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def nearest(self, name: str) -> str | None:
        """The name that was probably meant."""
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
