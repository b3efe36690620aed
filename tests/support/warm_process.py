"""Heald commands and programs as processes of their own that start at once: they are forked from a process that has
loaded all that they need.

For tests that start many of them and do not ask how one starts.
"""

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

BEGUN_WITH = dict(os.environ)
"""The variables of the tests before any of them changed one."""
OF_OTHERS = {"PYTHON_KEYRING_BACKEND"}
"""Variables with a name like Python's, which a package reads when it is loaded."""
LIMIT = 100 * 1024 * 1024
"""The longest line of output."""


def is_python_the_same(environment: Mapping[str, str]) -> bool:
    """Whether Python would start with these variables as the host did: only then a fork is like a start."""
    names = {name for name in (*environment, *BEGUN_WITH) if name.startswith("PYTHON")} - OF_OTHERS
    return all(environment.get(name) == BEGUN_WITH.get(name) for name in names)


class WarmProcess:
    """A command that runs, with the part of `asyncio.subprocess.Process` that tests use."""

    def __init__(
        self, pid: int, stdin: asyncio.StreamWriter, outputs: Sequence[asyncio.StreamReader], code: asyncio.StreamReader
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout, *self._others = outputs
        self.returncode: int | None = None
        self._exit_code = asyncio.ensure_future(code.read())

    async def wait(self) -> int:
        self.returncode = int(await asyncio.shield(self._exit_code))
        return self.returncode

    async def communicate(self) -> list[bytes]:
        """Close the input, and read all of every output."""
        self.stdin.close()
        read = await asyncio.gather(*(output.read() for output in (self.stdout, *self._others)))
        await self.wait()
        return read

    def kill(self) -> None:
        if self.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class WarmHost:
    """The process that forks. It ends when its socket closes. `strict`: warnings are errors in it."""

    def __init__(self, modules: Sequence[str], *, strict: bool) -> None:
        self._orders, theirs = socket.socketpair()
        with theirs:
            host = Path(__file__).with_name("warm_host.py")
            command = [sys.executable, *(["-W", "error"] if strict else []), str(host), *modules]
            self._process = subprocess.Popen(command, stdin=theirs.fileno(), env=BEGUN_WITH)

    def start(
        self, what: Mapping[str, object], folder: Path, environment: Mapping[str, str], streams: Sequence[int]
    ) -> int:
        """Start a command; its streams are standard input, output, error and the pipe for its exit code."""
        order = {**what, "folder": str(folder), "environment": dict(environment)}
        message = json.dumps(order).encode() + b"\n"
        sent = socket.send_fds(self._orders, [message], streams)
        self._orders.sendall(message[sent:])
        return int(self._orders.recv(64))

    def close(self) -> None:
        self._orders.close()
        self._process.wait(20)


@cache
def warm_host(*modules: str, strict: bool = False) -> WarmHost:
    """The host that has loaded these modules: one for all tests of a process."""
    host = WarmHost(modules, strict=strict)
    atexit.register(host.close)
    return host


async def start_warm(
    host: WarmHost,
    *words: str,
    folder: Path,
    environment: Mapping[str, str],
    said: bytes | None = b"",
    own_errors: bool = False,
    code: str | None = None,
) -> WarmProcess:
    """Start a heald command in a folder. Its input begins with `said`; None: it is the null device.

    `own_errors`: its standard error is read too, and is not that of the tests. `code`: what Python runs in place of
    the command."""
    what: dict[str, object] = {"words": words} if code is None else {"code": code}
    in_read, in_write = os.pipe()
    pipes = [os.pipe() for _ in range(3 if own_errors else 2)]
    readable, theirs = [pipe[0] for pipe in pipes], [in_read, *(pipe[1] for pipe in pipes)]
    if said is None:
        os.close(in_read)
        theirs[0] = os.open(os.devnull, os.O_RDONLY)
    streams = theirs if own_errors else [*theirs[:2], 2, theirs[2]]
    pid = await asyncio.to_thread(host.start, what, folder, environment, streams)
    for descriptor in theirs:
        os.close(descriptor)
    *outputs, exit_code = [await _open_reader(descriptor) for descriptor in readable]
    process = WarmProcess(pid, await _open_writer(in_write), outputs, exit_code)
    if said:
        process.stdin.write(said)
    return process


async def _open_reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(LIMIT)
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _open_writer(descriptor: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", buffering=0)
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)
