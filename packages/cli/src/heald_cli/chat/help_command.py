"""The command `/help` of `heald chat`: the commands by task, and one of them or a whole task explained."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import msgspec

from heald.core.errors import ConfigurationError
from heald_cli.mcp_input import prompt_commands

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

ALL = "all"


class HelpTask(msgspec.Struct, frozen=True):
    """Something that a person wants to do in a conversation, and the commands for it."""

    name: str
    about: str
    commands: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


HELP_TASKS = (
    HelpTask("changes", "see, review, undo and commit changes", ("diff", "review", "undo", "redo", "commit", "pr")),
    HelpTask(
        "permissions",
        "set what the agent may do",
        ("mode", "plan"),
        ("Shift-Tab switches the mode: plan, ask, edits, inside. Ctrl-O shows the output of the last command.",),
    ),
    HelpTask("agents", "run several agents, or until a check passes", ("attempts", "agents", "goal", "jobs")),
    HelpTask("model", "change the model, watch the cost, save context", ("model", "cost", "compact", "memory")),
    HelpTask("conversations", "start, continue and leave", ("new", "clear", "resume", "exit", "quit")),
    HelpTask("setup", "MCP servers and colours", ("mcp", "theme", "help")),
    HelpTask(
        "write",
        "send, interrupt, attach files and pictures",
        keys=(
            "Enter sends; Alt-Enter or Ctrl-J begins a new line. Requests wait while an answer runs; with Ctrl-S the",
            "model sees them at its next turn, with Ctrl-X they interrupt it.",
            "Esc interrupts. Ctrl-C clears the line, then interrupts, then leaves; Ctrl-D leaves.",
            "@path attaches a file or the list of a folder (Tab completes); the path of a picture attaches it.",
            "@server:address attaches a resource of an MCP server, /server:prompt runs one of its prompts.",
            "Ctrl-V attaches the picture in the clipboard.",
            "!command runs a shell command in the folder; the model sees it and its output with your next request.",
        ),
    ),
)
OTHER = HelpTask("other", "commands of plugins")


def run_help_command(console: "ChatConsole", word: str, commands: Mapping[str, str]) -> None:
    """Print the tasks with their commands, or explain the task or the command that is named.

    `commands` has the built-in commands, each with what it does."""
    custom_lines = _own_commands(console)
    word = word.removeprefix("/").lower()
    if not word:
        console.note(*_overview(commands), *custom_lines, *_keys(HELP_TASKS))
        return
    if word == ALL:
        console.note(*(f"/{name:<10} {about}" for name, about in commands.items()), *custom_lines, *_keys(HELP_TASKS))
        return
    if word in commands:
        console.note(f"/{word}  {commands[word]}")
        return
    tasks = {task.name: task for task in _tasks(commands)}
    if word not in tasks:
        near = get_close_matches(word, [*commands, *tasks], 1)
        hint = f"did you mean /help {near[0]}?" if near else f"/help lists the tasks, /help {ALL} the commands."
        raise ConfigurationError(f"There is no help about {word[:40]!r}; {hint}")
    task = tasks[word]
    explained = [f"/{name:<10} {commands[name]}" for name in task.commands if name in commands]
    console.note(f"{task.about.capitalize()}:", *explained, *task.keys)


def _overview(commands: Mapping[str, str]) -> list[str]:
    tasks = [task for task in _tasks(commands) if task.commands]
    lines = [f"{task.about:<46} {' '.join(f'/{name}' for name in task.commands if name in commands)}" for task in tasks]
    names = ", ".join(task.name for task in _tasks(commands))
    return [*lines, f"/help COMMAND explains one, /help TASK a task ({names}), /help {ALL} everything."]


def _tasks(commands: Mapping[str, str]) -> list[HelpTask]:
    """Return the tasks; commands that none of them has are in the last one."""
    named = {name for task in HELP_TASKS for name in task.commands}
    others = tuple(name for name in commands if name not in named)
    return [*HELP_TASKS, *([msgspec.structs.replace(OTHER, commands=others)] if others else [])]


def _keys(tasks: Sequence[HelpTask]) -> list[str]:
    return [line for task in tasks for line in task.keys]


def _own_commands(console: "ChatConsole") -> list[str]:
    """Return a line for each command that is not built in: own ones, skills, and prompts of MCP servers."""
    written = [f"/{file.name:<10} {file.description[:200]}" for file in console.chat.commands]
    skills = [f"/{file.name:<10} (skill) {file.description[:200]}" for file in console.chat.skills]
    return [
        *written,
        *skills,
        *(f"{prompt.usage}  {prompt.description}" for prompt in prompt_commands(console.servers)),
    ]
