"""Tools by name and by family. A family is a plugin of the group `heald.tools`: a sequence of tools, or a function that
returns one for a sandbox."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from heald.core.errors import ConfigurationError
from heald.plugin_loader import has_plugin, load_plugin, plugin_names
from heald.tools.definitions import Tool

if TYPE_CHECKING:
    from heald.tools.shell.sandbox import Sandbox

ToolFamily = Sequence[Tool] | Callable[["Sandbox | None"], Sequence[Tool]]
"""An entry of `heald.tools`."""
ALL = "all"
"""The name of all tools together, except those of families that change how a model works."""
_NOT_IN_ALL = frozenset({"code"})


def families(sandbox: "Sandbox | None" = None) -> dict[str, tuple[Tool, ...]]:
    """Return the tools by family. One that cannot be loaded is left out."""
    tools: dict[str, tuple[Tool, ...]] = {}
    for name in plugin_names("tools"):
        try:
            tools[name] = load_family(name, sandbox)
        except ConfigurationError:
            continue  # `plugin_problems` lists it
    return tools


def load_family(name: str, sandbox: "Sandbox | None" = None) -> tuple[Tool, ...]:
    """Return the tools of a family. Raises ConfigurationError if it cannot be loaded, and KeyError if there is none."""
    plugin: ToolFamily = load_plugin("tools", name)
    try:
        entries: Sequence[object] = list(plugin(sandbox) if callable(plugin) else plugin)
    except Exception as error:
        raise ConfigurationError(
            f"The family of tools {name!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    tools = tuple(entry for entry in entries if isinstance(entry, Tool))
    if len(tools) < len(entries):
        raise ConfigurationError(
            f"The family of tools {name!r} cannot be loaded: it holds something that is not a tool; use @heald.tool."
        )
    return tools


@cache
def builtin_descriptions() -> frozenset[str]:
    """Return the descriptions of the tools of all families, by which a built-in tool is told from others."""
    return frozenset(tool.definition.description for family in families().values() for tool in family)


def tool_names() -> set[str]:
    """Return the names that `named_tools` accepts: tools, families and `all`."""
    return {ALL} | {name for family, tools in families().items() for name in (family, *(tool.name for tool in tools))}


def named_tools(names: Iterable[str], sandbox: "Sandbox | None" = None) -> list[Tool]:
    """Return the tools of these names, without duplicates. A name may be a tool, a family, or `all`."""
    tools: dict[str, Tool] = {}
    for name in names:
        tools |= {tool.name: tool for tool in _find_tools(name, sandbox)}
    return list(tools.values())


def _find_tools(name: str, sandbox: "Sandbox | None") -> Sequence[Tool]:
    if has_plugin("tools", name):
        return load_family(name, sandbox)
    groups = families(sandbox)
    tools = {tool.name: tool for family in groups.values() for tool in family}
    if name == ALL:
        return [tool for family, members in groups.items() if family not in _NOT_IN_ALL for tool in members]
    if name in tools:
        return [tools[name]]
    choices = [*groups, ALL, *tools]
    near = get_close_matches(name, choices, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(choices)}."
    raise ConfigurationError(f"There is no tool {name!r}; {hint}")
