"""The wheels of all packages, built once for a run, and empty environments into which they are installed.

Third-party packages come from uv's cache where it has the pinned versions, else from the package index.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT

UV = (sys.executable, "-m", "uv")
_SECONDS = 600


@dataclass(frozen=True)
class Wheelhouse:
    """A folder with one wheel for each package of the workspace."""

    folder: Path

    @property
    def wheels(self) -> dict[str, Path]:
        """The wheels by the name of their distribution."""
        paths = sorted(self.folder.glob("*.whl"))
        return {path.name.partition("-")[0].replace("_", "-"): path for path in paths}

    def build(self, project: Path, folder: Path) -> Path:
        """Build the wheel of another distribution into a folder."""
        _run("build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(folder), str(project))
        (wheel,) = folder.glob("*.whl")
        return wheel

    def create_environment(self, place: Path, *requirements: str) -> Path:
        """Create an environment with these distributions and nothing else. Returns its folder `bin`."""
        _run("venv", "--quiet", "--python", sys.executable, str(place))
        self.install("install", "--quiet", "--python", str(place), *requirements)
        return place / ("Scripts" if os.name == "nt" else "bin")

    def install(self, command: str, *arguments: str) -> str:
        """Run `uv pip` with the wheels of this folder and the pinned versions of all others. Returns its report."""
        options = ("--find-links", str(self.folder), "--constraint", str(ROOT / "requirements-dev.txt"))
        try:
            return _run("pip", command, "--offline", *options, *arguments)
        except subprocess.CalledProcessError:
            return _run("pip", command, *options, *arguments)

    def resolve(self, folder: Path, requirements: Iterable[str], *options: str) -> dict[str, Any]:
        """Resolve requirements for an empty environment, with the wheels of this folder. Returns the lock."""
        (folder / "requirements.in").write_text("\n".join(sorted(requirements)))
        lock = folder / "pylock.toml"
        lock.unlink(missing_ok=True)
        form = ("--quiet", "--format", "pylock.toml", "--no-header", "--no-annotate", "-o", str(lock))
        _run("pip", "compile", *form, "--find-links", str(self.folder), *options, str(folder / "requirements.in"))
        return tomllib.loads(lock.read_text("utf-8"))


def _run(*arguments: str) -> str:
    """Run uv. Returns what it writes to both streams."""
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(
        [*UV, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        error = subprocess.CalledProcessError(done.returncode, ["uv", *arguments], done.stdout)
        error.add_note(done.stdout)
        raise error
    return done.stdout


def installed_bytes(environment_bin: Path) -> int:
    """Return the size of all installed files. Compiled modules, which Python adds by itself, do not count."""
    files = (path for path in environment_bin.parent.glob("[Ll]ib/**/*") if path.is_file())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc")


def run_python(environment_bin: Path, arguments: Sequence[str], *, cwd: Path, home: Path) -> str:
    """Run Python in an environment, with an empty home and without keys or settings. Returns its output."""
    settings = {"PATH": f"{environment_bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [str(environment_bin / "python"), *arguments],
        cwd=cwd,
        env=settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheelhouse(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Wheelhouse:
    """The wheels of all packages. The processes of a run share them."""
    import fcntl  # not on Windows, where only tests of single packages run

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(pytestconfig, "workerinput") else base
    folder = shared / "wheelhouse"
    with (shared / "wheelhouse.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            arguments = ("--quiet", "--wheel", "--all-packages", "--no-build-isolation", "--out-dir", str(folder))
            _run("build", *arguments)
            (folder / "complete").touch()
    return Wheelhouse(folder)
