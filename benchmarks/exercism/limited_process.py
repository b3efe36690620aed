"""A process with a limit of time, and of memory where the system has one, that leaves nothing behind."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FILE_BYTES = 2**26
_OUTPUT_BYTES = 1_000_000


@dataclass(frozen=True)
class LimitedProcess:
    """How a process ended."""

    exit_code: int | None
    """None if its time was over."""
    output: str
    """What it printed, at most a megabyte."""


def run_limited(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    seconds: float,
    memory: int | None = None,
) -> LimitedProcess:
    """Run a command until it ends or its time is over, then end all that it started in its group."""
    with log.open("w+b") as file:  # a file: a pipe would stay open in what the command started
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if memory is not None and sys.platform == "linux":
                resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        except ProcessLookupError:  # it ended before its limits were set
            code = process.wait()
        finally:
            _kill_group(process.pid)
            process.wait()
        file.seek(0)
        return LimitedProcess(code, file.read(_OUTPUT_BYTES).decode("utf-8", "replace"))


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
