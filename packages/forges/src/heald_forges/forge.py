"""What a forge offers: pull requests, and reviews with comments at lines."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from heald.core.errors import HealdError


class ForgeFailed(HealdError):
    """A remote that belongs to no forge, or a request that a forge refused."""

    code = "invalid_request"


class NewPullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request that does not exist yet. Its branch was pushed before."""

    title: str
    body: str
    branch: str
    """The branch with the changes."""
    base: str
    """The branch that the changes are for."""
    is_draft: bool = False


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request of a forge; GitLab calls it a merge request."""

    number: int
    url: str
    title: str
    branch: str
    base: str
    commit: str = ""
    """The last commit that the forge has of the branch; empty where it is not known."""


class LineComment(msgspec.Struct, frozen=True):
    """A comment at a line of the new file."""

    path: str
    line: int
    text: str


class Forge(Protocol):
    """One repository on a forge, with a token. All methods raise ForgeFailed or a ProviderError of one sentence."""

    @property
    def kind(self) -> str:
        """The name of the software, for messages: GitHub, GitLab or Gitea."""
        ...

    async def default_branch(self) -> str:
        """Return the branch that pull requests are for by default."""
        ...

    async def find_pull_request(self, branch: str) -> PullRequest | None:
        """Return the open pull request of a branch."""
        ...

    async def create_pull_request(self, new: NewPullRequest) -> PullRequest:
        """Create a pull request."""
        ...

    async def post_review(self, pull_request: PullRequest, summary: str, comments: Sequence[LineComment]) -> None:
        """Post comments at lines that the pull request changed, and a summary."""
        ...
