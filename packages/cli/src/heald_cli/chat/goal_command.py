"""`/goal` of `heald chat`: the model works on until a check passes."""

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heald.core.errors import ConfigurationError, HealdError
from heald.core.messages import user_message
from heald.tools.sanitize import sanitize_text
from heald.tools.shell.sandbox import Sandbox
from heald_cli.attempts.check import CheckResult, run_check

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

MAX_ROUNDS = 10
"""Exchanges towards one goal."""
_USAGE = "/goal --check 'COMMAND' REQUEST, such as /goal --check 'pytest -q' Make the tests pass; /goal stop ends it."
_CHECK = re.compile(r"--check[ =](?:\"([^\"]*)\"|'([^']*)'|(\S+))\s*")


@dataclass(slots=True)
class Goal:
    """What the model works towards, and how far it is."""

    request: str
    check: str
    round: int = 1
    task: asyncio.Task[None] | None = None

    def describe(self) -> str:
        return f"Goal: {self.request[:60]}; `{self.check[:40]}` must pass; round {self.round} of {MAX_ROUNDS}"


async def run_goal_command(console: "ChatConsole", text: str) -> None:
    """Begin to work towards a goal, show the current one, or end it."""
    goal = console.goal
    if not text:
        console.note(f"{goal.describe()}." if goal is not None else f"There is no goal. {_USAGE}")
        return
    if text == "stop":
        if goal is None or goal.task is None:
            raise ConfigurationError("There is no goal to end.")
        console.goal = None
        console.chat.session.cancel("The person ended the goal.")
        goal.task.cancel()
        console.note("The goal is ended.")
        return
    if goal is not None or console.chat.is_busy:
        raise ConfigurationError("The model is at work; wait for its end, or /goal stop.")
    option = _CHECK.search(text)
    check = next((value for value in option.groups() if value), "") if option is not None else ""
    request = _CHECK.sub("", text, count=1).strip()
    if not check or not request:
        raise ConfigurationError(_USAGE)
    sandbox = Sandbox(unsandboxed=console.options.unsandboxed)
    if (reason := await asyncio.to_thread(sandbox.available)) is not None:
        raise ConfigurationError(f"The check cannot run. {reason} --unsandboxed does without it.")
    console.goal = goal = Goal(request, check)
    goal.task = asyncio.create_task(_pursue(console, goal, sandbox), name="heald-chat-goal")


async def _pursue(console: "ChatConsole", goal: Goal, sandbox: Sandbox) -> None:
    try:
        console.note(await _work(console, goal, sandbox))
    except HealdError as error:
        console.show_error(error)
    finally:
        if console.goal is goal:
            console.goal = None


async def _work(console: "ChatConsole", goal: Goal, sandbox: Sandbox) -> str:
    """Let the model work until the check passes. Returns the sentence about the end."""
    session = console.chat.session
    request = f"{goal.request}\n\nYou are done when `{goal.check}` exits with code 0. It is run after your answer."
    while True:
        result = await session.send(user_message(request)).result()
        if result.status != "completed":
            return f"The goal is not reached: the exchange is {result.status}."
        check = await run_check(goal.check, console.chat.folder, sandbox)
        if check.passed:
            plural = "s" * (goal.round != 1)
            return f"The goal is reached after {goal.round} round{plural}: `{goal.check}` passes."
        if check.exit_code is None:
            return f"The goal is not reached: the check did not run to its end. {' '.join(check.lines[-1:])}"
        if goal.round == MAX_ROUNDS:
            return f"The goal is not reached after {MAX_ROUNDS} rounds: `{goal.check}` still fails."
        goal.round += 1
        console.note(f"`{goal.check}` failed with exit code {check.exit_code}; round {goal.round} of {MAX_ROUNDS}.")
        request = _describe_failure(goal.check, check)


def _describe_failure(command: str, check: CheckResult) -> str:
    lines = "\n".join(sanitize_text(line) for line in check.lines)
    return f"`{command}` failed with exit code {check.exit_code}. Its last lines:\n{lines}\n\nGo on until it passes."
