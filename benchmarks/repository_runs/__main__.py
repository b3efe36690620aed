"""Tasks in small repositories by command lines of coding agents, side by side with one model.

    python -m benchmarks.repository_runs --local
    python -m benchmarks.repository_runs --model NAME --base-url http://127.0.0.1:8080/v1 --jobs 8

An agent gets the repository and the instruction, and has one try. The check is hidden. Programs that a model wrote run
here with limits of time and memory only.
"""

import argparse

from benchmarks.exercism.contest import add_options, run_rows
from benchmarks.repository_runs.repository_assignment import RepositoryAssignment
from benchmarks.repository_tasks import read_tasks


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.repository_runs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--task", action="append", help="a task by its name; can be repeated")
    add_options(parser)
    options = parser.parse_args()
    tasks = [task for task in read_tasks() if task.name in (options.task or [task.name])]
    if not tasks:
        parser.error("no task has this name; python -m benchmarks.repository_tasks lists them")
    assignments = [RepositoryAssignment(task) for task in tasks]
    run_rows(parser, options, assignments, program="repository_runs", list_name="repository tasks", most_tries=1)


if __name__ == "__main__":
    main()
