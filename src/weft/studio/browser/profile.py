"""Profile folders: empty, one for each browser, gone with it.

A folder that a killed process left behind is removed by whoever comes next: its owner's lock on it is free then.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "weft-chromium-"
_LOCK = "owner.lock"


class Profile:
    """A new folder, locked as long as it is in use."""

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the folder. What is still being written when its browser was killed is tried once more."""
        for _ in range(2):
            shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, -1
        if lock >= 0:  # once, though several may end the same browser
            os.close(lock)


def _sweep() -> None:
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = os.open(left / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)
