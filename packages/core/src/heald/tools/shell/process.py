"""A running command: reads its output into a bounded buffer and kills all of its processes.

In a sandbox all processes of the command share one pid namespace. Killing its first process kills all of them, and the
command has ended when the kernel reports it. Signals are sent through pidfds or to unreaped children only, so that they
never reach another program. The beginning and the end of the output are kept.
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

from heald.tools.shell.command_output import Channel, CommandOutput
from heald.tools.shell.resource_watch import ResourceWatch
from heald.tools.shell.sandbox import Launch
from heald.tools.tool_fault import ToolFault

_PIECE = 64 * 1024
_SETUP = 20.0
"""Timeout of the sandbox setup in seconds."""
_LINGER = 0.5
"""Seconds to wait for open streams after an unsandboxed command has ended."""


class Process:
    """One command. It starts immediately; `running` is False once all of its processes have ended."""

    def __init__(self, launch: Launch, output: CommandOutput) -> None:
        self.output = output
        self.exit_code: int | None = None
        self.notes: list[str] = []
        self._started = monotonic()
        self._duration: float | None = None
        self._launch = launch
        self._loop = asyncio.get_running_loop()
        self._child: subprocess.Popen[bytes] | None = None
        self._first: int | None = None  # pidfd of the first process in the namespace
        self._released = False  # the gate byte was sent, so that the sandbox starts the command
        self._info_text = b""  # the JSON that bwrap writes to --info-fd
        self._stopping = False
        self._ended = False
        self._streams: dict[int, Channel] = {}
        self._drained = asyncio.Event()
        self.excess: str | None = None
        """Why the command was stopped, if it used too much."""
        self._watch = ResourceWatch(launch.limits, launch.root or None, self._on_excess)
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(lambda _: self._end())  # for a task that is cancelled before it starts

    @property
    def running(self) -> bool:
        return not self._task.done()

    @property
    def elapsed(self) -> float:
        """Seconds since the start, or the total run time once the command has ended."""
        return monotonic() - self._started if self._duration is None else self._duration

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end. Return False if `seconds` pass first; the command keeps running."""
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done():
            return False
        self._task.result()
        return True

    async def stop(self) -> None:
        """Kill the command. Returns when all processes have ended, even if the caller is cancelled in the meantime."""
        self._stopping = True
        self._kill()
        cancelled = False
        while not self._task.done():
            try:
                await asyncio.wait({self._task})
            except asyncio.CancelledError:
                cancelled = True
        if not self._task.cancelled():
            self._task.exception()
        if cancelled:
            raise asyncio.CancelledError

    def _on_excess(self, reason: str) -> None:
        """Stop a command that uses too much."""
        self.excess = self.excess or reason
        if not self._ended:
            self._stopping = True
            self._kill()

    def _kill(self) -> None:
        child = self._child
        if child is None or (self._launch.sandboxed and self._first is None):
            return  # still in setup; it is killed as soon as its pid is known
        if self._first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            child.kill()
        elif child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)

    # --- start, run, end ----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            child = self._spawn()
            if self._launch.sandboxed:
                await self._release_command(child)
            else:
                with suppress(OSError):
                    self._launch.limits.impose(child.pid)
                self._watch.start(child.pid, owns_namespace=False)
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

    async def _release_command(self, child: "subprocess.Popen[bytes]") -> None:
        """Open a pidfd of the sandbox's first process, impose the limits, and let the command start."""
        launch = self._launch
        assert launch.info is not None
        assert launch.gate is not None
        os.set_blocking(launch.info, False)
        is_limited = False
        with suppress(OSError, TimeoutError):  # the setup failed, or limits cannot be set
            async with asyncio.timeout(_SETUP):
                pid = await self._first_pid(launch.info)
            if pid is not None:
                self._first = os.pidfd_open(pid)
                launch.limits.impose(pid)
                self._watch.start(pid, owns_namespace=True)
                is_limited = True
        if not is_limited:
            self._kill()
            child.kill()
        elif not self._stopping:
            if launch.network is not None:
                launch.network.start()
            with suppress(BrokenPipeError):  # the sandbox has already exited
                self._released = os.write(launch.gate, b"\n") == 1

    async def _first_pid(self, info: int) -> int | None:
        while self._read_info(info):
            await _readable(self._loop, info)
        return _pid_in(self._info_text)

    def _read_info(self, info: int) -> bool:
        """Read the sandbox's info text. Return False when it is complete."""
        try:
            piece = os.read(info, 4096)
        except BlockingIOError:
            return True
        self._info_text += piece
        return bool(piece) and _pid_in(self._info_text) is None

    async def _exit_of(self, child: "subprocess.Popen[bytes]") -> None:
        await _exited(self._loop, child)
        if not self._launch.sandboxed:
            self._kill()  # kill the rest of its group before the group id can be reused
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
        if not self._stopping and not self._command_began():
            logging.getLogger("heald").warning("bwrap failed: %s", self.output.close().strip()[-500:])
            raise ToolFault(
                "The sandbox could not be set up, so nothing was run; see the server's log.", "sandbox_failed"
            )

    def _command_began(self) -> bool:
        """Return whether the sandbox has read the gate byte, which is the last step of its setup."""
        if self._launch.gate is None or not self._released:
            return False
        unread = array.array("i", [0])
        fcntl.ioctl(self._launch.gate, termios.FIONREAD, unread)
        return unread[0] == 0

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.output.feed(self._streams[fd], data)
            if self.output.exceeds_limit and not self._stopping:
                self._stopping = True
                self._kill()
            return
        self._loop.remove_reader(fd)
        del self._streams[fd]
        if not self._streams:
            self._drained.set()

    def _end(self) -> None:
        """Release all resources. Called once, whatever ended the command."""
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
        self._watch.stop()
        self.notes = [*([self.excess] if self.excess is not None else []), *self._launch.close()]
        self._duration = monotonic() - self._started

    def _abandon(self, child: "subprocess.Popen[bytes]") -> None:
        """Kill a command that still runs while the event loop shuts down."""
        info = self._launch.info
        if self._first is None and info is not None:
            while select.select([info], [], [], 2)[0] and self._read_info(info):
                pass
            pid = _pid_in(self._info_text)
            if pid is not None:
                with suppress(OSError):
                    self._first = os.pidfd_open(pid)
        self._kill()
        child.kill()
        child.wait()
        if self._first is not None:
            select.select([self._first], [], [], 2)


def _pid_in(info: bytes) -> int | None:
    """Return the process id in the JSON that bubblewrap writes, or None while it is incomplete."""
    with suppress(ValueError):
        return int(json.loads(info)["child-pid"])
    return None


async def _readable(loop: asyncio.AbstractEventLoop, fd: int) -> None:
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)


async def _exited(loop: asyncio.AbstractEventLoop, child: "subprocess.Popen[bytes]") -> None:
    """Wait until a child has exited without reaping it, so that its pid is not reused."""
    if child.returncode is not None:  # already reaped by Popen.kill
        return
    try:
        fd = os.pidfd_open(child.pid)
    except (AttributeError, OSError):  # not Linux, or before 5.3
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:  # noqa: ASYNC110, ASYNC222
            await asyncio.sleep(0.02)
        return
    try:
        await _readable(loop, fd)
    finally:
        os.close(fd)
