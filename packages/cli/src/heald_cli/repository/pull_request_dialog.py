"""Shows a pull request before it exists, and lets the person edit it and decide."""

import sys

from heald.commands.terminal import BOLD, DIM, Colours
from heald.tools.sanitize import sanitize_text
from heald_cli.questions import read_line
from heald_cli.repository.commit_dialog import edit_message
from heald_cli.repository.pull_request import Branch, split_text
from heald_forges.forge import NewPullRequest


class PullRequestDialog:
    """One pull request that a person is asked about."""

    def __init__(self, branch: Branch, commits: int, paint: Colours) -> None:
        self._branch = branch
        self._commits = commits
        self._paint = paint

    def show(self, new: NewPullRequest) -> None:
        """Print where it goes, its title and its body."""
        plural = "s" * (self._commits != 1)
        what = "Draft of a pull request" if new.is_draft else "Pull request"
        place = f"{new.branch} for {new.base}, pushed to {self._branch.remote}"
        self._print(self._paint(f"{what}: {self._commits} commit{plural} of {place}", DIM), "")
        self._print(f"  {self._paint(sanitize_text(new.title), BOLD)}", "")
        self._print(*(f"  {sanitize_text(line)}" for line in new.body.splitlines()), "")

    async def ask(self, new: NewPullRequest) -> NewPullRequest | None:
        """Ask until the person agrees or declines. Returns the pull request as edited, or None."""
        self.show(new)
        while True:
            answer = (await read_line("push and create it? [y]es, [e]dit, [n]o: ")).strip().lower()
            if answer in ("y", "yes"):
                return new
            if answer in ("n", "no", "q"):
                return None
            if answer in ("e", "edit"):
                title, body = split_text(edit_message(f"{new.title}\n\n{new.body}"))
                new = NewPullRequest(
                    title=title or new.title,
                    body=body,
                    branch=new.branch,
                    base=new.base,
                    is_draft=new.is_draft,
                )
                self.show(new)

    def _print(self, *lines: str) -> None:
        for line in lines:
            print(line, file=sys.stderr)
