"""The commands, skills, agents, hooks and notes of a project in the formats of other programs."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from heald.agent.agent_file import AgentFile
from heald.config.paths import CONFIG_FILE, display_path, project_file
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object, encode_text
from heald.tools.claude_names import claude_names
from heald.tools.families import families
from heald.tools.hooks import ToolHook
from heald_cli.folder_files import AGENTS, CLAUDE, COMMANDS, HEALD, SHARED, SKILLS, folder_files
from heald_cli.project_agents import read_agents

_SETTINGS = f"{CLAUDE}/settings.json"
_READERS = {"before": "PreToolUse", "after": "PostToolUse"}


class ExportedFile(msgspec.Struct, frozen=True):
    """A file to write: its path in the project, and its content."""

    path: str
    content: bytes


class ExportedFiles(msgspec.Struct, frozen=True):
    """All files to write, and a sentence about each thing that the other format lacks."""

    files: Sequence[ExportedFile]
    losses: Sequence[str]


def export_shared(folder: Path) -> ExportedFiles:
    """Return the skills of a project for `.agents`, which several programs read."""
    place = folder / HEALD
    skills = [path for path in folder_files(place) if path.is_relative_to(place / SKILLS)]
    return ExportedFiles([_copy(path, place, SHARED) for path in skills], [])


def export_claude(folder: Path) -> ExportedFiles:
    """Return the files of a project for Claude Code."""
    place = folder / HEALD
    paths = folder_files(place)
    copied = [path for path in paths if path.is_relative_to(place / SKILLS) or path.parent == place / COMMANDS]
    files = [_copy(path, place, CLAUDE) for path in copied]
    losses: list[str] = []
    agents = read_agents(place)
    for agent in agents.by_name.values():
        files.append(ExportedFile(f"{CLAUDE}/{AGENTS}/{agent.name}.md", _write_agent(agent)))
        losses += _agent_losses(agent)
    losses += [str(fault) for fault in agents.faults.values()]
    hooks, hook_losses = _export_hooks(folder)
    files += hooks
    if (folder / "AGENTS.md").is_file() and not (folder / "CLAUDE.md").exists():
        files.append(ExportedFile("CLAUDE.md", b"@AGENTS.md\n"))
    return ExportedFiles(files, [*losses, *hook_losses])


def _copy(path: Path, place: Path, target: str) -> ExportedFile:
    return ExportedFile(f"{target}/{path.relative_to(place).as_posix()}", path.read_bytes())


def _write_agent(agent: AgentFile) -> bytes:
    fields = {"name": agent.name, "description": encode_text(agent.description or agent.name)}
    if agent.tools is not None:
        fields["tools"] = ", ".join(_claude_tools(agent.tools))
    if refused := [name for rule in agent.rules for name in _refused_tools(rule)]:
        fields["disallowedTools"] = ", ".join(dict.fromkeys(refused))
    if agent.model.startswith("anthropic/claude-"):
        fields["model"] = agent.model.removeprefix("anthropic/")
    if agent.mode == "read-only":
        fields["permissionMode"] = "plan"
    if agent.budget is not None and isinstance(agent.budget.turns, int):
        fields["maxTurns"] = str(agent.budget.turns)
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{head}---\n{agent.instructions}\n".encode("utf-8", "replace")


def _claude_tools(tools: Sequence[str]) -> list[str]:
    by_family = families()
    names = [name for tool in tools for name in ([t.name for t in by_family[tool]] if tool in by_family else [tool])]
    return list(dict.fromkeys(claude_names(name)[0] for name in names))


def _refused_tools(rule: str) -> Iterator[str]:
    words = rule.split(maxsplit=1)
    if len(words) == 2 and words[0] == "deny" and words[1].removesuffix("(*)").replace("_", "").isalnum():
        yield from claude_names(words[1].removesuffix("(*)"))


def _agent_losses(agent: AgentFile) -> Iterator[str]:
    where = display_path(agent.path)
    if agent.handoffs:
        yield f"{where}: handoffs have no counterpart."
    if agent.model and not agent.model.startswith("anthropic/claude-"):
        yield f"{where}: the model {agent.model} has no counterpart; that of the session is used."
    if any(not list(_refused_tools(rule)) for rule in agent.rules):
        yield f"{where}: permissions with patterns are not written; add them to {_SETTINGS}."
    if agent.mode in ("ask", "inside"):
        yield f"{where}: the mode {agent.mode} has no counterpart; that of the session is used."
    budget = agent.budget
    if budget is not None and (budget.usd or budget.tokens or budget.seconds):
        yield f"{where}: of the budget only the turns are written."


def _export_hooks(folder: Path) -> tuple[list[ExportedFile], list[str]]:
    """Return the settings of Claude Code with the hooks of a project's `heald.toml` added."""
    source = project_file(folder)
    if source is None:
        return [], []
    groups: list[tuple[str, JsonObject]] = []
    losses: list[str] = []
    for moment, event in _READERS.items():
        for text in _hook_lines(source, moment):
            hook = ToolHook.parse(text)
            if hook.rule.about is not None or "HEALD_" in hook.command:
                losses.append(
                    f"{CONFIG_FILE}: the hook {text!r} is not written: it has a pattern or a HEALD_ variable."
                )
                continue
            # A hook of Heald refuses a call by any exit code but 0, and gives its reason on either output.
            command = f"( {hook.command} ) 1>&2 || exit 2"
            matcher = "|".join(claude_names(hook.rule.tool)) if hook.rule.tool != "*" else "*"
            groups.append((event, {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}))
    if not groups:
        return [], losses
    settings = _read_settings(folder / _SETTINGS)
    hooks = as_object(settings.get("hooks"))
    for event, group in groups:
        listed = as_list(hooks.get(event))
        hooks[event] = listed if group in listed else [*listed, group]
    content = msgspec.json.format(msgspec.json.encode(settings | {"hooks": hooks}), indent=2)
    return [ExportedFile(_SETTINGS, content + b"\n")], losses


def _hook_lines(source: Path, moment: str) -> list[str]:
    try:
        tables = tomllib.loads(source.read_bytes().decode("utf-8-sig"))
    except ValueError:
        raise ConfigurationError(f"{display_path(source)} is not valid TOML.") from None
    return [line for line in as_list(as_object(tables.get("hooks")).get(moment)) if isinstance(line, str)]


def _read_settings(path: Path) -> JsonObject:
    if not path.is_file():
        return {}
    try:
        settings: Any = msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError:
        raise ConfigurationError(f"{display_path(path)} is not valid JSON; the hooks cannot be added.") from None
    return as_object(settings)
