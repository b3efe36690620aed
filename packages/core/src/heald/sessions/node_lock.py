"""Locks by which the processes that share a file of sessions see which of them are alive.

Each process holds an exclusive lock on a file of its own in a folder beside the sessions. The system releases the lock
when the process ends, however it ends. It works for containers that share the folder, whatever their process ids are.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

from heald.core.errors import HealdError

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None


_TRIES = 200
_PAUSE = 0.005


class NodeLock:
    """The lock of one node, held from its creation until `close`."""

    def __init__(self, folder: Path, node: str) -> None:
        if not node or "/" in node or node.startswith("."):
            raise HealdError(f"The name of a node is a file name, not {node[:80]!r}; choose another one.")
        self._folder = folder
        self._node = node
        self._handle = self._acquire()

    def _acquire(self) -> int:
        """Create and lock the file. Another node may look at it in between, and delete it because it is not locked."""
        for _ in range(_TRIES):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            try:
                handle = os.open(self._folder / self._node, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                continue  # the last node deleted the folder
            if _try_lock(handle) and _is_at(handle, self._folder / self._node):
                return handle
            os.close(handle)
            sleep(_PAUSE)
        raise HealdError(f"A node {self._node!r} runs on these sessions already; give this one another name.")

    def is_alive(self, node: str) -> bool:
        """Return whether a node holds its lock. The file of a dead one is deleted."""
        if node == self._node:
            return True
        try:
            handle = os.open(self._folder / node, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            if fcntl is None or not _try_lock(handle):
                return True  # without locks, its leases expire
            with suppress(OSError):
                os.unlink(self._folder / node)
            return False
        finally:
            os.close(handle)

    def others(self) -> Iterator[str]:
        """Yield the other living nodes."""
        try:
            names = os.listdir(self._folder)
        except OSError:
            return
        yield from (name for name in names if name != self._node and self.is_alive(name))

    def close(self) -> None:
        if self._handle < 0:
            return
        for _ in self.others():
            pass  # files of dead nodes are deleted
        with suppress(OSError):
            os.unlink(self._folder / self._node)
        os.close(self._handle)
        self._handle = -1
        with suppress(OSError):
            os.rmdir(self._folder)  # fails while another node has its file there


def _try_lock(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Return whether the open file is still the one at the path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
