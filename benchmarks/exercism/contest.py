"""Rows side by side: several tasks at once, each by all rows, in an order that turns from task to task."""

import argparse
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from time import monotonic

from benchmarks.exercism.outcome import run_exercise
from benchmarks.exercism.results import Results, describe_run
from benchmarks.exercism.rows import DEFAULT_ROWS, ROWS, Assignment, Row
from benchmarks.tasks.local_model import NAME as LOCAL_NAME
from benchmarks.tasks.local_model import serve_local_model


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `run_rows` reads."""
    parser.add_argument("--model")
    parser.add_argument("--base-url", action="append", default=[], help="an endpoint; several share the tasks")
    parser.add_argument("--local", action="store_true", help="fetch and run a small model")
    parser.add_argument("--row", action="append", choices=list(ROWS), help="an agent; can be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at once (1)")
    parser.add_argument("--seconds", type=float, help="begin nothing after so many seconds; --resume does the rest")
    parser.add_argument("--results", type=Path, default=Path("results.json"), help="file of the results (results.json)")
    parser.add_argument("--resume", type=Path, metavar="RESULTS", help="continue the run that left these results")
    parser.add_argument("--transcript", type=Path, help="folder for requests and answers, a file for each task")
    parser.add_argument("--commit", help="the commit that is measured, where there is no repository")
    parser.add_argument("--server", default="", help="what serves the model, for the results")


def run_rows(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    assignments: Sequence[Assignment],
    *,
    program: str,
    list_name: str,
    most_tries: int = 2,
) -> None:
    """Run all rows of the options on all tasks, and print the table."""
    if options.local:
        with serve_local_model() as base_url:
            options.model, options.base_url = LOCAL_NAME, [base_url]
            _run(options, assignments, program, list_name, most_tries)
    elif options.model and options.base_url:
        _run(options, assignments, program, list_name, most_tries)
    else:
        parser.error("give --model and --base-url, or --local")


def _run(
    options: argparse.Namespace, assignments: Sequence[Assignment], program: str, list_name: str, most_tries: int
) -> None:
    rows = _available_rows(options.row or DEFAULT_ROWS)
    facts = describe_run(program, options.model, list_name, options.commit, options.server)
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

    def work(index: int, assignment: Assignment) -> None:
        base_url = endpoints.get()
        try:
            for row in _rotated(rows, index):  # none of them is always the first
                if monotonic() > until or results.has(assignment.slug, row.name):
                    continue
                transcript = options.transcript and options.transcript / f"{assignment.slug}.{row.name}"
                outcome = run_exercise(assignment, row, options.model, base_url, transcript, most_tries=most_tries)
                results.add(outcome)
                last = outcome.tries[-1]
                verdict = f"solved in {len(outcome.tries)}" if last.solved else "not solved"
                seconds = sum(attempt.seconds for attempt in outcome.tries)
                with printing:
                    print(f"{assignment.slug:26} {row.name:12} {verdict:12} {seconds:6.1f} s", flush=True)
        finally:
            endpoints.put(base_url)

    with ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(work, index, assignment) for index, assignment in enumerate(assignments)]:
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
