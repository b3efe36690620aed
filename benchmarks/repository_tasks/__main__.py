"""Lists the tasks, or proves with --check that each check tells a solution from an attempt that is wrong."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.repository_tasks import Attempt, RepositoryTask, read_tasks

_EXPECTED: dict[Attempt, bool] = {"untouched": False, "solution": True, "wrong": False}


def faults(task: RepositoryTask) -> list[str]:
    """What the check of a task says wrongly about its own attempts."""
    sentences: list[str] = []
    for attempt, solved in _EXPECTED.items():
        with tempfile.TemporaryDirectory() as temporary:
            repository = Path(temporary) / "repository"
            task.place(repository, attempt)
            verdict = task.check(repository, task.answer(attempt))
        if verdict.solved != solved:
            sentences.append(f"{task.name}: {attempt} {'fails' if solved else 'passes'}.\n{verdict.output}")
    return sentences


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repository_tasks", description=__doc__)
    parser.add_argument("names", nargs="*", help="names of tasks (default: all)")
    parser.add_argument("--check", action="store_true", help="check every task against its own attempts")
    arguments = parser.parse_args()
    tasks = [task for task in read_tasks() if not arguments.names or task.name in arguments.names]
    missing = sorted(set(arguments.names) - {task.name for task in tasks})
    if missing:
        parser.error(f"there is no task {missing[0]}; run without arguments to list the tasks.")
    if not arguments.check:
        for task in tasks:
            print(f"{task.name:28} {task.language:11} {len(task.files):2} files  {', '.join(task.tags)}")
        return 0
    sentences = [sentence for task in tasks for sentence in faults(task)]
    print("\n".join(sentences) or f"{len(tasks)} tasks: untouched fails, solution passes, wrong fails.")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
