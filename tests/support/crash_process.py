"""The process of `crash_host`, for the tests that give it orders."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HOST = Path(__file__).parent / "crash_host.py"


class CrashProcess:
    """Forks a child for each order. It takes a while to start, so one serves the tests of a module or more."""

    def __init__(self, scenario: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(HOST), str(scenario)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        """Give an order and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def is_killed(self, **order: str) -> bool:
        """Run a child, and return whether it was killed at the fault of the order. One that fails is an error."""
        status: int = self.ask(order)["status"]
        assert os.WIFSIGNALED(status) or status == 0, status
        return os.WIFSIGNALED(status)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
