"""A mark in the environment of an agent, by which all processes that it started are found.

A process group is not enough: a terminal of an agent, or a server that it starts, has a session of its own.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

VARIABLE = "HEALD_AGENT_PROCESS"
_PROCESSES = Path("/proc")
_ROUNDS = 50
_PAUSE_SECONDS = 0.02


class ProcessMark:
    """The mark of one agent. On a system without /proc it finds nothing."""

    def __init__(self) -> None:
        self._value = uuid4().hex

    def environment(self) -> dict[str, str]:
        return {VARIABLE: self._value}

    def kill_all(self) -> None:
        """Kill the processes with the mark, and those that they start meanwhile. Blocks until they are gone."""
        for _ in range(_ROUNDS):
            if not self._kill_some():
                return
            time.sleep(_PAUSE_SECONDS)

    def _kill_some(self) -> bool:
        """Kill the processes with the mark. Returns whether there were any."""
        entry = f"{VARIABLE}={self._value}".encode()
        is_any = False
        for pid in _list_pids():
            with suppress(OSError):
                handle = os.pidfd_open(pid)  # it names this process even if its number is used again
                try:
                    if entry in (_PROCESSES / str(pid) / "environ").read_bytes().split(b"\0"):
                        is_any = True
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                finally:
                    os.close(handle)
        return is_any


def _list_pids() -> Iterator[int]:
    if not hasattr(os, "pidfd_open") or not _PROCESSES.is_dir():
        return
    for folder in _PROCESSES.iterdir():
        if folder.name.isdecimal():
            yield int(folder.name)
