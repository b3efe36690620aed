"""One running Chromium: started over pipes, killed with everything it started.

It ends with us, however we end: a Chromium that is driven by a pipe exits when the other end of the pipe closes.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from weft.studio.browser.chromium import command_line, find_chromium
from weft.studio.browser.connection import Connection, Refused
from weft.studio.browser.profile import Profile
from weft.studio.browser.rendering import BrowserError

START_SECONDS = 20.0
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH")


class Chromium:
    """A browser process and the connection to it."""

    def __init__(self, pid: int, connection: Connection, profile: Profile) -> None:
        self.pid = pid
        self.connection = connection
        self._profile = profile

    @classmethod
    async def start(cls, network: Sequence[str]) -> "Chromium":
        """Start one. Its own sandbox is on where it works: not for root, and not where namespaces are forbidden."""
        program = find_chromium()
        if os.geteuid() != 0:
            with contextlib.suppress(BrowserError):
                return await cls._start(program, network, sandbox=True)
        return await cls._start(program, network, sandbox=False)

    @classmethod
    async def _start(cls, program: Path, network: Sequence[str], *, sandbox: bool) -> "Chromium":
        profile = Profile()
        connection = Connection()
        try:
            pid, reading, writing = _spawn(command_line(program, profile.path, network, sandbox=sandbox), profile.path)
        except OSError:
            profile.remove()
            raise BrowserError("Chromium could not be started; check that WEFT_CHROMIUM can be run.", "start") from None
        chromium = cls(pid, connection, profile)
        try:
            await connection.connect(reading, writing)
            async with asyncio.timeout(START_SECONDS):
                await connection.call("Browser.getVersion")
        except (TimeoutError, BrowserError, Refused):
            await chromium.close()
            raise BrowserError(
                "Chromium was started but did not answer; run it once by hand to see what it lacks.", "start"
            ) from None
        except BaseException:
            await chromium.close()
            raise
        return chromium

    @property
    def alive(self) -> bool:
        return not self.connection.lost.is_set()

    def memory(self) -> dict[int, int]:
        """Bytes in use by each process below this one; empty where the system does not tell."""
        return {pid: _resident(pid) for pid in _descendants(self.pid)}

    async def close(self) -> None:
        """End it and all it started, and remove its folder."""
        self.connection.close()
        below = list(_descendants(self.pid))
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await _aside(partial(_reap, self.pid))
        await _aside(self._profile.remove)


def _spawn(arguments: list[str], home: Path) -> tuple[int, int, int]:
    """Start a program that reads commands at descriptor 3 and writes at 4, in a process group of its own."""
    its_reading, writing = _pipe()
    reading, its_writing = _pipe()
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "TZ": "UTC"}
    environment["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    try:
        pid = os.posix_spawn(
            arguments[0],
            arguments,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, its_reading, 3),
                (os.POSIX_SPAWN_DUP2, its_writing, 4),
            ],
            setpgroup=0,
        )
    except BaseException:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(its_reading)
        os.close(its_writing)
    return pid, reading, writing


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are out of the way of the descriptors that the program expects."""
    low = os.pipe()
    try:
        reading, writing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    finally:
        for end in low:
            os.close(end)
    return reading, writing


async def _aside(work: Callable[[], None]) -> None:
    """In a thread; while the interpreter ends there are none any more, and it is done here."""
    try:
        await asyncio.to_thread(work)
    except RuntimeError:
        work()


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _descendants(pid: int) -> Iterator[int]:
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, tasks.read_text().split()):
                yield child
                yield from _descendants(child)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
