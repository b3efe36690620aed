"""A real PostgreSQL on a small disk that can be filled. The disk is a tmpfs, which needs the rights to mount one."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from postgres_server import PostgresServer, require_programs

_SIZE = "160m"
_BLOCK = b"\0" * 65536


class SmallDiskServer(PostgresServer):
    """A server whose tables lie on a small disk, and its write-ahead log on another one: it ends when that is full."""

    def __init__(self, programs: Path, folder: Path) -> None:
        super().__init__(programs, folder)
        self._data = folder / "disk" / "data"
        self._ballast = folder / "disk" / "ballast"
        self._initdb_options = [f"--waldir={folder / 'wal'}"]

    def create(self) -> None:
        if self._as_user is not None:
            shutil.chown(self._folder / "disk", self._as_user)
        super().create()

    def fill(self) -> None:
        """Fill the disk up."""
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in (len(_BLOCK), 4096):
                try:
                    while True:
                        ballast.write(_BLOCK[:size])
                except OSError:
                    continue

    def make_room(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def running_on_small_disk() -> Generator[SmallDiskServer]:
    programs = require_programs()
    folder = Path(tempfile.mkdtemp(prefix="heald-pg-disk-"))
    disk = folder / "disk"
    disk.mkdir()
    try:
        _mount(disk)
        server = SmallDiskServer(programs, folder)
        try:
            server.create()
            server.start()
            yield server
        finally:
            server.make_room()
            server.stop(kill=True)
            subprocess.run(["umount", str(disk)], check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mount(disk: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        import pytest  # benchmarks use this module without it

        pytest.skip("A small disk needs the rights to mount a tmpfs.")
