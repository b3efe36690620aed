"""Exercises of Exercism's Python track by command lines of coding agents, side by side with one model.

    git clone https://github.com/exercism/python exercism-python
    python -m benchmarks.exercism exercism-python --local
    python -m benchmarks.exercism exercism-python --model NAME --base-url http://127.0.0.1:8080/v1 --jobs 8

An agent gets a folder with the stub, and the instructions. The tests are hidden; if they fail, the agent has a second
try with the beginning of their output. Programs that a model wrote run here with limits of time and memory only.
"""

import argparse
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.exercism.contest import add_options, run_rows
from benchmarks.exercism.exercise import Exercise
from benchmarks.exercism.lists import LISTS


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exercism",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, help="a checkout of github.com/exercism/python")
    parser.add_argument("--list", choices=sorted(LISTS), default="measured", help="which exercises (measured)")
    parser.add_argument("--exercise", action="append", help="an exercise by its name; can be repeated")
    parser.add_argument("--first", type=int, help="only so many exercises of the list")
    add_options(parser)
    parser.add_argument("--reference", action="store_true", help="only test the exercises' own solutions")
    options = parser.parse_args()
    slugs = (options.exercise or LISTS[options.list])[: options.first]
    exercises = [Exercise.read(options.checkout, slug) for slug in slugs]
    if options.reference:
        _check_references(exercises, options.jobs)
    else:
        run_rows(parser, options, exercises, program="exercism", list_name=options.list)


def _check_references(exercises: Sequence[Exercise], jobs: int) -> None:
    """Test the solution that each exercise comes with: one that fails here cannot be solved by anybody."""

    def passes(exercise: Exercise) -> bool:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / exercise.solution_files[0]).write_bytes(exercise.reference.read_bytes())
            return exercise.test(Path(name)).passed

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(passes, exercises))
    for exercise, passed in zip(exercises, verdicts, strict=True):
        if not passed:
            print(f"{exercise.slug}: its own solution fails")
    print(f"{sum(verdicts)} of {len(exercises)} solutions pass their tests")


if __name__ == "__main__":
    main()
