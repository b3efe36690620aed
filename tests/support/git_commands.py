"""Runs git for tests, with an author and a first branch of its own."""

import subprocess
from pathlib import Path

_SETTINGS = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path | str, *words: str) -> str:
    """Run git in a folder. Returns what it prints."""
    return subprocess.run(["git", *_SETTINGS, *words], cwd=folder, check=True, capture_output=True, text=True).stdout
