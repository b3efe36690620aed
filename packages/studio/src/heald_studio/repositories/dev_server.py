"""The dev server of a repository: the repository's own script, in the sandbox, reached through a forwarder.

The sandbox has a network of its own, so no port of it is open on this machine. A forwarder in it accepts connections on
a socket in a private folder, and joins them to the port of the dev server, which is read from what it prints.
"""

import asyncio
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from typing import Literal

from heald.core.lazy import lazy_pattern
from heald.tools.shell.sandbox import Sandbox
from heald_studio.repositories.folder_command import FolderCommand

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
DevStatus = Literal["starting", "running", "failed", "stopped"]
MAX_HEAD = 64 * 1024
_ADDRESS = lazy_pattern(
    r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})(/[^\s\x1b]*)?", re.IGNORECASE
)
_PORT = lazy_pattern(r"\blistening (?:on|at):? (?:port:? |:)?(\d{2,5})\b", re.IGNORECASE)
"""As servers without a framework print it."""
_WAITING = 64
_DIAL_SECONDS = 10.0
_TRY_SECONDS = 0.2


class DevServer:
    """A dev server. It starts at once, and is running when it accepts connections."""

    def __init__(self, sandbox: Sandbox, folder: str, command: str) -> None:
        """Start it. Raises ToolFault if it cannot be started."""
        self.command = command
        self.port: int | None = None
        self.base = "/"
        """The path of the page, as the dev server prints it."""
        self._is_reached = False
        self._is_stopped = False
        self._private = tempfile.mkdtemp(prefix="heald-dev-")  # mode 0700
        self._path = os.path.join(self._private, "socket")
        script = resources.files("heald_studio.repositories").joinpath("forwarder.js").read_text("utf-8")
        forward = 'node -e "$HEALD_FORWARDER" & unset HEALD_FORWARDER HEALD_SOCKET; exec '
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
                listener.bind(self._path)
                listener.listen(_WAITING)
                self._process = FolderCommand(
                    sandbox,
                    folder,
                    forward + command,
                    environment={"HEALD_FORWARDER": script},
                    listener=listener,
                    on_text=self._read_address,
                )
        except BaseException:
            shutil.rmtree(self._private, ignore_errors=True)
            raise
        self._task = asyncio.create_task(self._watch(), name="heald-dev-server")

    @property
    def status(self) -> DevStatus:
        if self._process.is_running:
            return "running" if self._is_reached else "starting"
        return "stopped" if self._is_stopped else "failed"

    @property
    def text(self) -> str:
        """The end of what it printed."""
        return "\n".join([self._process.text, *self._process.notes]).strip()

    @property
    def refused_hosts(self) -> Sequence[str]:
        return list(self._process.refused_hosts)

    async def dial(self) -> Streams:
        """Open a connection to it. Raises OSError."""
        if self.port is None:
            raise ConnectionRefusedError("The dev server has not printed its address yet.")
        async with asyncio.timeout(_DIAL_SECONDS):
            streams = await asyncio.open_unix_connection(self._path, limit=MAX_HEAD)
        streams[1].write(b"%d\n" % self.port)
        return streams

    async def stop(self) -> None:
        """End it with everything that it started."""
        self._is_stopped = True
        await self._process.stop()
        await asyncio.wait({self._task})

    def _read_address(self, text: str) -> None:
        if self.port is not None:
            return
        match = _ADDRESS.search(text) or _PORT.search(text)
        if match is not None and text[match.end() :].strip(" \t"):  # the rest of the address has arrived
            self.port, self.base = int(match[1]), (match[2] if match.re.groups > 1 else "") or "/"

    async def _watch(self) -> None:
        """Find out when it accepts connections, and clean up after its end."""
        ended = asyncio.ensure_future(self._process.wait())
        try:
            while not ended.done() and not self._is_reached:
                self._is_reached = await self._accepts()
                await asyncio.wait({ended}, timeout=_TRY_SECONDS)
            await ended
        finally:
            ended.cancel()
            shutil.rmtree(self._private, ignore_errors=True)

    async def _accepts(self) -> bool:
        """Whether a connection to the port stays open; the forwarder closes one that it cannot join."""
        with suppress(OSError, TimeoutError):
            reader, writer = await self.dial()
            try:
                async with asyncio.timeout(_DIAL_SECONDS):
                    writer.write(
                        b"HEAD / HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n" % (self.port or 0)
                    )
                    return bool(await reader.read(1))
            finally:
                writer.close()
        return False
