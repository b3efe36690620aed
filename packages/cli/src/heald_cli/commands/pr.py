"""`heald pr`: opens a pull request of the branch that is checked out."""

import argparse
import asyncio
import sys

from heald.commands.memory_protection import protect_memory
from heald.commands.options import add_options
from heald.commands.terminal import Colours, print_note, show_progress
from heald.core.errors import ConfigurationError
from heald.tools.git.repository import GitRepository
from heald_cli.repository.pull_request_dialog import PullRequestDialog
from heald_cli.repository.pull_request_work import PullRequestOrder, prepare_pull_request, publish
from heald_cli.writer_options import make_writer, require_repository

EXAMPLES = """examples:
  heald pr                                      write title and body, show them, push the branch and create it
  heald pr --base develop --draft
  heald pr --title "Add a door" --body "It opens." --yes     no model is asked
  heald pr --dry-run                            print title and body

Git pushes the branch as it does for you, with its hooks; nothing is overwritten. The forge is that of the remote's
address: GitHub, GitLab or Gitea. Its token comes from the environment or the key store (`heald key set NAME`):
GH_TOKEN for github.com, GITLAB_TOKEN for gitlab.com, CODEBERG_TOKEN, FORGE_TOKEN_<HOST> for another host.
exit status: 0 there is a pull request, 1 failed or declined, 2 wrong usage"""
COMMON_OPTIONS = (
    *("about", "folder", "base", "remote", "title", "body", "draft", "yes", "dry_run"),
    "model",
    "base_url",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("about", nargs="?", default="", metavar="HINT", help="what the branch is about, for the text")
    parser.add_argument("--folder", default=".", metavar="DIR", help="folder of the repository (the current folder)")
    parser.add_argument("--base", default="", metavar="BRANCH", help="branch that it is for (the remote's default)")
    parser.add_argument("--remote", default="", metavar="NAME", help="remote that is pushed to (origin)")
    parser.add_argument("--title", default="", metavar="TEXT", help="title of your own")
    parser.add_argument("--body", default=None, metavar="TEXT", help="body of your own; with --title no model is asked")
    parser.add_argument("--draft", action="store_true", help="create it as a draft")
    parser.add_argument("--yes", action="store_true", help="push and create without a question")
    parser.add_argument("--dry-run", action="store_true", help="print title and body; push and create nothing")
    add_options(parser, "pr")


def run(options: argparse.Namespace) -> int:
    protect_memory()
    repository = require_repository(options.folder)
    if not (options.yes or options.dry_run) and not sys.stdin.isatty():
        raise ConfigurationError("There is no terminal for the question; --yes creates it, --dry-run prints it.")
    return asyncio.run(_open(options, repository))


async def _open(options: argparse.Namespace, repository: GitRepository) -> int:
    order = PullRequestOrder(
        base=options.base,
        remote=options.remote,
        title=options.title,
        body=options.body,
        is_draft=options.draft,
        hint=options.about,
    )
    show_progress("title and body", "writing")
    try:
        prepared = await prepare_pull_request(repository, order, lambda: make_writer(options))
    finally:
        show_progress("")
    if prepared.existing is not None:
        print_note(f"{prepared.branch.name} has a pull request already; its commits are pushed to it.")
    if options.dry_run:
        print(f"{prepared.new.title}\n\n{prepared.new.body}".strip())
        return 0
    new = prepared.new
    if not options.yes:
        agreed = await PullRequestDialog(prepared.branch, prepared.commits, Colours(sys.stderr)).ask(new)
        if agreed is None:
            print_note("Nothing was pushed and no pull request was created.")
            return 1
        new = agreed
    pull_request = await publish(repository, prepared, new)
    print(pull_request.url)
    return 0
