"""A command while it runs: its streams are read as they come, and when it ends nothing of it is left.

In a sandbox every process of the command lives in one pid namespace. Killing the first of them kills all, whatever
they did to hide, and only when the kernel says that it is gone does the command count as ended. Processes are named by
file descriptor or are children not yet waited for, so no signal ever reaches a stranger.
"""

import array
import asyncio
import fcntl
import json
import logging
import os
import select
import signal
import subprocess
import termios
from contextlib import suppress
from time import monotonic

from weft.tools.outcome import ToolFault
from weft.tools.shell.output import Channel, Output
from weft.tools.shell.sandbox import Launch

_PIECE = 64 * 1024
_SETUP = 20.0
"""Seconds that the sandbox has to be set up."""
_LINGER = 0.5
"""Seconds that streams may stay open after an unsandboxed command has ended."""


class Process:
    """One command. It begins at once; `ended` is set when nothing of it runs any more."""

    def __init__(self, launch: Launch, output: Output) -> None:
        self.output = output
        self.exit_code: int | None = None
        self.notes: list[str] = []
        self._started = monotonic()
        self._duration: float | None = None
        self._launch = launch
        self._loop = asyncio.get_running_loop()
        self._child: subprocess.Popen[bytes] | None = None
        self._first: int | None = None  # pidfd of the first process in the namespace
        self._knocked = False  # the sandbox was told to let the command begin
        self._heard = b""  # from the sandbox, about itself
        self._stopping = False
        self._ended = False
        self._streams: dict[int, Channel] = {}
        self._drained = asyncio.Event()
        self._life = self._loop.create_task(self._live())
        self._life.add_done_callback(lambda _: self._end())  # for a task that is cancelled before it begins

    @property
    def running(self) -> bool:
        return not self._life.done()

    @property
    def elapsed(self) -> float:
        """Seconds that it ran, or has run so far."""
        return monotonic() - self._started if self._duration is None else self._duration

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end. False if the time was over first; the command goes on then."""
        await asyncio.wait({self._life}, timeout=seconds)
        if not self._life.done():
            return False
        self._life.result()
        return True

    async def stop(self) -> None:
        """End it now. Returns when nothing is left, even if the caller is cancelled meanwhile."""
        self._stopping = True
        self._kill()
        cancelled = False
        while not self._life.done():
            try:
                await asyncio.wait({self._life})
            except asyncio.CancelledError:
                cancelled = True
        if not self._life.cancelled():
            self._life.exception()
        if cancelled:
            raise asyncio.CancelledError

    def _kill(self) -> None:
        child = self._child
        if child is None or (self._launch.sandboxed and self._first is None):
            return  # it is still being set up, and is ended as soon as it can be named
        if self._first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            child.kill()
        elif child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)

    # --- from start to end --------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            child = self._spawn()
            if self._launch.sandboxed:
                await self._open_gate(child)
            else:
                with suppress(OSError):
                    self._launch.limits.impose(child.pid)
            if self._stopping:
                self._kill()
            await self._exit_of(child)
        finally:
            self._end()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        launch = self._launch
        try:
            self._child = child = subprocess.Popen(
                launch.argv,
                env=launch.env,
                cwd=launch.cwd,
                pass_fds=launch.pass_fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=not launch.sandboxed,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it holds a NUL character"
            raise ToolFault(f"The command could not be started: {reason}.", "cannot_start") from None
        launch.started()
        assert child.stdout is not None
        assert child.stderr is not None
        streams: tuple[tuple[int, Channel], ...] = (
            (child.stdout.fileno(), "stdout"),
            (child.stderr.fileno(), "stderr"),
        )
        for fd, channel in streams:
            os.set_blocking(fd, False)
            self._streams[fd] = channel
            self._loop.add_reader(fd, self._read, fd)
        return child

    async def _open_gate(self, child: "subprocess.Popen[bytes]") -> None:
        """The sandbox stands and waits: take hold of its first process, bind it, and let the command begin."""
        launch = self._launch
        assert launch.info is not None
        assert launch.gate is not None
        os.set_blocking(launch.info, False)
        bound = False
        with suppress(OSError, TimeoutError):  # it failed and is gone, or cannot be bound
            async with asyncio.timeout(_SETUP):
                pid = await self._first_pid(launch.info)
            if pid is not None:
                self._first = os.pidfd_open(pid)
                launch.limits.impose(pid)
                bound = True
        if not bound:
            self._kill()
            child.kill()
        elif not self._stopping:
            with suppress(BrokenPipeError):  # it is gone already: nobody will be let in
                self._knocked = os.write(launch.gate, b"\n") == 1

    async def _first_pid(self, info: int) -> int | None:
        while self._hear(info):
            await _readable(self._loop, info)
        return _pid_in(self._heard)

    def _hear(self, info: int) -> bool:
        """Read what the sandbox says of itself. False when it has said all of it."""
        try:
            piece = os.read(info, 4096)
        except BlockingIOError:
            return True
        self._heard += piece
        return bool(piece) and _pid_in(self._heard) is None

    async def _exit_of(self, child: "subprocess.Popen[bytes]") -> None:
        await _exited(self._loop, child)
        if not self._launch.sandboxed:
            self._kill()  # what it left in its group, while the group is surely its own
        code = child.wait()
        self.exit_code = code if code >= 0 else 128 - code
        if not self._launch.sandboxed:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LINGER):
                    await self._drained.wait()
            return
        if self._first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            await _readable(self._loop, self._first)
        await self._drained.wait()
        if not self._stopping and not self._was_let_in():
            logging.getLogger("weft").warning("bwrap failed: %s", self.output.close().strip()[-500:])
            raise ToolFault(
                "The sandbox could not be set up, so nothing was run; the server's log says why.", "sandbox_failed"
            )

    def _was_let_in(self) -> bool:
        """Whether the byte at the gate was taken, which the sandbox does when all else is done."""
        if self._launch.gate is None or not self._knocked:
            return False
        waiting = array.array("i", [0])
        fcntl.ioctl(self._launch.gate, termios.FIONREAD, waiting)
        return waiting[0] == 0

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.output.feed(self._streams[fd], data)
            if self.output.too_much and not self._stopping:
                self._stopping = True
                self._kill()
            return
        self._loop.remove_reader(fd)
        del self._streams[fd]
        if not self._streams:
            self._drained.set()

    def _end(self) -> None:
        """Leave nothing behind, however it came to this."""
        if self._ended:
            return
        self._ended = True
        for fd in self._streams:
            self._loop.remove_reader(fd)
        child = self._child
        if child is not None:
            if child.returncode is None:
                self._abandon(child)
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()
        if self._first is not None:
            os.close(self._first)
            self._first = None
        self.notes = self._launch.close()
        self._duration = monotonic() - self._started

    def _abandon(self, child: "subprocess.Popen[bytes]") -> None:
        """The loop is closing down under a running command."""
        info = self._launch.info
        if self._first is None and info is not None:
            while select.select([info], [], [], 2)[0] and self._hear(info):
                pass
            pid = _pid_in(self._heard)
            if pid is not None:
                with suppress(OSError):
                    self._first = os.pidfd_open(pid)
        self._kill()
        child.kill()
        child.wait()
        if self._first is not None:
            select.select([self._first], [], [], 2)


def _pid_in(said: bytes) -> int | None:
    """The process id in the JSON that bubblewrap writes, once it is whole."""
    with suppress(ValueError):
        return int(json.loads(said)["child-pid"])
    return None


async def _readable(loop: asyncio.AbstractEventLoop, fd: int) -> None:
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)


async def _exited(loop: asyncio.AbstractEventLoop, child: "subprocess.Popen[bytes]") -> None:
    """Wait until a child has ended, without yet waiting for it: its pid stays its own."""
    if child.returncode is not None:  # whoever killed it found it dead
        return
    try:
        fd = os.pidfd_open(child.pid)
    except (AttributeError, OSError):  # not Linux, or an old one
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:  # noqa: ASYNC110, ASYNC222
            await asyncio.sleep(0.02)
        return
    try:
        await _readable(loop, fd)
    finally:
        os.close(fd)
