"""Agents in the format of Claude Code: `.claude/agents/NAME.md`."""

from pathlib import Path
from typing import Any

from heald.agent.agent_file import AgentFile
from heald.agent.agent_name import AGENT_NAME, INVALID_NAME
from heald.agent.budget import Budget
from heald.config.front_matter import FrontMatter, FrontMatterField, parse_front_matter, split_items
from heald.config.paths import display_path
from heald.core.errors import ConfigurationError
from heald.tools.claude_names import OURS_BY_CLAUDE_NAME

_MCP = "mcp__"
_READ_ONLY_MODE = "plan"


class ClaudeForm:
    """Front matter with `name`, `description`, `tools`, `disallowedTools`, `model`, `permissionMode` and `maxTurns`;
    then the instructions. Other fields have no effect.

    Tools are Heald's for the same work. A name such as `sonnet` is the model of the session, because the session may
    have another provider; `claude-…` is Anthropic's.
    """

    pattern = ".claude/agents/*.md"

    def parse(self, path: Path, text: str) -> AgentFile:
        where = display_path(path)
        matter = parse_front_matter(text, where)
        name = _text(matter, "name", where) or path.stem
        if not AGENT_NAME.match(name):
            line = matter.fields["name"].line if "name" in matter.fields else 1
            raise ConfigurationError(f"{where}:{line}: {name[:80]!r} {INVALID_NAME}")
        model = _text(matter, "model", where)
        tools, refused = _names(matter, "tools", where), _names(matter, "disallowedTools", where) or ()
        is_open = tools is None  # it gets all tools of the session, those of MCP servers too
        return AgentFile(
            name=name,
            description=_text(matter, "description", where),
            model=f"anthropic/{model}" if model.startswith("claude-") else model if "/" in model else "",
            tools=tuple(tool for tool in tools if tool not in refused) if tools is not None else None,
            without_tools=refused,
            mode="read-only" if _text(matter, "permissionMode", where) == _READ_ONLY_MODE else None,
            rules=tuple(f"deny {tool}" for tool in refused if is_open and "__" in tool),
            budget=_budget(matter, where),
            instructions=matter.body,
            path=path,
            lines={field_name: field.line for field_name, field in matter.fields.items()},
        )


def _text(matter: FrontMatter, name: str, where: str) -> str:
    field = matter.fields.get(name)
    if field is None:
        return ""
    if not isinstance(field.value, str):
        raise ConfigurationError(f"{where}:{field.line}: {name} must be a text.")
    return " ".join(field.value.split())


def _names(matter: FrontMatter, name: str, where: str) -> tuple[str, ...] | None:
    """Return Heald's names of the tools in a field; None for all."""
    field = matter.fields.get(name)
    if field is None or field.value == "":
        return None
    tools: dict[str, None] = {}
    for text in _items(field, name, where):
        if "(" in text:
            raise ConfigurationError(
                f"{where}:{field.line}: {name}: the pattern of {text[:60]!r} is not supported here; write the name of "
                "the tool, and the pattern as a rule of your permissions."
            )
        if text == "*":
            return None
        names = (text.removeprefix(_MCP),) if text.startswith(_MCP) else OURS_BY_CLAUDE_NAME.get(text, ())
        tools |= dict.fromkeys(names)  # a tool that Heald does not have, such as Task, is left out
    return tuple(tools)


def _items(field: FrontMatterField, name: str, where: str) -> list[str]:
    value: Any = field.value
    if isinstance(value, dict):
        raise ConfigurationError(f"{where}:{field.line}: {name} must be a list of names, as in {name}: Read, Grep.")
    return split_items(value) if isinstance(value, str) else list(value)


def _budget(matter: FrontMatter, where: str) -> Budget | None:
    turns = _text(matter, "maxTurns", where)
    if not turns:
        return None
    if not turns.isdecimal() or not int(turns):
        raise ConfigurationError(f"{where}:{matter.fields['maxTurns'].line}: maxTurns must be greater than 0.")
    return Budget(turns=int(turns))
