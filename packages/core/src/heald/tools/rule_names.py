"""Checks that permission rules name tools: a rule with a misspelt name matches nothing and would permit everything."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from heald.core.arguments import nearest
from heald.core.errors import ConfigurationError
from heald.plugin_loader import load_plugins
from heald.tools.permissions import SECRETS, PermissionRule

_MISSPELT = 0.75
"""The likeness to the name of a tool from which on a name counts as misspelt."""
_WITHOUT_FAMILY = ("read_result",)
"""Tools of ours that agents get by themselves."""


def find_idle_rules(
    rules: Sequence[PermissionRule], names: Collection[str], *, may_grow: bool = False
) -> list[PermissionRule]:
    """Return the rules that match none of an agent's tools yet, and raise ConfigurationError for one that never will.

    A rule for a built-in tool that the agent does not have is not a mistake: rules are shared by agents. With
    `may_grow` further tools come later, such as those of MCP servers and clients: only a name that is almost one of a
    tool is an error then, and always for a tool of an MCP server, such as `github__search`.
    """
    idle = [rule for rule in rules if not _matches(rule, names)]
    if not idle:
        return []
    from heald.tools.families import families

    tools_by_family = {family: [tool.name for tool in tools] for family, tools in families().items()}
    ours = [name for tools in tools_by_family.values() for name in tools]
    choices = list(dict.fromkeys([*names, *ours, *_WITHOUT_FAMILY]))
    unknown = [rule for rule in idle if not _matches(rule, choices)]
    if unknown:  # few rules name tools in the loop of a model, so that its family is seldom loaded
        choices += _hosted_names()
        unknown = [rule for rule in unknown if not _matches(rule, choices)]
    for rule in unknown:
        _check(rule, choices, tools_by_family, may_grow=may_grow or "__" in rule.tool)
    return unknown


def _hosted_names() -> list[str]:
    """The names of the tools that models have in loops of their own."""
    return [name for family in load_plugins("models").values() for name in getattr(family, "hosted_tools", ())]


def _matches(rule: PermissionRule, names: Collection[str]) -> bool:
    return (rule.tool, rule.about) == SECRETS or any(fnmatchcase(name, rule.tool) for name in names)


def _check(
    rule: PermissionRule, choices: Sequence[str], tools_by_family: dict[str, list[str]], *, may_grow: bool
) -> None:
    if rule.tool in tools_by_family:
        tools = ", ".join(tools_by_family[rule.tool])
        raise ConfigurationError(
            f"The rule '{rule}' matches no tool: {rule.tool!r} is a family; write a rule for each tool: {tools}."
        )
    name = rule.tool.strip("*?")
    choice = nearest(name, choices, _MISSPELT)
    if choice is not None:
        raise ConfigurationError(f"The rule '{rule}' matches no tool; did you mean {choice!r}?")
    if not may_grow:
        raise ConfigurationError(
            f"The rule '{rule}' matches no tool; the agent has {', '.join(choices[:_MAX_NAMES])}; correct its name."
        )


_MAX_NAMES = 12
