"""`/commit` and `/pr` of `heald chat`: a commit and a pull request, when the person asks for them."""

import asyncio
from typing import TYPE_CHECKING

from heald.core.errors import ConfigurationError
from heald.core.messages import Message, Text
from heald.tools.git.repository import GitRepository, find_repository
from heald_cli.repository.changed_hunks import read_changes
from heald_cli.repository.commit_dialog import CommitDialog
from heald_cli.repository.commit_message import write_commit_message
from heald_cli.repository.commit_style import learn_style
from heald_cli.repository.pull_request_dialog import PullRequestDialog
from heald_cli.repository.pull_request_work import PullRequestOrder, prepare_pull_request, publish
from heald_cli.single_answer import AnswerWriter

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

_MAX_REQUESTS = 5
_MAX_WORDS = 300


async def run_commit_command(console: "ChatConsole", about: str) -> None:
    """Show the hunks and a message, and commit what the person chooses. `about` is a hint for the message."""
    repository = await _find_repository(console)
    changes = await asyncio.to_thread(read_changes, repository)
    if not changes.hunks:
        console.note("There is nothing to commit.")
        return
    if not changes.default_numbers:
        raise ConfigurationError("Every change looks like a secret; `heald commit --hunks N` commits it anyway.")
    style = await asyncio.to_thread(learn_style, repository)
    hint = about or await _last_requests(console)

    async def write(numbers: frozenset[int]) -> str:
        writer = _make_writer(console)
        try:
            return await write_commit_message(writer, style, changes.diff(numbers), hint)
        finally:
            console.chat.count_answers(writer.results)

    console.note("Writing the message …")
    message = await write(changes.default_numbers)
    dialog = CommitDialog(repository, changes, write, paint=console.paint, is_signed_off=style.is_signed_off)
    async with console.screen.lend():
        result = await dialog.run(changes.default_numbers, message)
    if result is None:
        console.note("Nothing was committed.")
        return
    subject = (await asyncio.to_thread(repository.run, "log", "-1", "--format=%s", "--")).decode("utf-8", "replace")
    console.note(f"Committed {result.commit}: {subject.strip()}")
    _notify_model(console, f"I committed changes as {result.commit}: {subject.strip()}", "!heald commit")


async def run_pr_command(console: "ChatConsole", about: str) -> None:
    """Show a pull request of the branch, and create it if the person agrees. `about` is a hint for its text."""
    repository = await _find_repository(console)
    writers: list[AnswerWriter] = []

    def make_writer() -> AnswerWriter:
        writers.append(_make_writer(console))
        return writers[-1]

    console.note("Writing title and body …")
    try:
        prepared = await prepare_pull_request(repository, PullRequestOrder(hint=about), make_writer)
    finally:
        console.chat.count_answers([result for writer in writers for result in writer.results])
    if prepared.existing is not None:
        console.note(f"{prepared.branch.name} has a pull request already; its commits are pushed to it.")
    async with console.screen.lend():
        new = await PullRequestDialog(prepared.branch, prepared.commits, console.paint).ask(prepared.new)
    if new is None:
        console.note("Nothing was pushed and no pull request was created.")
        return
    console.note("Pushing …")
    pull_request = await publish(repository, prepared, new)
    console.note(f"Pull request {pull_request.number}: {pull_request.url}")
    _notify_model(console, f"I opened pull request {pull_request.number} at {pull_request.url}.", "!heald pr")


async def _find_repository(console: "ChatConsole") -> GitRepository:
    repository = await asyncio.to_thread(find_repository, console.chat.folder)
    if repository is None:
        raise ConfigurationError("This folder is not in a git repository.")
    return repository


def _make_writer(console: "ChatConsole") -> AnswerWriter:
    return AnswerWriter(console.chat.find_model(console.chat.model))


async def _last_requests(console: "ChatConsole") -> str:
    """Return what the person asked for lately, which often says why files changed."""
    exchanges = (await console.chat.exchanges())[-_MAX_REQUESTS:]
    return "; ".join(exchange.words[:_MAX_WORDS] for exchange in exchanges if not exchange.words.startswith("/"))


def _notify_model(console: "ChatConsole", note: str, command: str) -> None:
    console.chat.session.notify_model(Message(role="user", content=[Text(note)], said=command))
