"""Starts an installed program in the sandbox, with the folder read-only and its streams open."""

import asyncio
import json
import os
import shlex
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from heald.tools.diagnostics.installed_programs import program_folders
from heald.tools.shell.sandbox import Launch, Sandbox
from heald.tools.tool_fault import ToolFault

_SETUP_SECONDS = 20.0
_STOP_SECONDS = 5.0
_STREAM_LIMIT = 32 * 1024 * 1024


class ConfinedProgram:
    """A running program. `stop` ends it with everything that it started."""

    def __init__(self, process: asyncio.subprocess.Process, launch: Launch) -> None:
        self.process = process
        self._launch = launch
        self._first: int | None = None  # pidfd of the first process in the sandbox

    @classmethod
    async def start(
        cls,
        sandbox: Sandbox,
        root: str,
        words: Sequence[str],
        *,
        readable: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> "ConfinedProgram":
        """Start a program in a folder, with further folders that it may read. Raises ToolFault if it cannot be
        started."""
        folders = (*sandbox.readable, *program_folders(words[0]), *readable)
        confined = replace(sandbox, readable=folders)
        launch = confined.prepare(root, f"exec {shlex.join(words)}", writable=False)
        try:
            process = await asyncio.create_subprocess_exec(
                *launch.argv,
                env={**launch.env, "PATH": f"{os.path.dirname(words[0])}:{launch.env['PATH']}", **(environment or {})},
                cwd=launch.cwd,
                pass_fds=launch.pass_fds,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                start_new_session=not launch.sandboxed,
                limit=_STREAM_LIMIT,
            )
        except BaseException as error:
            launch.close()
            if isinstance(error, OSError):
                raise ToolFault(f"{words[0]} could not be started: {error.strerror}.", "cannot_start") from None
            raise
        launch.started()
        program = cls(process, launch)
        try:
            await program._release()
        except BaseException:
            await asyncio.shield(program.stop())
            raise
        return program

    async def _release(self) -> None:
        """Impose the limits on the first process of the sandbox, and let the program start."""
        launch = self._launch
        if launch.info is None or launch.gate is None:
            with suppress(OSError):
                launch.limits.impose(self.process.pid)
            return
        try:
            async with asyncio.timeout(_SETUP_SECONDS):
                first = await asyncio.to_thread(_read_first_pid, launch.info)
            self._first = os.pidfd_open(first)
            launch.limits.impose(first)
            os.write(launch.gate, b"\n")
        except (OSError, TimeoutError, ValueError, KeyError):
            raise ToolFault("The sandbox of the program could not be set up.", "cannot_start") from None

    async def stop(self) -> None:
        """End the program."""
        process, sandboxed = self.process, self._launch.sandboxed
        first, self._first = self._first, None
        if first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(first, signal.SIGKILL)  # all other processes of the sandbox end with it
            os.close(first)
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                process.kill() if sandboxed else os.killpg(process.pid, signal.SIGKILL)
        self._launch.close()  # a sandbox that waits for its start ends
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):  # a stream that another process holds open must not hold this one up
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()


def _read_first_pid(information: int) -> int:
    """Read the process id of the sandbox's first process from the JSON that bubblewrap writes in pieces. Blocks."""
    text = b""
    while not text.rstrip().endswith(b"}"):
        piece = os.read(information, 4096)
        if not piece:
            raise ValueError("The sandbox ended while it was set up.")
        text += piece
    return int(json.loads(text)["child-pid"])
