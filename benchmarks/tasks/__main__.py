"""Runs the tasks and prints a table: solved, requests, tokens in and out, seconds.

python -m benchmarks.tasks --model qwen2.5-coder-1.5b --base-url http://127.0.0.1:8080/v1
"""

import argparse
import os
import tempfile
import traceback
from pathlib import Path
from time import monotonic

from benchmarks.tasks.calling import TOOL_TASKS
from benchmarks.tasks.coding import CODING_TASKS
from benchmarks.tasks.proxy import CountingProxy, Counts
from benchmarks.tasks.runners import Place, Runner, available_runners
from benchmarks.tasks.task import CodingTask, ToolTask


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--api-key-env", default="", help="variable that holds the key")
    parser.add_argument("--kind", choices=["coding", "tools", "all"], default="all")
    parser.add_argument("--only", default="", help="agents whose name holds this text")
    parser.add_argument("--first", type=int, default=100, help="so many tasks of each kind")
    parser.add_argument("--verbose", action="store_true", help="print each task")
    options = parser.parse_args()
    runners = [runner for runner in available_runners() if options.only in runner.name]
    with CountingProxy(options.base_url) as proxy:
        place = Place(options.model, proxy.url, os.environ.get(options.api_key_env, "") or "none")
        if options.kind in ("coding", "all"):
            tasks = CODING_TASKS[: options.first]
            _print_table(
                f"{len(tasks)} coding tasks, {options.model}",
                [_measure(runner, tasks, proxy, place, options.verbose) for runner in runners if runner.code],
            )
        if options.kind in ("tools", "all"):
            questions = TOOL_TASKS[: options.first]
            _print_table(
                f"{len(questions)} tool tasks, {options.model}",
                [_measure(runner, questions, proxy, place, options.verbose) for runner in runners if runner.call],
            )


_Row = tuple[str, int, Counts, float]


def _measure(
    runner: Runner,
    tasks: tuple[CodingTask, ...] | tuple[ToolTask, ...],
    proxy: CountingProxy,
    place: Place,
    verbose: bool,
) -> _Row:
    proxy.reset()
    started, solved = monotonic(), 0
    for task in tasks:
        began = monotonic()
        is_solved = _is_solved(runner, task, place, verbose)
        solved += is_solved
        if verbose:
            print(
                f"{runner.name:24} {task.name:20} {'solved' if is_solved else 'not':8}{monotonic() - began:7.1f} s",
                flush=True,
            )
    return runner.name, solved, proxy.reset(), monotonic() - started


def _is_solved(runner: Runner, task: CodingTask | ToolTask, place: Place, verbose: bool) -> bool:
    """Let an agent do a task. An agent that fails has not solved it."""
    try:
        if isinstance(task, ToolTask):
            assert runner.call is not None
            return task.is_solved(runner.call(task.request, place))
        assert runner.code is not None
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            task.prepare(folder)
            try:
                runner.code(task.request, folder, place)
            finally:
                is_solved = task.is_solved(folder)
            return is_solved
    except Exception:
        if verbose:
            traceback.print_exc(limit=1)
        return False


def _print_table(title: str, rows: list[_Row]) -> None:
    print(f"\n{title}\n\n| agent | solved | requests | tokens in | tokens out | seconds |\n|---|---|---|---|---|---|")
    for name, solved, counts, seconds in rows:
        figures = f"{counts.requests} | {counts.tokens_in:,} | {counts.tokens_out:,} | {seconds:.0f}"
        print(f"| {name} | {solved} | {figures} |", flush=True)


main()
