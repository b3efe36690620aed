"""`heald review`: a model comments on changes, at lines; the comments are printed, or posted to a pull request."""

import argparse
import asyncio

import msgspec

from heald.commands.memory_protection import protect_memory
from heald.commands.options import add_options
from heald.commands.terminal import BOLD, Colours, print_note, show_progress
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.tools.git.repository import GitRepository
from heald_cli.repository.branch_diff import last_commit, read_file_diffs
from heald_cli.repository.review import ReviewComment, review_files
from heald_cli.writer_options import make_writer, require_repository
from heald_forges.forge import Forge, PullRequest

EXAMPLES = """examples:
  heald review main..                         the commits of this branch since it left main
  heald review                                what is not committed
  heald review main.. --focus "error messages"
  heald review main.. --json                  one JSON object a comment
  heald review main.. --post                  also post the comments to the open pull request of the branch

The model may read the files of the repository, and changes nothing. A token for --post comes from the environment or
the key store: GH_TOKEN for github.com, GITLAB_TOKEN for gitlab.com, FORGE_TOKEN_<HOST> for another host.
exit status: 0 no comments, 1 failed, 2 wrong usage, 4 there are comments"""
COMMENTED = 4
"""The exit status of a review that has comments."""
COMMON_OPTIONS = ("commits", "folder", "focus", "post", "json", "model", "base_url")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("commits", nargs="?", default="", metavar="RANGE", help="such as main..; else what is changed")
    parser.add_argument("--folder", default=".", metavar="DIR", help="folder of the repository (the current folder)")
    parser.add_argument("--focus", default="", metavar="TEXT", help="what to look at especially")
    parser.add_argument("--post", action="store_true", help="post the comments to the open pull request of the branch")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    add_options(parser, "review")


def run(options: argparse.Namespace) -> int:
    protect_memory()
    repository = require_repository(options.folder)
    if options.post and not options.commits:
        raise ConfigurationError("--post needs the commits of the pull request, such as `heald review main.. --post`.")
    return asyncio.run(_review(options, repository))


async def _review(options: argparse.Namespace, repository: GitRepository) -> int:
    files = [file for file in await asyncio.to_thread(read_file_diffs, repository, options.commits) if file.lines]
    if not files:
        print_note(f"{options.commits or 'The working tree'} changes nothing that can be reviewed.")
        return 0
    poster = await _find_poster(repository, options.commits) if options.post else None  # before the model is paid for
    writer = make_writer(options, repository.top, ["read"])
    try:
        comments = await review_files(writer, files, options.focus, _show_part)
    finally:
        show_progress("")
    _print(comments, as_json=options.json)
    if poster is not None and comments:
        await poster.post(comments)
    return COMMENTED if comments else 0


def _show_part(number: int, count: int) -> None:
    show_progress(f"part {number} of {count}" if count > 1 else "the changes", "reviewing")


def _print(comments: list[ReviewComment], *, as_json: bool) -> None:
    paint = Colours()
    for comment in comments:
        if as_json:
            print(encode_text(comment))
        else:
            print(f"{paint(f'{comment.path}:{comment.line}', BOLD)}: {comment.text}")
    if not comments and not as_json:
        print_note("No comments.")


class _Poster(msgspec.Struct, frozen=True):
    """Posts comments to a pull request."""

    forge: Forge
    pull_request: PullRequest

    async def post(self, comments: list[ReviewComment]) -> None:
        """Post comments at added lines there; the others are part of the summary."""
        placed = [comment.for_forge() for comment in comments if comment.is_added]
        rest = [f"- `{comment.path}:{comment.line}`: {comment.text}" for comment in comments if not comment.is_added]
        plural = "s" * (len(comments) != 1)
        summary = "\n".join([f"Review by heald: {len(comments)} comment{plural}.", *rest])
        await self.forge.post_review(self.pull_request, summary, placed)
        print_note(f"{len(comments)} comment{plural} posted to {self.pull_request.url}")


async def _find_poster(repository: GitRepository, commits: str) -> _Poster:
    from heald_cli.repository.pull_request import read_branch
    from heald_forges.remote_forge import open_forge

    branch = await asyncio.to_thread(read_branch, repository)
    forge = await open_forge(branch.address)
    pull_request = await forge.find_pull_request(branch.name)
    if pull_request is None:
        raise ConfigurationError(f"There is no open pull request of {branch.name}; `heald pr` makes one.")
    last = await asyncio.to_thread(last_commit, repository, commits)
    if pull_request.commit and pull_request.commit != last:  # its lines have other numbers, or are not there
        raise ConfigurationError(
            f"{commits} ends with commit {last[:8]}, and the pull request with {pull_request.commit[:8]}; "
            f"push the branch, or review the commits that the pull request has."
        )
    return _Poster(forge, pull_request)
