"""One run of a program in the sandbox: its process, and the channel of its calls.

The program has no workspace, no network, no environment and no file of the host but programs and libraries. What it can
do is write lines to the channel; each is a call that is judged like every other one. Everything is bounded: the length
of a line, the calls at once and in all, the time, the memory and the output.
"""

import asyncio
import shlex
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from shutil import which
from tempfile import TemporaryDirectory

import msgspec

from heald.core.json import JsonObject, decode, encode
from heald.tools.code.channel_lines import ChannelAnswer, ChannelCall
from heald.tools.code.program_clock import ProgramClock
from heald.tools.definitions import TOOL_NAME
from heald.tools.shell.command_output import MOST, CommandOutput
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Launch, Sandbox, SandboxLimits
from heald.tools.tool_fault import ToolFault

MAX_CALLS = 500
"""Calls of one program."""
MAX_LINE = 900_000
"""Bytes of a line of the channel that a program writes: a call fits into an event."""
MAX_BYTES = 16_000_000
"""Bytes of all calls of one program: the log has their arguments."""
AT_ONCE = 8
"""Calls of one program that run at the same time."""
_MIB = 1024 * 1024
_LIMITS = SandboxLimits(
    processes=64,
    total_memory=1024 * _MIB,
    memory=1024 * _MIB,
    file_size=64 * _MIB,
    temporary=64 * _MIB,
    open_files=256,
    cpu_seconds=600,
)


Call = Callable[[str, JsonObject], Awaitable[ChannelAnswer]]
"""Runs a call of a tool."""
_lines = msgspec.json.Decoder(ChannelCall)


def program_sandbox(sandbox: Sandbox | None) -> Sandbox:
    """Return the sandbox of programs. It is never switched off, and it has no folder and no network of the host."""
    path = (sandbox or Sandbox()).path
    return Sandbox(limits=_LIMITS, protected=(), set_aside=(), network=False, path=path)


class Program:
    """A program that runs. Use it as a context: at its end no process and no call of it is left."""

    def __init__(
        self, sandbox: Sandbox, program: str, tools: Mapping[str, Sequence[str]], call: Call, output: CommandOutput
    ) -> None:
        """`tools` are the parameters of the functions, by name."""
        self.fault: str | None = None
        """Why the program was ended, if it was."""
        self.has_begun = False
        """Whether there is a Python that runs it."""
        self._task = encode({"program": program, "tools": tools, "max_line": MAX_LINE}) + b"\n"
        self._call = call
        self._calls = self._bytes = 0
        self._open: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._folder = TemporaryDirectory(prefix="heald-program-", ignore_cleanup_errors=True)
        self._clock = ProgramClock()
        self._serving: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._channel, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with child:
            try:
                launch = self._prepare(sandbox, child)
            except BaseException:
                self._channel.close()
                self._folder.cleanup()
                raise
        self.process = Process(launch, output)

    def _prepare(self, sandbox: Sandbox, child: socket.socket) -> Launch:
        if which("python3", path=sandbox.path) is None:
            raise ToolFault(NO_PYTHON, "no_python")
        descriptor = child.fileno()
        launch = sandbox.prepare(
            self._folder.name, f"cd /tmp && exec python3 -I -u -c {shlex.quote(_runner_source())} {descriptor}"
        )
        launch.child_fds.append(child.detach())
        launch.root = ""  # the folder is removed before the program begins, so there are no files to count
        return launch

    async def __aenter__(self) -> "Program":
        self._serving = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.process.stop()
        finally:
            self._folder.cleanup()
            try:
                await self._end_calls()
            finally:
                self._channel.close()

    async def wait(self, seconds: float) -> bool:
        """Wait for the end of the program. Returns False if it has used up its time; that of its calls is not
        counted."""
        while not await self.process.wait(max(seconds - self._clock.elapsed, 0.05)):
            if self._clock.elapsed >= seconds:
                return False
        return True

    async def _end_calls(self) -> None:
        tasks = [*self._open, *([self._serving] if self._serving is not None else [])]
        for task in tasks:
            task.cancel()
        is_cancelled = False
        while any(not task.done() for task in tasks):
            try:
                await asyncio.wait(tasks)
            except asyncio.CancelledError:
                is_cancelled = True
        if is_cancelled:
            raise asyncio.CancelledError

    # --- the channel --------------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=self._channel, limit=MAX_LINE)
        try:
            with suppress(OSError):  # the program closes its end, or ends
                while line := await reader.readline():
                    await self._begin_call(line, writer)
        except ValueError:  # of `readline`
            self._stop(f"The program wrote a line of more than {MAX_LINE:,} bytes to the channel of its calls.")
            if self._stopping is not None:
                await asyncio.wait([self._stopping])  # a program that sees its channel close could print an error first
        finally:
            writer.transport.abort()

    async def _begin_call(self, text: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            line = decode(_lines, text)
        except ValueError:
            self._stop("The program wrote something to the channel of its calls that is not a call.")
            return
        if not line.name:
            self._begin(writer)
            return
        self._calls += 1
        self._bytes += len(text)
        if self._calls > MAX_CALLS:
            self._stop(f"The program made more than {MAX_CALLS} calls.")
            return
        if self._bytes > MAX_BYTES:
            self._stop(f"The calls of the program had more than {MAX_BYTES:,} bytes of arguments.")
            return
        await self._slots.acquire()
        task = asyncio.create_task(self._answer(line, writer))
        self._open.add(task)
        task.add_done_callback(self._on_answered)

    def _begin(self, writer: asyncio.StreamWriter) -> None:
        """Send the program once Python runs. Its folder is removed before: nothing can be written to it, and a crash of
        this process leaves nothing behind."""
        if self.has_begun:
            return
        self.has_begun = True
        self._folder.cleanup()
        writer.write(self._task)

    async def _answer(self, line: ChannelCall, writer: asyncio.StreamWriter) -> None:
        if TOOL_NAME.match(line.name):
            with self._clock.paused():
                answer = await self._call(line.name, line.arguments)
        else:
            answer = ChannelAnswer(f"There is no tool {line.name[:100]!r}.", is_error=True)
        with suppress(OSError):
            writer.write(answer.encode(line.id))
            await writer.drain()  # a program that does not read its results uses up its own time

    def _on_answered(self, task: "asyncio.Task[None]") -> None:
        self._open.discard(task)
        self._slots.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._stop(f"A call of the program failed with {type(error).__name__}.")

    def _stop(self, fault: str) -> None:
        """End the program."""
        if self.fault is None:
            self.fault = fault
            self._stopping = asyncio.create_task(self.process.stop())

    def describe_excess(self) -> str | None:
        """Return why the program was stopped, if it used too much."""
        if self.process.output.exceeds_limit:
            return f"The program printed more than {MOST // _MIB} MiB."
        return self.process.excess or self.fault


NO_PYTHON = "Programs cannot be run: there is no python3 in the sandbox; the server's operator can install it."


@cache
def _runner_source() -> str:
    return files("heald.tools.code").joinpath("program_runner.py").read_text()
