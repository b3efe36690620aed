"""The tools that come with Weft, by name and by family."""

from collections.abc import Iterable
from difflib import get_close_matches

from weft.core.errors import ConfigurationError
from weft.tools.ask import ask_user
from weft.tools.files import FILE_TOOLS, READ_TOOLS
from weft.tools.shell.sandbox import Sandbox
from weft.tools.shell.tools import shell_tools
from weft.tools.todo import todo_list
from weft.tools.tool import Tool
from weft.tools.web.fetch import fetch_url


def families(sandbox: Sandbox | None = None) -> dict[str, tuple[Tool, ...]]:
    """What belongs together."""
    return {
        "files": FILE_TOOLS,
        "read": READ_TOOLS,
        "shell": tuple(shell_tools(sandbox)),
        "web": (fetch_url,),
        "todo": (todo_list,),
        "ask": (ask_user,),
    }


def named_tools(names: Iterable[str], sandbox: Sandbox | None = None) -> list[Tool]:
    """The tools of these names, each once. A family's name stands for all in it, `all` for all there are."""
    groups = families(sandbox)
    known = {tool.name: (tool,) for family in groups.values() for tool in family}
    offered: dict[str, tuple[Tool, ...]] = {**known, **groups, "all": tuple(t for f in groups.values() for t in f)}
    found: dict[str, Tool] = {}
    for name in names:
        if name not in offered:
            near = get_close_matches(name, offered, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join([*groups, 'all', *known])}."
            raise ConfigurationError(f"There is no tool {name!r}; {hint}")
        found |= {tool.name: tool for tool in offered[name]}
    return list(found.values())
