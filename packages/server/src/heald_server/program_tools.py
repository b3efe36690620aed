"""Tools of the program that runs the server."""

from collections.abc import Callable, Mapping, Sequence

from heald.tools.definitions import Tool
from heald.tools.registry import ToolLike

ProgramToolSource = Callable[[], Mapping[str, ToolLike]]
"""Returns the tools of the program that runs the server, by name, as they are now."""


class ProgramTools:
    """The tools of the program that a session names, as they are now: an MCP server may change its own."""

    def __init__(self, names: Sequence[str], source: ProgramToolSource) -> None:
        self._names = names
        self._source = source

    @property
    def tools(self) -> list[Tool]:
        offered = self._source()
        return [tool for name in self._names if isinstance(tool := offered.get(name), Tool)]

    @property
    def version(self) -> int:
        return hash(tuple(map(id, self.tools)))
