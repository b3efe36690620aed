"""`heald commit`: commits chosen hunks, with a message in the style of the repository that a model writes."""

import argparse
import asyncio
import sys

from heald.commands.memory_protection import protect_memory
from heald.commands.options import add_options
from heald.commands.terminal import Colours, print_note, show_progress
from heald.core.errors import ConfigurationError
from heald.tools.git.repository import GitRepository
from heald_cli.repository.changed_hunks import UncommittedChanges, parse_selection, read_changes
from heald_cli.repository.commit_dialog import CommitDialog, WriteMessage
from heald_cli.repository.commit_message import write_commit_message
from heald_cli.repository.commit_style import CommitStyle, learn_style
from heald_cli.writer_options import make_writer, require_repository

EXAMPLES = """examples:
  heald commit                          show the hunks and a message, and ask
  heald commit "it broke on Windows"    with a hint for the message
  heald commit --hunks 1,3-5            these hunks only
  heald commit --yes                    commit without a question
  heald commit --dry-run                print the message and commit nothing
  heald commit --message "Fix a typo"   with a message of your own; no model is asked

If something is staged, that is what is committed; otherwise all changes and new files, but no file that looks like it
holds a secret. Git's hooks run; if one refuses, its words are shown, and the index is as it was.
exit status: 0 committed, 1 not committed, 2 wrong usage"""
COMMON_OPTIONS = ("about", "folder", "hunks", "message", "yes", "dry_run", "model", "base_url")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "about", nargs="?", default="", metavar="HINT", help="what the change is about, for the message"
    )
    parser.add_argument("--folder", default=".", metavar="DIR", help="folder of the repository (the current folder)")
    parser.add_argument("--hunks", default="", metavar="N", help="numbers of the hunks, as in 1,3-5")
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="message of your own; no model is asked")
    parser.add_argument("--yes", action="store_true", help="commit without a question")
    parser.add_argument("--dry-run", action="store_true", help="print the message and commit nothing")
    add_options(parser, "commit")


def run(options: argparse.Namespace) -> int:
    protect_memory()
    repository = require_repository(options.folder)
    if not (options.yes or options.dry_run) and not sys.stdin.isatty():
        raise ConfigurationError("There is no terminal for the question; --yes commits, --dry-run prints the message.")
    return asyncio.run(_commit(options, repository))


async def _commit(options: argparse.Namespace, repository: GitRepository) -> int:
    changes = await asyncio.to_thread(read_changes, repository)
    if not changes.hunks:
        print_note("There is nothing to commit.")
        return 1
    numbers = parse_selection(options.hunks, len(changes.hunks)) if options.hunks else changes.default_numbers
    if not numbers:
        raise ConfigurationError("Every change looks like a secret; --hunks chooses some nevertheless.")
    style = await asyncio.to_thread(learn_style, repository)
    write = _writing(options, changes, style)
    dialog = CommitDialog(repository, changes, write, paint=Colours(sys.stderr), is_signed_off=style.is_signed_off)
    message: str = options.message.strip()
    if options.dry_run or options.yes:
        message = message or await write(numbers)
        if options.dry_run:
            print(message)
            return 0
        dialog.show(numbers, message)
        result = await dialog.commit(numbers, message)
    else:
        result = await dialog.run(numbers, message)
    if result is None or not result.commit:
        print_note("Nothing was committed.")
        return 1
    print(f"{result.commit} {message.splitlines()[0] if message else ''}".rstrip())
    return 0


def _writing(options: argparse.Namespace, changes: UncommittedChanges, style: CommitStyle) -> WriteMessage:
    async def write(numbers: frozenset[int]) -> str:
        writer = make_writer(options)
        show_progress("the message", "writing")
        try:
            return await write_commit_message(writer, style, changes.diff(numbers), options.about)
        finally:
            show_progress("")

    return write
