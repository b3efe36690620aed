"""Nodes that a driver starts and kills, by commands that the user names."""

import asyncio
import os
import shlex
import signal
import socket
import subprocess
from contextlib import suppress

import aiohttp

TOKEN = "a-token-for-the-chaos-driver"


class ChaosNode:
    """One node: the command that starts it, and its address."""

    def __init__(self, name: str, command: str, model: str, log: str) -> None:
        self.name = name
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = shlex.split(command.format(node=name, port=self.port, model=model))
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "HEALD_TOKEN": TOKEN},
            )

    def kill(self) -> None:
        if self._process is not None and self.is_running:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    async def is_ready(self) -> bool:
        """Whether it wants requests now."""
        with suppress(aiohttp.ClientError, OSError, TimeoutError):
            timeout = aiohttp.ClientTimeout(total=5)
            async with aiohttp.ClientSession(self.url, timeout=timeout) as http, http.get("/ready") as answer:
                return answer.status == 200
        return False

    async def wait_ready(self, seconds: float = 60.0) -> None:
        async with asyncio.timeout(seconds):
            while not await self.is_ready():  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    def cpu_seconds(self) -> float:
        """The processor time of the process so far."""
        assert self._process is not None
        with open(f"/proc/{self._process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self) -> int:
        """The resident memory of the process."""
        assert self._process is not None
        with open(f"/proc/{self._process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
