"""A command that takes all it can is stopped, with the reason in its result: as root, as a user, with control groups
and without."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heald.tools.shell import cgroups
from heald.tools.shell.sandbox import Sandbox

HERE = Path(__file__).parent
PROGRAM = HERE / "greedy_commands.py"
NOBODY = 65534
REASONS = {
    "fork bomb": "it started more than 200 processes",
    "patient fork bomb": "it started more than 200 processes",
    "shared memory": "it used more than 192 MiB of memory",
    "memory of several processes": "it used more than 192 MiB of memory",
    "files": "it made more than 5,000 files in the workspace",
    "bytes": "it wrote more than 64 MiB to the workspace",
}


ENVIRONMENT = {"PATH": os.environ["PATH"], "TMPDIR": "/tmp", "PYTHONPATH": ":".join(path for path in sys.path if path)}
_MOST_MEMORY, _MOST_PROCESSES = 8 << 30, 600
"""Of all commands of the program together."""
SYSTEM_PYTHON = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
"""Another user may not reach the interpreter of the tests, such as one below /root."""


def _run(*words: str, user: int | None = None, python: str = sys.executable) -> dict[str, dict[str, Any]]:
    """The results of all commands, by name. A control group around them, where there is one, keeps a bomb that is
    noticed late from the other tests."""
    around = cgroups.create(_MOST_MEMORY, _MOST_PROCESSES)
    try:
        done = subprocess.run(
            [python, str(PROGRAM), *words],
            capture_output=True,
            text=True,
            timeout=300,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
            env=ENVIRONMENT,
            check=False,
            preexec_fn=(lambda: around.add(os.getpid())) if around is not None and user is None else None,
        )
    finally:
        if around is not None:
            around.remove()
    assert done.returncode == 0, done.stderr
    return {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}


def _check(results: dict[str, dict[str, Any]]) -> None:
    for name, reason in REASONS.items():
        result = results[name]
        assert result["is_error"], result
        assert result["text"].startswith("stopped, "), result
        assert f"(The command was stopped: {reason}.)" in result["text"], result
        assert "survived" not in result["text"]
    assert results["core dump"]["text"].endswith("\n0\n"), results["core dump"]
    assert results["modest"]["text"].startswith("exit code 0"), results["modest"]
    assert "fine" in results["modest"]["text"]


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    reason = Sandbox().available()
    if reason is not None:
        pytest.skip(reason)


def test_with_what_the_machine_has() -> None:
    _check(_run())


@pytest.mark.skipif(cgroups.kind() is None, reason="no control group is delegated to this process")
def test_groups_are_removed_and_those_of_the_dead_too() -> None:
    orphan = cgroups.create(1 << 30, 10)
    assert orphan is not None
    made = [path for path in Path(cgroups.ROOT).rglob(f"heald-command-{os.getpid()}-*") if path.is_dir()]
    assert made
    for path in made:  # as if its process had been killed
        path.rename(path.with_name("heald-command-999999999-1"))
    assert subprocess.run([sys.executable, "-c", CREATE], check=False).returncode == 0
    assert not [path for path in Path(cgroups.ROOT).rglob("heald-command-999999999-*") if path.is_dir()]


CREATE = "from heald.tools.shell import cgroups; group = cgroups.create(1 << 30, 10); group.remove()"


def test_without_control_groups() -> None:
    _check(_run("watched"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_as_a_user() -> None:
    python = next((path for path in (sys.executable, SYSTEM_PYTHON) if _can_import(path)), None)
    if python is None:
        pytest.skip("another user cannot read this installation")
    _check(_run(user=NOBODY, python=python))


def _can_import(python: str) -> bool:
    words = [python, "-c", "import heald.tools.runtime, heald.tools.shell.tools"]
    try:
        return subprocess.run(words, user=NOBODY, env=ENVIRONMENT, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
