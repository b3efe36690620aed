"""Commands of `heald chat` about the work: `/diff`, `/review`, `/compact`, `/jobs` and `!command`."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from typing import TYPE_CHECKING

from heald.commands.terminal import BOLD, GREEN, RED
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, Text
from heald.tools.git.repository import find_repository
from heald.tools.sanitize import sanitize_text
from heald.tools.shell.background_commands import BackgroundCommand
from heald_cli.approval_view import diff_lines
from heald_cli.repository.branch_diff import RANGE, read_branch_diff

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

_MAX_LINES = 400
_MAX_OUTPUT = 30_000
_SECONDS = 600.0
_SHOWN_LINES = 40
_REVIEW = (
    "Review {what}. Look for mistakes, missing cases and tests, and unclear names. List what you find with file and "
    "line, the most serious first. Change nothing."
)


_BRANCH_REVIEW = (
    "Review the commits {commits}, shown below with the line numbers of the new files. Look for mistakes, missing "
    "cases and tests, and unclear names. Write one comment a line, as path:line: comment, the most serious first. "
    "Change nothing."
)


async def show_diff(console: "ChatConsole", path: str) -> None:
    """Show the changes of files that the conversation made."""
    diff = await console.chat.diff(path)
    if not diff:
        console.note(f"This conversation changed nothing{f' in {path}' if path else ''}.")
        return
    console.screen.print(*diff_lines(diff, console.paint, most=_MAX_LINES, heads=True))


async def review_changes(console: "ChatConsole", what: str) -> None:
    """Ask the model for a review of the changes, of a range of commits such as `main..`, or of what was named."""
    if RANGE.fullmatch(what):
        await _review_branch(console, what)
        return
    diff = await console.chat.diff()
    if not what and not diff:
        console.note("This conversation changed nothing to review; /review PATH reviews a file.")
        return
    request = _REVIEW.format(what=what or "the changes that this conversation made, shown below")
    parts = [request] if what else [request, f"```diff\n{diff[:_MAX_OUTPUT]}\n```"]
    await console.send_parts(request, parts)


async def _review_branch(console: "ChatConsole", commits: str) -> None:
    """Ask the model for a review of a range of commits, with comments at lines."""
    repository = await asyncio.to_thread(find_repository, console.chat.folder)
    if repository is None:
        raise ConfigurationError("This folder is in no git repository, so there are no commits to review.")
    diff = await asyncio.to_thread(read_branch_diff, repository, commits)
    if not diff:
        console.note(f"{commits} changes nothing.")
        return
    request = _BRANCH_REVIEW.format(commits=commits)
    rest = f"\n… {len(diff) - _MAX_OUTPUT:,} more characters; read the files." if len(diff) > _MAX_OUTPUT else ""
    await console.send_parts(request, [request, f"```diff\n{diff[:_MAX_OUTPUT]}\n```{rest}"])


async def compact_conversation(console: "ChatConsole", word: str) -> None:
    """Shorten the conversation that the model is sent, or undo the last time that this was done."""
    session = console.chat.session
    if word == "undo":
        done = await session.undo_compaction()
        console.note("The whole conversation is sent." if done else "Nothing was compacted.")
        return
    console.note("Summarising …")
    if await session.compact() is None:
        console.note("The conversation is too short to gain anything.")


async def show_jobs(console: "ChatConsole", word: str) -> None:
    """List the commands that run in the background, show the output of one, or end one."""
    jobs = console.chat.background_commands
    if not jobs:
        console.note("No command runs in the background.")
        return
    action, _, number = word.rpartition(" ")
    if not number:
        console.note(*(f"{at:>3}. {describe_job(job)}" for at, job in enumerate(jobs, 1)))
        return
    if not number.isdecimal() or not 1 <= int(number) <= len(jobs) or action not in ("", "stop"):
        raise ConfigurationError(
            f"{word[:40]!r} is not a command of the list; /jobs N or /jobs stop N, up to {len(jobs)}."
        )
    job = jobs[int(number) - 1]
    if action == "stop":
        await job.process.stop()
    lines = sanitize_text(job.recent_output).splitlines()[-_SHOWN_LINES:]
    console.note(describe_job(job), *(f"  {line}" for line in lines))


def describe_job(job: BackgroundCommand) -> str:
    """Describe a background command in one line."""
    state = "runs" if job.process.running else f"ended, exit code {job.process.exit_code}"
    return f"{job.name} ({state}): {' '.join(job.command.split())[:60]}"


async def run_shell_line(console: "ChatConsole", command: str) -> None:
    """Run a command of the person, outside of the sandbox, and show it to the model with the next request."""
    if not command:
        console.note("!command runs a command, such as !git status.")
        return
    console.screen.print(console.paint(f"! {sanitize_text(command)}", BOLD))
    process = await asyncio.create_subprocess_shell(
        command, cwd=console.chat.folder or None, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        console.note(f"The command was stopped after {_SECONDS:g} s.")
        return
    text = sanitize_text(output.decode("utf-8", "replace"))
    lines = [f"  {line}" for line in text.splitlines()]
    left = len(lines) - _SHOWN_LINES
    console.screen.print(*([f"  … {left} lines before"] if left > 0 else []), *lines[-_SHOWN_LINES:])
    code = process.returncode or 0
    console.screen.print(console.paint(f"  exit code {code}", RED if code else GREEN))
    seen = text if len(text) <= _MAX_OUTPUT else f"{text[: _MAX_OUTPUT // 2]}\n…\n{text[-_MAX_OUTPUT // 2 :]}"
    note = f"I ran `{command}` (exit code {code}). Its output:\n{seen}"
    console.chat.session.notify_model(Message(role="user", content=[Text(note)], said=f"!{command}"))
