"""A git repository in the folder that a command works in."""

from pathlib import Path

import git_commands
from cli_pages import here


def git(*words: str) -> str:
    """Run git there. Returns what it prints."""
    return git_commands.git(Path.cwd(), *words)


def make_repository() -> None:
    """Make a repository with one file and one commit."""
    git("init", "-q")
    here("a.txt").write_text("one\n")
    git("add", "-A")
    git("commit", "-qm", "The first commit")
