"""A real NATS server for tests and benchmarks."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from postgres_server import free_port


class NatsServer:
    """A server of its own on a free port."""

    def __init__(self, program: str) -> None:
        self._program = program
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self._process = subprocess.Popen(
            [self._program, "-a", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def freeze(self) -> None:
        """Let it hang: its connections stay open, and carry nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def find_nats() -> str | None:
    """The program, of the environment first."""
    return shutil.which("nats-server", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
