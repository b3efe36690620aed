"""Tasks in small repositories, for measuring coding assistants.

A task is a folder of tasks/: task.toml (the instruction), files/ (the repository that an assistant gets), check.py (the
hidden check), solution/ and wrong/ (files that are laid over files/: a reference that passes, an attempt that fails).
"""

import contextlib
import filecmp
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

CHECK_SECONDS = 10
_PACKAGE = Path(__file__).parent
_CHARACTERS = 4000
_IGNORED = shutil.ignore_patterns(".git", "__pycache__", "*.pyc", ".pytest_cache", ".ruff_cache", "node_modules")

Attempt = Literal["untouched", "solution", "wrong"]


@dataclass(frozen=True)
class TaskVerdict:
    """What the hidden check of a task said about a repository."""

    solved: bool
    output: str
    """The end of the output: why the check failed."""


@dataclass(frozen=True)
class RepositoryTask:
    """A small repository, an instruction, and a check that an assistant does not see."""

    name: str
    instruction: str
    language: str
    tags: tuple[str, ...]
    question: bool
    """Whether the instruction is a question: no file may change, and the answer is checked."""
    reference_answer: str
    wrong_answer: str
    folder: Path

    @classmethod
    def read(cls, folder: Path) -> "RepositoryTask":
        data = tomllib.loads((folder / "task.toml").read_text("utf-8"))
        return cls(
            name=folder.name,
            instruction=str(data["instruction"]).strip(),
            language=str(data["language"]),
            tags=tuple(str(tag) for tag in cast(list[object], data["tags"])),
            question=bool(data.get("question", False)),
            reference_answer=str(data.get("reference_answer", "")),
            wrong_answer=str(data.get("wrong_answer", "")),
            folder=folder,
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the repository that an assistant gets."""
        return _paths(self.folder / "files")

    def place(self, target: Path, attempt: Attempt = "untouched") -> None:
        """Writes the repository into a folder, which is created if missing; with an attempt, laid over it."""
        shutil.copytree(self.folder / "files", target, dirs_exist_ok=True, ignore=_IGNORED)
        overlay = self.folder / attempt
        if attempt != "untouched" and overlay.is_dir():
            shutil.copytree(overlay, target, dirs_exist_ok=True, ignore=_IGNORED)

    def answer(self, attempt: Attempt) -> str:
        """The answer that belongs to an attempt; empty unless the task is a question."""
        return {"untouched": "", "solution": self.reference_answer, "wrong": self.wrong_answer}[attempt]

    def check(self, repository: Path, answer: str = "") -> TaskVerdict:
        """Runs the hidden check on a copy of the repository; the answer is the assistant's last message."""
        complaint = self._complaint(repository)
        if complaint:
            return TaskVerdict(False, complaint)
        with tempfile.TemporaryDirectory() as temporary:
            copy = Path(temporary) / "repository"
            shutil.copytree(repository, copy, symlinks=True, ignore=_IGNORED)
            return self._run(copy, answer)

    def _complaint(self, repository: Path) -> str:
        """Why the repository fails before its check runs: a file is missing or empty, or a question changed one."""
        for path in self.files:
            if not (repository / path).is_file():
                return f"{path} is missing."
            if (self.folder / "files" / path).stat().st_size and not (repository / path).stat().st_size:
                return f"{path} is empty."
            if self.question and not filecmp.cmp(self.folder / "files" / path, repository / path, shallow=False):
                return f"{path} changed, but the instruction is a question."
        if self.question:
            extra = sorted(set(_paths(repository)) - set(self.files))
            if extra:
                return f"{extra[0]} is new, but the instruction is a question."
        return ""

    def _run(self, repository: Path, answer: str) -> TaskVerdict:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(repository.parent),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-B", str(_PACKAGE / "referee.py"), str(self.folder / "check.py")],
            cwd=repository,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(answer.encode(), timeout=CHECK_SECONDS)
        except subprocess.TimeoutExpired:
            return TaskVerdict(False, f"The check did not end within {CHECK_SECONDS} s.")
        finally:
            _kill(process)
        text = output.decode("utf-8", "replace").replace(str(repository), ".")
        return TaskVerdict(process.returncode == 0, text[-_CHARACTERS:])


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Ends the process and everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _paths(folder: Path) -> tuple[str, ...]:
    paths: list[str] = []
    for root, folders, names in os.walk(folder):
        ignored = _IGNORED(root, [*folders, *names])
        folders[:] = [name for name in folders if name not in ignored]
        paths.extend((Path(root) / name).relative_to(folder).as_posix() for name in names if name not in ignored)
    return tuple(sorted(paths))


def read_tasks() -> tuple[RepositoryTask, ...]:
    """All tasks, in the order of their names."""
    return tuple(RepositoryTask.read(path.parent) for path in sorted((_PACKAGE / "tasks").glob("*/task.toml")))
