"""Bodies and responses of the API of repositories."""

from typing import Literal

import msgspec

from heald_server.routes.fields import Body
from heald_studio.repositories.dev_server import DevStatus

JobStatus = Literal["running", "passed", "failed"]


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run of a command."""

    command: str
    status: JobStatus
    output: str
    """The end of what it printed."""


class CommandsView(msgspec.Struct, frozen=True, kw_only=True):
    """The commands of the repository, and whether a person agreed to run them."""

    dev: str
    script: str
    """The text of the script that `dev` runs."""
    install: str
    test: str
    """Empty if the repository has no tests."""
    digest: str
    """Send it to agree to exactly these commands."""
    agreed: bool


class BranchView(msgspec.Struct, frozen=True, kw_only=True):
    branch: str
    base: str
    """The branch that the change began at; empty if no change is open."""
    changed: list[str]
    """Files that are not committed."""
    commits: int


class RepositoryView(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the server with its dev server and its change."""

    name: str
    framework: str
    """Such as Vite or Next; empty if the folder has no dev server."""
    installed: bool
    commands: CommandsView | None
    status: DevStatus
    preview: str
    """The address of the preview; empty while there is none, and for a browser on another machine."""
    output: str
    """The end of what the dev server printed."""
    install: JobView | None
    test: JobView | None
    branch: BranchView | None
    """None if the folder is not a git repository."""
    proposed_hosts: list[str]
    """Hosts that the packages come from and that nobody has allowed."""
    refused_hosts: list[str]
    allowed_hosts: list[str]


class RepositorySummary(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    framework: str
    status: DevStatus


class RepositoriesView(msgspec.Struct, frozen=True):
    repositories: list[RepositorySummary]


class DiffView(msgspec.Struct, frozen=True):
    diff: str
    """The difference of the folder to the base of the change, in the format of git."""


class PullRequestView(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    url: str


class AgreeBody(Body, frozen=True, kw_only=True):
    digest: str
    """The digest of the commands as they were shown."""


class HostBody(Body, frozen=True, kw_only=True):
    host: str


class BeginBody(Body, frozen=True, kw_only=True):
    title: str
    """Words that name the branch."""


class CommitBody(Body, frozen=True, kw_only=True):
    message: str


class PullRequestBody(Body, frozen=True, kw_only=True):
    title: str
    body: str = ""
    draft: bool = False
