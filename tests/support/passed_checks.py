"""Checks of sources that are not repeated while the sources are the same, as `scripts/check_types.py` does for types.

The digest of what a check reads is stored in the user's cache once the check has passed. With `HEALD_ALL_CHECKS` set,
every check runs.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from repository import ROOT

STORED = 50
"""Digests that are stored, the newest ones."""


def digest_files(paths: Iterable[Path], *facts: str) -> str:
    """The digest of files and their names, and of facts that are not in a file."""
    total = sha256("\0".join(facts).encode())
    for path in sorted(paths):
        total.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode() + sha256(path.read_bytes()).digest())
    return total.hexdigest()


class PassedChecks:
    """The digests with which a check has passed."""

    def __init__(self, name: str) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self._folder = cache / "heald-types" / name

    def __contains__(self, digest: str) -> bool:
        return "HEALD_ALL_CHECKS" not in os.environ and (self._folder / digest).exists()

    def add(self, digest: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / digest).touch()
        newest_last = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in newest_last[:-STORED]:
            path.unlink(missing_ok=True)
