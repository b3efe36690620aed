"""Locks by which the processes that share a file of sessions see which of them are alive.

Each process holds an exclusive lock on a file of its own in a folder beside the sessions. The system releases the lock
when the process ends, however it ends. It works for containers that share the folder, whatever their process ids are.
A process that serves also touches its file every second: one that is frozen holds its lock and does not.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep, time

from heald.core.errors import HealdError

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None


_TRIES = 200
_PAUSE = 0.005
FROZEN_SECONDS = 10.0
"""A process that serves and has not touched its file for so long is frozen, and counts as dead."""
_STEADY_SECONDS = 3.0
"""Seconds between own heartbeats from which on this process was frozen itself, perhaps with the whole machine."""


class NodeLock:
    """The lock of one node, held from its creation until `close`."""

    def __init__(self, folder: Path, node: str) -> None:
        if not node or "/" in node or node.startswith("."):
            raise HealdError(f"The name of a node is a file name, not {node[:80]!r}; choose another one.")
        self._folder = folder
        self._node = node
        self._handle = self._acquire()
        self._beat = 0.0
        self._steady_since = 0.0

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

    def beat(self) -> None:
        """Show the others that this process serves and is not frozen."""
        if self._handle < 0:
            return
        now = time()
        if self._beat == 0.0:
            os.write(self._handle, b"1")  # from now on its time counts
        if not 0 <= now - self._beat < _STEADY_SECONDS:
            self._steady_since = now
        self._beat = now
        os.utime(self._handle)

    def is_alive(self, node: str) -> bool:
        """Return whether a node holds its lock and is not frozen. The file of one that has ended is deleted."""
        if node == self._node:
            return True
        try:
            handle = os.open(self._folder / node, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            if fcntl is None or not _try_lock(handle):
                return not self._is_frozen(handle)  # without locks, its leases expire
            with suppress(OSError):
                os.unlink(self._folder / node)
            return False
        finally:
            os.close(handle)

    def _is_frozen(self, handle: int) -> bool:
        """Return whether another process serves and has not shown for long that it lives. One that was frozen itself
        gives the others some time."""
        now, status = time(), os.fstat(handle)
        is_steady = 0 <= now - self._beat < _STEADY_SECONDS and now - self._steady_since >= _STEADY_SECONDS
        return is_steady and status.st_size > 0 and now - status.st_mtime > FROZEN_SECONDS

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
