"""One exercise: its stub and instructions, which an agent gets, and its tests, which it does not."""

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.exercism.limited_process import run_limited

TEST_SECONDS = 30
_MEMORY = 4 * 2**30  # bytes of address space for a program that a model wrote
_LINES = 50
_CHARACTERS = 4000
_REQUEST = """{instructions}

---

Implement this in {files}. Keep the names of the functions and classes that are there: tests call them. Use only the
standard library.
"""
_SECOND_REQUEST = """{output}

---

These tests of {files} failed. The tests are right. Fix the code in {files} so that they pass.
"""


@dataclass(frozen=True)
class TestRun:
    """What the tests of an exercise said."""

    __test__ = False  # pytest would collect the class

    passed: bool
    output: str
    """The beginning of the output, without paths of this machine."""


@dataclass(frozen=True)
class Exercise:
    """An exercise in a checkout of the repository exercism/python."""

    slug: str
    folder: Path
    solution_files: tuple[str, ...]
    test_files: tuple[str, ...]

    @classmethod
    def read(cls, checkout: Path, slug: str) -> "Exercise":
        kinds = [checkout / "exercises" / kind / slug for kind in ("practice", "concept")]
        folder = next((folder for folder in kinds if folder.is_dir()), None)
        if folder is None:
            raise SystemExit(f"{checkout} has no exercise {slug}; give a checkout of github.com/exercism/python.")
        files = json.loads((folder / ".meta" / "config.json").read_text("utf-8"))["files"]
        return cls(slug, folder, tuple(files["solution"]), tuple(files["test"]))

    @property
    def request(self) -> str:
        """The instructions as the site shows them, and what is expected of the files. The introduction of a concept
        exercise is a lesson about the language, up to four times as long, and is left out."""
        names = ["introduction.md", "instructions.md", "instructions.append.md"]
        names = names[1:] if self.folder.parent.name == "concept" else names
        pages = [self.folder / ".docs" / name for name in names]
        text = "\n".join(page.read_text("utf-8").strip() + "\n" for page in pages if page.is_file())
        return _REQUEST.format(instructions=text.strip(), files=self._file_list)

    def second_request(self, output: str) -> str:
        return _SECOND_REQUEST.format(output=output, files=self._file_list)

    @property
    def reference(self) -> Path:
        """The solution that the exercise comes with."""
        names = ("example.py", "exemplar.py")
        return next(path for name in names if (path := self.folder / ".meta" / name).is_file())

    @property
    def _file_list(self) -> str:
        return ", ".join(self.solution_files)

    def prepare(self, folder: Path) -> None:
        """Copy the stub into a folder. The tests stay hidden."""
        for name in self.solution_files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.folder / name, folder / name)

    def test(self, folder: Path, answer: str = "") -> TestRun:
        """Run the tests on the files of a folder, in a copy of it and in a process of its own. No answer counts."""
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "work"
            shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))
            for test_file in self.test_files:
                (copy / test_file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.folder / test_file, copy / test_file)
            options = ("-q", "--tb=short", "-p", "no:cacheprovider", "--rootdir", str(copy), "-c", os.devnull)
            command = [sys.executable, "-m", "pytest", *options, *self.test_files]
            ended = run_limited(
                command,
                folder=copy,
                environment=_environment(Path(name)),
                log=Path(name) / "log",
                seconds=TEST_SECONDS,
                memory=_MEMORY,
            )
        if ended.exit_code is None:
            return TestRun(False, f"The tests did not end within {TEST_SECONDS} seconds.")
        return TestRun(ended.exit_code == 0, _shorten(ended.output.replace(f"{copy}/", "").replace(str(copy), ".")))


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def _shorten(output: str) -> str:
    lines = output.strip().splitlines()
    text = "\n".join(lines[:_LINES])
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + "\n…"
