"""The folder of a browser: its profile, removed with it, also after a crash."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "heald-chromium-"
_SHORT_FOLDER = "/tmp"
_LONGEST_FOLDER = 30
_LOCK = "owner.lock"


class Profile:
    """An empty profile folder, locked as long as it is in use."""

    def __init__(self) -> None:
        _remove_orphans()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_profiles_folder()))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the folder, in two attempts: a killed browser may still write the first time."""
        for _ in range(2):
            shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, -1
        if lock >= 0:  # this may be called several times
            os.close(lock)


def _profiles_folder() -> str:
    """The folder of profiles. Chromium makes a socket in its profile, whose path may have about a hundred bytes."""
    usual = tempfile.gettempdir()
    is_short = len(os.fsencode(usual)) <= _LONGEST_FOLDER or not os.access(_SHORT_FOLDER, os.W_OK)
    return usual if is_short else _SHORT_FOLDER


def _remove_orphans() -> None:
    """Remove the profiles of killed processes: their locks are free."""
    for left in Path(_profiles_folder()).glob(f"{_PREFIX}*"):
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
