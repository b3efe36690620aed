"""When a SQLite file was last written, by the times of its files: no connection, no thread and no lock is needed.

Who found nothing to do in the file need not look again while its stamp is the same.
"""

import os
from pathlib import Path
from time import time

SETTLED_SECONDS = 0.05
"""A file whose time is more recent may be written once more with the same time: systems count it in ticks."""

Stamp = tuple[tuple[int, int, int], ...]


class FileStamp:
    """Tells whether a SQLite file and its log of changes may have been written."""

    def __init__(self, path: Path) -> None:
        self._paths = (os.fspath(path), f"{path}-wal")

    def read(self) -> Stamp | None:
        """Return what differs as soon as any process has written, or None if it was written just now."""
        latest = time() - SETTLED_SECONDS
        stamp: list[tuple[int, int, int]] = []
        for path in self._paths:
            try:
                status = os.stat(path)
            except FileNotFoundError:
                continue
            except OSError:
                return None
            if status.st_mtime > latest:
                return None
            stamp.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return tuple(stamp)
