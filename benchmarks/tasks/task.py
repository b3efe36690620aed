"""A task: files to begin with, a request, and a check of the outcome."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class CodingTask:
    """A request about the files of a folder. `check` is Python that runs there and fails if the work is not done."""

    name: str
    request: str
    check: str
    files: dict[str, str] = field(default_factory=dict[str, str])

    def prepare(self, folder: Path) -> None:
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")

    def is_solved(self, folder: Path) -> bool:
        try:
            ran = subprocess.run(
                [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.')\n{self.check}"],
                cwd=folder,
                capture_output=True,
                timeout=20,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0


@dataclass(frozen=True)
class ToolTask:
    """A question that only the tools can answer. Each of `answers` must stand in the answer."""

    name: str
    request: str
    answers: tuple[str, ...]

    def is_solved(self, text: str) -> bool:
        plain = text.replace(",", "").replace("−", "-").lower()
        return all(answer.lower() in plain for answer in self.answers)


Function = Callable[..., str]
