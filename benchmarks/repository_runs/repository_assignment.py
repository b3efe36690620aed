"""A task in a repository as the rows of the Exercism benchmark take it: one try, and the answer is checked too."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.exercism.exercise import TestRun
from benchmarks.repository_tasks import RepositoryTask


@dataclass(frozen=True)
class RepositoryAssignment:
    """A task of benchmarks/repository_tasks. Heald sees the folder; aider, which does not look, gets all its files."""

    task: RepositoryTask

    @property
    def slug(self) -> str:
        return self.task.name

    @property
    def request(self) -> str:
        return self.task.instruction

    @property
    def solution_files(self) -> tuple[str, ...]:
        return self.task.files

    def second_request(self, output: str) -> str:
        return f"{output}\n\nThis is what a check says. Fix it."

    def prepare(self, folder: Path) -> None:
        self.task.place(folder)

    def test(self, folder: Path, answer: str) -> TestRun:
        verdict = self.task.check(folder, answer)
        return TestRun(verdict.solved, verdict.output)
