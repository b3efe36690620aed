"""Runs the check of a task in the current folder: exits with 0 if the task is solved and with 1 otherwise.

    python referee.py CHECK < ANSWER

A check is a script of assertions that imports the functions below. It uses the standard library alone.
"""

import importlib
import os
import resource
import runpy
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType

_MEMORY = 2 * 2**30  # bytes of data for a program that a model wrote
_SECONDS = 8


def load(name: str) -> ModuleType:
    """A module of the repository."""
    return importlib.import_module(name)


def text(path: str) -> str:
    """The text of a file, line ends as they are."""
    return Path(path).read_bytes().decode("utf-8")


def answer() -> str:
    """The assistant's last message."""
    return os.environ["TASK_ANSWER"]


def run(
    *command: str, stdin: str = "", environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs a command in the repository."""
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def python(*arguments: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs Python in the repository."""
    return run(sys.executable, "-B", *arguments, environment=environment)


def node(script: str) -> str:
    """The output of an ES module that runs in the repository; it fails if the module fails."""
    result = run("node", "--input-type=module", "--eval", script)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def tests_pass() -> bool:
    """Whether the tests in tests/ run and pass."""
    result = python("-m", "unittest", "discover", "-s", "tests", "-t", ".")
    return result.returncode == 0 and "Ran 0 tests" not in result.stderr


def main(check: str) -> int:
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    os.environ["TASK_ANSWER"] = sys.stdin.buffer.read().decode("utf-8", "replace").replace("\0", "")[-60_000:]
    package = sys.path.pop(0)
    sys.path.insert(0, str(Path.cwd()))
    sys.path.append(package)
    try:
        runpy.run_path(check)
    except BaseException:  # a module of the repository may raise SystemExit(0) when it is imported
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
