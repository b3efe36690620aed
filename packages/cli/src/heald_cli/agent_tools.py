"""The tools that agents of files may name in a command."""

from collections.abc import Sequence

from heald.tools.families import named_tools
from heald.tools.registry import Registry, ToolLike
from heald.tools.shell.sandbox import Sandbox
from heald_cli.own_tools import OwnTools


class AgentTools:
    """Finds tools by name: built-in ones, and those of the user."""

    def __init__(
        self,
        session_tools: Sequence[ToolLike],
        own_tools: OwnTools,
        sandbox: Sandbox,
        *,
        folder_tools: Sequence[ToolLike] = (),
        is_limited: bool = False,
    ) -> None:
        """`session_tools` are those of agents that name none. With `is_limited` no agent gets another one. All agents
        get `folder_tools`, such as the one that reads skills."""
        self._session_tools = session_tools
        self._folder_tools = folder_tools
        self._own_tools = own_tools
        self._sandbox = sandbox
        self._is_limited = is_limited

    def find(self, names: Sequence[str] | None) -> list[ToolLike]:
        """Return the tools of these names, or those of the session. Raises ConfigurationError for an unknown name."""
        if names is None:
            return [*self._session_tools, *self._folder_tools]
        named_own = self._own_tools.by_name()
        tools = [
            *named_tools([name for name in names if name not in named_own], self._sandbox),
            *(named_own[name] for name in names if name in named_own),
        ]
        if self._is_limited:
            allowed = {tool.name for tool in Registry(self._session_tools)}
            tools = [tool for tool in tools if tool.name in allowed]
        return [*tools, *self._folder_tools]
