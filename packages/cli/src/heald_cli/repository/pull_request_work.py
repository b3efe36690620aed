"""The work of `heald pr` and of `/pr`: everything before the question, and everything after it."""

import asyncio
from collections.abc import Callable

import msgspec

from heald.core.errors import ConfigurationError
from heald.tools.git.repository import GitRepository
from heald_cli.repository.branch_diff import read_branch_diff
from heald_cli.repository.pull_request import (
    Branch,
    default_base,
    find_base,
    push_branch,
    read_branch,
    read_commits,
    write_pull_request,
)
from heald_cli.single_answer import AnswerWriter
from heald_forges.forge import Forge, NewPullRequest, PullRequest
from heald_forges.remote_forge import open_forge


class PullRequestOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the person said about a pull request; empty where they said nothing."""

    base: str = ""
    remote: str = ""
    title: str = ""
    body: str | None = None
    is_draft: bool = False
    hint: str = ""


class PreparedPullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request that waits for a decision."""

    new: NewPullRequest
    branch: Branch
    commits: int
    forge: Forge
    existing: PullRequest | None
    """The open pull request that the branch has already."""


async def prepare_pull_request(
    repository: GitRepository, order: PullRequestOrder, make_writer: Callable[[], AnswerWriter]
) -> PreparedPullRequest:
    """Find the forge and the commits, and let a model write what the person did not. Raises HealdError.

    The token is looked for before a model is asked.
    """
    branch = await asyncio.to_thread(read_branch, repository, order.remote)
    forge = await open_forge(branch.address)
    base = order.base or await default_base(forge, repository, branch)
    if base == branch.name:
        raise ConfigurationError(
            f"{branch.name} is the branch that pull requests are for; make one of your own with `git switch -c NAME`."
        )
    ref = await asyncio.to_thread(find_base, repository, branch, base)
    commits = await asyncio.to_thread(read_commits, repository, ref)
    if not commits:
        raise ConfigurationError(f"{branch.name} has no commits that {base} does not have; `heald commit` makes one.")
    existing = await forge.find_pull_request(branch.name)
    title, body = order.title, order.body
    if existing is not None:
        title, body = existing.title, body or ""
    elif not title or body is None:
        diff = await asyncio.to_thread(read_branch_diff, repository, f"{ref}..")
        written = await write_pull_request(make_writer(), commits, diff, order.hint)
        title, body = title or written[0], written[1] if body is None else body
    new = NewPullRequest(title=title, body=body or "", branch=branch.name, base=base, is_draft=order.is_draft)
    return PreparedPullRequest(new=new, branch=branch, commits=len(commits), forge=forge, existing=existing)


async def publish(repository: GitRepository, prepared: PreparedPullRequest, new: NewPullRequest) -> PullRequest:
    """Push the branch and create the pull request, unless the branch has one. Raises HealdError."""
    await push_branch(repository, prepared.branch)
    return prepared.existing or await prepared.forge.create_pull_request(new)
