"""`/attempts N REQUEST` of `heald chat`: several agents at the same request, each in a git worktree of its own."""

import argparse
import asyncio
import re
import signal
from typing import TYPE_CHECKING

from heald.commands.terminal import BOLD
from heald.config.keys import command_keys
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, Text, user_message
from heald.tools.git.repository import find_repository
from heald_cli.attempts.attempt_run import AttemptRun
from heald_cli.attempts.command import check_options
from heald_cli.attempts.entrant import Entrant, choose_entrants
from heald_cli.attempts.report import AttemptReport
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoint_store import CheckpointLimits

if TYPE_CHECKING:
    from heald.agent.model_chain import ModelLike
    from heald_cli.chat.console import ChatConsole

_USAGE = (
    "/attempts N REQUEST, such as /attempts 3 --check 'pytest -q' Fix the failing test; --model a,b names models, and "
    "--agent claude,codex,ours agents."
)
_OPTION = re.compile(r"--(agent|check|model)[ =](?:\"([^\"]*)\"|'([^']*)'|(\S+))\s*")
_LIMITS = ("max_turns", "max_tokens", "max_usd", "max_seconds", "max_output")
"""Options of `heald run` that `heald chat` does not have."""


async def run_attempts_command(console: "ChatConsole", text: str) -> None:
    """Run attempts at a request with the conversation so far, and apply the one that the person chooses."""
    chat = console.chat
    count, flags, request = _parse(text)
    options = _make_options(console.options, chat.folder, count, flags.get("check"))
    repository = await asyncio.to_thread(check_options, options)
    entrants = _choose(console, flags)
    console.screen.print("", console.paint(f"› /attempts {text}", BOLD))
    run = AttemptRun(options, user_message(request), entrants, repository, history=chat.session.messages)
    async with console.screen.lend():
        report = await _run_until_interrupted(run)
        if report is not None:
            report.print(options)
    if report is None:
        console.note("The attempts were interrupted; nothing is applied.")
    elif (attempt := report.choice.attempt) is not None:
        text = _describe_for_model(report, request)
        _notify(console, text, f"Attempt {attempt.number} is applied to the folder.")
        console.applied_seq = chat.session.last_seq


def _choose(console: "ChatConsole", flags: dict[str, str]) -> list[Entrant]:
    """Return the agents that the command names; without a name, that of the chat."""
    chat = console.chat

    def find_model(name: str) -> "ModelLike":
        if name.startswith("acp/"):
            return name  # an external agent, which the person has named here
        chat.check(name)
        return chat.find_model(name)

    if "agent" in flags:
        return choose_entrants(_names(flags["agent"]), chat.folder, our_model=lambda: chat.model, find_model=find_model)
    return [Entrant(name, find_model(name)) for name in _names(flags.get("model", chat.model))]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


async def undo_attempt(console: "ChatConsole") -> list[str]:
    """Undo the attempt that was applied, if nothing happened in the conversation since. Returns lines to print."""
    if console.applied_seq is None or console.applied_seq != console.chat.session.last_seq:
        return []
    repository = await asyncio.to_thread(find_repository, console.chat.folder)
    if repository is None:
        return []
    limits = CheckpointLimits.of(console.options)
    lines = await asyncio.to_thread(AppliedAttempts(repository, console.chat.data, limits).undo)
    _notify(console, "I undid what that agent had changed; the files are as before it.", "The attempt is undone.")
    console.applied_seq = None
    return lines


def _notify(console: "ChatConsole", text: str, display: str) -> None:
    """Let the model know with its next request. The person sees another text."""
    console.chat.session.notify_model(Message(role="user", content=[Text(text)], said=display))


async def _run_until_interrupted(run: AttemptRun) -> AttemptReport | None:
    """Run attempts. Ctrl-C ends them, not the chat."""
    task = asyncio.ensure_future(run.run())
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
    return None if task.cancelled() else task.result()


def _parse(text: str) -> tuple[int, dict[str, str], str]:
    number, _, rest = text.partition(" ")
    flags: dict[str, str] = {}
    rest = rest.strip()
    while (option := _OPTION.match(rest)) is not None:
        flags[option[1]] = option[2] or option[3] or option[4] or ""
        rest = rest[option.end() :]
    if not number.isdecimal() or not rest:
        raise ConfigurationError(_USAGE)
    return int(number), flags, rest


def _make_options(options: argparse.Namespace, folder: str, count: int, check: str | None) -> argparse.Namespace:
    keys = command_keys("run")
    limits = {name: keys[name].default for name in _LIMITS}
    changes = {"attempts": count, "check": check, "apply": None, "keep": False, "json": False, "workspace": folder}
    changes |= {"attempts_log": None}
    return argparse.Namespace(**{**vars(options), **limits, **changes})


def _describe_for_model(report: AttemptReport, request: str) -> str:
    attempt = report.choice.attempt
    assert attempt is not None
    answer = attempt.result.text.strip() if attempt.result is not None else ""
    files = ", ".join(report.paths[:20])
    return (
        f"I let {len(report.attempts)} other agents try this in copies of the folder: {request}\n"
        f"I applied the result of one to the folder. It changed: {files}\nIts answer was:\n{answer}"
    )
