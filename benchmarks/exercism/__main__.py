"""Exercises of Exercism's Python track by command lines of coding agents, side by side with one model.

    git clone https://github.com/exercism/python exercism-python
    python -m benchmarks.exercism exercism-python --local
    python -m benchmarks.exercism exercism-python --model NAME --base-url http://127.0.0.1:8080/v1 --jobs 8

An agent gets a folder with the stub, and the instructions. The tests are hidden; if they fail, the agent has a second
try with the beginning of their output. Programs that a model wrote run here with limits of time and memory only.
"""

import argparse
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from time import monotonic

from benchmarks.exercism.exercise import Exercise
from benchmarks.exercism.lists import LISTS
from benchmarks.exercism.outcome import run_exercise
from benchmarks.exercism.results import Results, describe_run
from benchmarks.exercism.rows import DEFAULT_ROWS, ROWS, Row
from benchmarks.tasks.local_model import NAME as LOCAL_NAME
from benchmarks.tasks.local_model import serve_local_model


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exercism",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, help="a checkout of github.com/exercism/python")
    parser.add_argument("--model")
    parser.add_argument("--base-url", action="append", default=[], help="an endpoint; several share the exercises")
    parser.add_argument("--local", action="store_true", help="fetch and run a small model")
    parser.add_argument("--list", choices=sorted(LISTS), default="measured", help="which exercises (measured)")
    parser.add_argument("--exercise", action="append", help="an exercise by its name; can be repeated")
    parser.add_argument("--first", type=int, help="only so many exercises of the list")
    parser.add_argument("--row", action="append", choices=list(ROWS), help="an agent; can be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="exercises at once (1)")
    parser.add_argument("--seconds", type=float, help="begin nothing after so many seconds; --resume does the rest")
    parser.add_argument("--results", type=Path, default=Path("results.json"), help="file of the results (results.json)")
    parser.add_argument("--resume", type=Path, metavar="RESULTS", help="continue the run that left these results")
    parser.add_argument("--transcript", type=Path, help="folder for requests and answers, a file for each exercise")
    parser.add_argument("--commit", help="the commit that is measured, where there is no repository")
    parser.add_argument("--server", default="", help="what serves the model, for the results")
    parser.add_argument("--reference", action="store_true", help="only test the exercises' own solutions")
    options = parser.parse_args()
    slugs = (options.exercise or LISTS[options.list])[: options.first]
    exercises = [Exercise.read(options.checkout, slug) for slug in slugs]
    if options.reference:
        _check_references(exercises, options.jobs)
    elif options.local:
        with serve_local_model() as base_url:
            options.model, options.base_url = LOCAL_NAME, [base_url]
            _run(options, exercises)
    elif options.model and options.base_url:
        _run(options, exercises)
    else:
        parser.error("give --model and --base-url, or --local")


def _run(options: argparse.Namespace, exercises: Sequence[Exercise]) -> None:
    rows = _available_rows(options.row or DEFAULT_ROWS)
    facts = describe_run(options.model, options.list, options.commit, options.server)
    results = Results(options.resume or options.results, facts)
    if options.resume is not None:
        results.resume(options.resume)
    if options.transcript is not None:
        options.transcript.mkdir(parents=True, exist_ok=True)
    until = monotonic() + options.seconds if options.seconds else float("inf")
    endpoints: SimpleQueue[str] = SimpleQueue()
    for job in range(options.jobs):
        endpoints.put(options.base_url[job % len(options.base_url)])
    printing = threading.Lock()

    def work(index: int, exercise: Exercise) -> None:
        base_url = endpoints.get()
        try:
            for row in _rotated(rows, index):  # none of them is always the first
                if monotonic() > until or results.has(exercise.slug, row.name):
                    continue
                transcript = options.transcript and options.transcript / f"{exercise.slug}.{row.name}"
                outcome = run_exercise(exercise, row, options.model, base_url, transcript)
                results.add(outcome)
                last = outcome.tries[-1]
                verdict = f"solved in {len(outcome.tries)}" if last.solved else "not solved"
                seconds = sum(attempt.seconds for attempt in outcome.tries)
                with printing:
                    print(f"{exercise.slug:26} {row.name:12} {verdict:12} {seconds:6.1f} s", flush=True)
        finally:
            endpoints.put(base_url)

    with ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(work, index, exercise) for index, exercise in enumerate(exercises)]:
            job.result()
    print("\n" + results.table([row.name for row in rows]))


def _available_rows(names: Sequence[str]) -> list[Row]:
    rows = [ROWS[name] for name in names]
    for program in sorted({row.program for row in rows if row.path is None}):
        print(f"{program} is not installed: its rows are left out.", flush=True)
    available = [row for row in rows if row.path is not None]
    if not available:
        raise SystemExit("No agent is installed; install heald or aider-chat into this environment.")
    return available


def _rotated(rows: Sequence[Row], index: int) -> list[Row]:
    start = index % len(rows)
    return [*rows[start:], *rows[:start]]


def _check_references(exercises: Sequence[Exercise], jobs: int) -> None:
    """Test the solution that each exercise comes with: one that fails here cannot be solved by anybody."""

    def passes(exercise: Exercise) -> bool:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / exercise.solution_files[0]).write_bytes((exercise.folder / ".meta/example.py").read_bytes())
            return exercise.test(Path(name)).passed

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(passes, exercises))
    for exercise, passed in zip(exercises, verdicts, strict=True):
        if not passed:
            print(f"{exercise.slug}: its own solution fails")
    print(f"{sum(verdicts)} of {len(exercises)} solutions pass their tests")


if __name__ == "__main__":
    main()
