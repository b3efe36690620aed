"""The slash commands of `heald chat`."""

from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from heald.commands.terminal import choose_theme
from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald_cli.chat.agents_command import run_agents_command
from heald_cli.chat.attempts_command import run_attempts_command, undo_attempt
from heald_cli.chat.goal_command import run_goal_command
from heald_cli.chat.help_command import run_help_command
from heald_cli.chat.memory_command import run_memory_command
from heald_cli.chat.planning import run_plan_command
from heald_cli.chat.work_commands import compact_conversation, review_changes, show_diff, show_jobs
from heald_cli.commands.sessions import format_time
from heald_cli.mcp_input import expand_prompt, prompt_commands

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

_UNDO_LINES = 20
_SERVER_SECONDS = 10.0
"""Seconds that `/mcp` waits for servers that are starting."""


async def run_command(console: "ChatConsole", text: str) -> None:
    """Run the command of a line that begins with a slash."""
    name, _, rest = text[1:].strip().partition(" ")
    command = CHAT_COMMANDS.get(name)
    if command is None:
        written = console.chat.find_own_command(name)
        if written is not None:
            await console.send_parts(text, [written.expand(rest.strip())], is_command=True)
            return
        await console.chat.wait_for_servers()
        parts = await expand_prompt(console.servers, text)
        if parts is not None:
            await console.send_parts(text, parts)
            return
        names = [*CHAT_COMMANDS, *more_commands(console)]
        near = get_close_matches(name, names, 1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists all."
        raise ConfigurationError(f"There is no /{name[:40]}; {hint}")
    await command[1](console, rest.strip())


def more_commands(console: "ChatConsole") -> list[str]:
    """Return the names of commands that are not built in: own ones, skills, and prompts of MCP servers."""
    written = [file.name for file in (*console.chat.commands, *console.chat.skills)]
    return [*written, *(prompt.command for prompt in prompt_commands(console.servers))]


def complete_command(text: str, prompts: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Complete a command or a prompt of an MCP server: the completed text, and all that match."""
    matches = [f"/{name}" for name in [*CHAT_COMMANDS, *prompts] if name.startswith(text[1:])]
    return (f"{matches[0]} " if len(matches) == 1 else text), matches


async def _help(console: "ChatConsole", word: str) -> None:
    run_help_command(console, word, {name: about for name, (about, _) in CHAT_COMMANDS.items()})


async def _model(console: "ChatConsole", name: str) -> None:
    chat = console.chat
    if not name:
        console.note(f"The model is {chat.model}. /model provider/name changes it:", *await chat.model_names())
        return
    _check_idle(console)
    await chat.change_model(name)
    console.note(f"From here on with {name}.")


async def _undo(console: "ChatConsole", count: str) -> None:
    _check_idle(console)
    if count == "list":
        numbered = list(enumerate(reversed(await console.chat.exchanges()), 1))
        listed = [f"{number:>3}. {exchange.words[:70]}" for number, exchange in numbered[:_UNDO_LINES]]
        console.note(*listed, "/undo 2 goes back to before request 2.") if listed else console.note("It is empty.")
        return
    if count and not count.isdecimal():
        raise ConfigurationError(f"{count[:40]!r} is not a number of exchanges; /undo list numbers them.")
    lines = [] if count else await undo_attempt(console)
    console.note(*(lines or await console.chat.undo(int(count or 1))))


async def _redo(console: "ChatConsole", _: str) -> None:
    _check_idle(console)
    console.note(*await console.chat.redo())


async def _plan(console: "ChatConsole", word: str) -> None:
    _check_idle(console)
    await run_plan_command(console, word)


async def _mode(console: "ChatConsole", name: str) -> None:
    if not name:
        console.note(f"The mode is {console.chat.mode.name}; /mode NAME or Shift-Tab changes it.")
        return
    await console.set_mode(name)


async def _attempts(console: "ChatConsole", text: str) -> None:
    _check_idle(console)
    await run_attempts_command(console, text)


async def _commit(console: "ChatConsole", about: str) -> None:
    from heald_cli.chat.commit_command import run_commit_command  # most conversations need neither

    _check_idle(console)
    await run_commit_command(console, about)


async def _pr(console: "ChatConsole", about: str) -> None:
    from heald_cli.chat.commit_command import run_pr_command

    _check_idle(console)
    await run_pr_command(console, about)


async def _jobs(console: "ChatConsole", word: str) -> None:
    await show_jobs(console, word)


async def _cost(console: "ChatConsole", _: str) -> None:
    console.note(*await console.chat.cost())


async def _resume(console: "ChatConsole", which: str) -> None:
    _check_idle(console)
    earlier = await console.chat.earlier()
    if not earlier:
        console.note("There is no earlier conversation in this folder.")
        return
    if not which:
        numbered = enumerate(earlier, 1)
        titles = [f"{number:>3}. {format_time(info.updated)}  {info.title[:70]}" for number, info in numbered]
        console.note(*titles, "/resume 1 goes on with the first.")
        return
    await console.chat.resume(_find_conversation(earlier, which))
    console.follow_session()
    await console.show_history()
    console.note(f"Going on with {console.chat.model}.")


async def _new(console: "ChatConsole", _: str) -> None:
    _check_idle(console)
    await console.chat.begin()
    console.follow_session()
    console.note("A new conversation. /resume has the earlier ones.")


async def _clear(console: "ChatConsole", _: str) -> None:
    await _new(console, "")
    console.screen.clear()


async def _mcp(console: "ChatConsole", _: str) -> None:
    servers = console.servers
    if servers is None:
        console.note("No MCP server is named; --mcp or an [mcp.NAME] table in heald.toml names one.")
        return
    if not await console.chat.wait_for_servers(_SERVER_SECONDS):
        console.note("Servers are still starting.")
    for name in servers.names:
        fault = servers.failures.get(name)
        tools = sum(tool.name.startswith(f"{name}__") for tool in servers.tools)
        prompts = sum(prompt.server == name for prompt in servers.prompts)
        resources = sum(server == name for server, _, _ in servers.resources)
        counts = {"tool": tools, "prompt": prompts, "resource": resources}
        offers = ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items())
        console.note(f"{name}: {fault if fault is not None else offers}")


async def _theme(console: "ChatConsole", name: str) -> None:
    if name not in ("", "auto", "dark", "light"):
        raise ConfigurationError(f"There is no theme {name[:40]!r}; there are auto, dark and light.")
    if name:
        console.paint.theme = console.screen.renderer.theme = choose_theme(name)
    console.note(
        f"The theme is for a {console.paint.theme} background; --theme or [chat] theme in heald.toml keeps one."
    )


async def _exit(console: "ChatConsole", _: str) -> None:
    console.quit()


def _find_conversation(earlier: list[SessionInfo], which: str) -> SessionInfo:
    if which.isdecimal() and 1 <= int(which) <= len(earlier):
        return earlier[int(which) - 1]
    matches = [info for info in earlier if info.id.startswith(which)]
    if len(matches) != 1:
        raise ConfigurationError(f"{which[:40]!r} is not in the list; give a number from 1 to {len(earlier)}.")
    return matches[0]


def _check_idle(console: "ChatConsole") -> None:
    if console.chat.is_busy:
        raise ConfigurationError("An answer is being written; wait for its end, or interrupt it with Esc.")


CHAT_COMMANDS: dict[str, tuple[str, Callable[["ChatConsole", str], Awaitable[None]]]] = {
    "help": ("list the commands by task; /help COMMAND or /help TASK explains one, /help all lists everything", _help),
    "model": ("list models, or /model NAME to change it", _model),
    "diff": ("show what this conversation changed, or /diff PATH", show_diff),
    "undo": ("undo the last exchange and its changes of files, /undo N the last N, /undo list numbers them", _undo),
    "redo": ("repeat what the last /undo removed", _redo),
    "plan": ("plan first: only reading until you approve; /plan WHAT, /plan go, /plan edit, /plan off", _plan),
    "mode": ("show the mode, or /mode plan, ask, edits or inside, also while an answer runs; Shift-Tab", _mode),
    "attempts": (
        "run several agents in parallel: /attempts 3 REQUEST, with --check 'COMMAND', --model a,b or --agent a,b",
        _attempts,
    ),
    "agents": (
        "list sub-agents with their state, cost and changes; /agents N shows one, /agents apply N, /agents stop N",
        run_agents_command,
    ),
    "goal": ("work until a check passes: /goal --check 'COMMAND' REQUEST; /goal stop ends it", run_goal_command),
    "jobs": ("list background commands, or /jobs N shows its output, /jobs stop N ends it", _jobs),
    "review": (
        "let the model review the changes, /review main.. a branch with comments at lines, or /review WHAT",
        review_changes,
    ),
    "commit": ("choose hunks, edit the message that the model writes, and commit; /commit HINT", _commit),
    "pr": ("push this branch and open a pull request that you read first; /pr HINT", _pr),
    "compact": ("let the model summarise the conversation; /compact undo restores it", compact_conversation),
    "memory": (
        "list the facts that are remembered; /memory add TEXT, edit ID TEXT, keep ID, forget ID",
        run_memory_command,
    ),
    "clear": ("begin a new conversation and clear the screen", _clear),
    "resume": ("list earlier conversations of this folder, or /resume N to continue one", _resume),
    "new": ("begin a new conversation", _new),
    "mcp": ("show the MCP servers, and how many tools, prompts and resources each has", _mcp),
    "cost": ("show tokens and cost so far", _cost),
    "theme": ("show the theme of the colours, or /theme light, /theme dark", _theme),
    "exit": ("leave; the conversation is stored", _exit),
    "quit": ("the same", _exit),
}
