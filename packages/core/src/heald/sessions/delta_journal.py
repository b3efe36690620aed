"""The file in which a process writes its deltas before SQLite has them.

What was written to a file survives the death of the process, and costs a fraction of a commit. Each line has a
checksum, and between tabs the session, the epoch of its writer, and the JSON of each delta. A line whose end is missing
is ignored.

The file begins with the boot of the machine and a number. A process that takes a session over raises that number in the
journal of the former writer, before it reads the lines. The former writer reads the number after each write. So either
its line is read by its successor, or it learns that it may have a successor before a client sees the deltas.
"""

import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import msgspec

from heald.core.json import encode, loads

_HEAD = struct.Struct("<8sQ48s")
"""A magic text, the number of takeovers, and the boot."""
_MAGIC = b"HEALDDJ1"
_NUMBER = slice(8, 16)
RESET_BYTES = 1_000_000
"""The size from which on a journal is emptied when SQLite has everything in it."""


class JournalEntry(msgspec.Struct, frozen=True):
    """Deltas of one session, in the form in which they are stored."""

    session: str
    epoch: int
    bodies: Sequence[bytes]


class DeltaJournal:
    """The journal of one process. `append` may be called while it is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._map: mmap.mmap | None = None
        self._end = 0

    @property
    def generation(self) -> bytes:
        """What changes when another process takes a session over from this one; empty while the journal is closed."""
        return self._map[_NUMBER] if self._map is not None else b""

    def open(self) -> None:
        """Create the file, and wait until the disk has it: after a loss of power its presence tells that deltas may be
        missing."""
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, _HEAD.pack(_MAGIC, 0, current_boot()))
            os.fsync(fd)
            for folder in (self._path.parent, self._path.parent.parent):
                _sync_folder(folder)
            self._map = mmap.mmap(fd, _HEAD.size, access=mmap.ACCESS_READ)
        except BaseException:
            os.close(fd)
            raise
        self._end = _HEAD.size
        self._fd = fd

    def append(self, session: str, epoch: int, bodies: Sequence[bytes]) -> bool:
        """Write deltas. Returns False, with the file as it was, if there is no room for them."""
        body = b"\t".join((_line_head(session, epoch), *bodies))
        line = b"%08x %s\n" % (crc32(body), body)
        try:
            written = os.pwrite(self._fd, line, self._end)
        except OSError:
            written = 0
        if written == len(line):
            self._end += written
            return True
        with suppress(OSError):
            os.ftruncate(self._fd, self._end)
        return False

    def reset(self) -> None:
        """Forget what SQLite has by now."""
        if self._end > RESET_BYTES and self._fd >= 0:
            os.ftruncate(self._fd, _HEAD.size)
            self._end = _HEAD.size

    def close(self, *, is_needed: bool) -> None:
        """Close the file, and delete it unless it holds what SQLite lacks."""
        fd, self._fd = self._fd, -1
        opened, self._map = self._map, None
        if opened is None:
            return
        opened.close()
        os.close(fd)
        if is_needed:
            return
        with suppress(OSError):
            self._path.unlink()
        with suppress(OSError):
            self._path.parent.rmdir()  # fails while another process has its file there


@lru_cache(maxsize=1024)
def _line_head(session: str, epoch: int) -> bytes:
    return b"%b\t%d" % (encode(session), epoch)


def fence_journal(path: Path) -> None:
    """Tell the process of a journal that one of its sessions may have another writer from now on."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return  # it has none
    try:
        number = int.from_bytes(os.pread(fd, 8, _NUMBER.start), "little")
        os.pwrite(fd, ((number + 1) % 2**64).to_bytes(8, "little"), _NUMBER.start)
    finally:
        os.close(fd)


def read_journal(path: Path) -> tuple[bool, list[JournalEntry]]:
    """Return whether a journal was written since the machine was started, and its entries."""
    try:
        data = path.read_bytes()
        magic, _, boot = _HEAD.unpack_from(data)
    except (OSError, struct.error):
        return False, []
    if magic != _MAGIC:
        return False, []
    lines = _read_lines(data[_HEAD.size :])
    return bool(boot.strip(b"\0")) and boot == _padded(current_boot()), [_entry(line) for line in lines]


def _entry(line: bytes) -> JournalEntry:
    """Read a line: JSON has no tabs."""
    session, epoch, *bodies = line.split(b"\t")
    return JournalEntry(str(loads(session)), int(epoch), bodies)


def _read_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines that are whole."""
    for line in data.split(b"\n")[:-1]:
        checksum, _, body = line.partition(b" ")
        if checksum == b"%08x" % crc32(body):
            yield body


def _padded(boot: bytes) -> bytes:
    return boot.ljust(48, b"\0")


def current_boot() -> bytes:
    """Return the id of the machine's boot; empty where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()[:48]
    except OSError:
        return b""


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
