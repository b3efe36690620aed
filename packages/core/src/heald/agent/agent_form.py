"""The formats of agent files: Heald's own, `agents/NAME.md`, and that of Claude Code."""

from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from heald.agent.agent_file import AgentFile, read_agent_text
from heald.agent.agent_name import AGENT_NAME, INVALID_NAME
from heald.agent.budget import Budget
from heald.agent.claude_form import ClaudeForm
from heald.config.front_matter import FrontMatterField, parse_front_matter, split_items
from heald.config.paths import display_path
from heald.core.arguments import nearest_or_all
from heald.core.errors import ConfigurationError
from heald.tools.permissions import MODES, Mode, PermissionRule

MAX_INSTRUCTION_CHARACTERS = 50_000
"""The most that an agent's instructions may have."""
NO_TOOLS = "none"


class AgentForm(Protocol):
    """One form of agents as files."""

    @property
    def pattern(self) -> str:
        """The end of the paths of its files."""
        ...

    def parse(self, path: Path, text: str) -> AgentFile:
        """Parse the text of a file. Raises ConfigurationError with one sentence that begins with its file and line."""
        ...


class HealdForm:
    """Front matter with `name`, `description`, `model`, `tools`, `permissions`, `budget` and `handoffs`; then the
    instructions."""

    pattern = "agents/*.md"

    def parse(self, path: Path, text: str) -> AgentFile:
        where = display_path(path)
        matter = parse_front_matter(text, where)
        if not matter.fields:
            raise ConfigurationError(
                f"{where}:1: the agent has no front matter; begin with a line of ---, its fields such as description, "
                "and a line of ---."
            )
        for name, field in matter.fields.items():
            if name not in _READERS:
                raise ConfigurationError(
                    f"{where}:{field.line}: there is no field {name!r}; {nearest_or_all(name, list(_READERS))}"
                )
        settings: dict[str, Any] = {"name": path.stem}
        for name, field in matter.fields.items():
            if field.value == "" and name != "tools":
                raise ConfigurationError(f"{where}:{field.line}: {name} has no value; give one, or leave it out.")
            try:
                settings |= _READERS[name](name, field)
            except ConfigurationError as error:
                raise ConfigurationError(f"{where}:{field.line}: {error}") from None
        name_line = matter.fields["name"].line if "name" in matter.fields else 1
        if not AGENT_NAME.match(settings["name"]):
            raise ConfigurationError(f"{where}:{name_line}: {settings['name'][:80]!r} {INVALID_NAME}")
        if len(matter.body) > MAX_INSTRUCTION_CHARACTERS:
            raise ConfigurationError(
                f"{where}: the instructions have {len(matter.body):,} characters; {MAX_INSTRUCTION_CHARACTERS:,} are "
                "the most."
            )
        if settings["name"] in settings.get("handoffs", ()):
            raise ConfigurationError(f"{where}:{matter.fields['handoffs'].line}: the agent hands over to itself.")
        lines = {name: field.line for name, field in matter.fields.items()}
        return AgentFile(instructions=matter.body, path=path, lines=lines, **settings)


AGENT_FORMS: tuple[AgentForm, ...] = (ClaudeForm(), HealdForm())
"""All forms. The first one whose pattern a path has counts; the last one is that of all other files."""


def read_agent_file(path: Path) -> AgentFile:
    """Read an agent from a file. Raises ConfigurationError."""
    place = path.absolute()
    form = next((form for form in AGENT_FORMS if place.match(form.pattern)), AGENT_FORMS[-1])
    return form.parse(path, read_agent_text(path))


# --- fields -----------------------------------------------------------------------------------------------------------


def _read_text(name: str, field: FrontMatterField) -> dict[str, Any]:
    if not isinstance(field.value, str):
        raise ConfigurationError(f"{name} must be a text.")
    return {name: " ".join(field.value.split())}


def _read_names(name: str, field: FrontMatterField) -> dict[str, Any]:
    if isinstance(field.value, dict):
        raise ConfigurationError(f"{name} must be a list of names, as in {name}: [first, second].")
    names = split_items(field.value) if isinstance(field.value, str) else field.value
    return {name: tuple(dict.fromkeys(text for text in names if text and text != NO_TOOLS))}


def _read_permissions(name: str, field: FrontMatterField) -> dict[str, Any]:
    """Read a mode, or a list of rules and at most one mode."""
    if isinstance(field.value, dict):
        raise ConfigurationError(f"{name} must be {', '.join(MODES)}, or a list of these and rules.")
    mode: Mode | None = None
    rules: list[str] = []
    for text in [field.value] if isinstance(field.value, str) else field.value:
        if text in MODES:
            if mode is not None:
                raise ConfigurationError(f"{name} names two modes, {mode} and {text}.")
            mode = text
        elif " " not in text:
            raise ConfigurationError(f"{name}: there is no mode {text!r}; {nearest_or_all(text, MODES)}")
        else:
            rules.append(str(PermissionRule.parse(text)))
    return {"mode": mode, "rules": tuple(rules)}


def _read_budget(name: str, field: FrontMatterField) -> dict[str, Any]:
    if not isinstance(field.value, dict):
        raise ConfigurationError(f"{name} must be limits with their names, as in {name}: {{turns: 10, usd: 0.5}}.")
    limits = Budget.__struct_fields__
    for limit in field.value:
        if limit not in limits:
            raise ConfigurationError(f"{name}: there is no limit {limit!r}; {nearest_or_all(limit, limits)}")
    values = cast("dict[str, Any]", field.value)
    try:
        return {name: msgspec.convert(values, Budget, strict=False)}
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{name}: {error}.") from None


_READERS = {
    "name": _read_text,
    "description": _read_text,
    "model": _read_text,
    "tools": _read_names,
    "permissions": _read_permissions,
    "budget": _read_budget,
    "handoffs": _read_names,
}
