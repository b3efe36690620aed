"""Runs the tasks and prints a table: solved, requests, tokens in and out, seconds.

python -m benchmarks.tasks --model qwen2.5-coder-1.5b --base-url http://127.0.0.1:8080/v1
python -m benchmarks.tasks --local calls
"""

import argparse
import json
import os
import tempfile
import traceback
from pathlib import Path
from time import monotonic

from benchmarks.exercism.results import describe_run
from benchmarks.tasks.calling import FUNCTIONS, MORE_TOOL_TASKS, TOOL_TASKS
from benchmarks.tasks.coding import CODING_TASKS
from benchmarks.tasks.development_calling import DEVELOPMENT_FUNCTIONS, DEVELOPMENT_TOOL_TASKS
from benchmarks.tasks.last_coding import LAST_CODING_TASKS
from benchmarks.tasks.local_model import NAME as LOCAL_NAME
from benchmarks.tasks.local_model import serve_local_model
from benchmarks.tasks.more_coding import MORE_CODING_TASKS
from benchmarks.tasks.proxy import CountingProxy, Counts
from benchmarks.tasks.runners import Place, Runner, available_runners
from benchmarks.tasks.task import CodingTask, ToolTask


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument(
        "--local", choices=["calls", "text"], help="fetch and run a small model; `text` parses no calls"
    )
    parser.add_argument("--api-key-env", default="", help="variable that holds the key")
    parser.add_argument("--kind", choices=[*_KINDS, "all-tools", "all"], default="all")
    parser.add_argument("--only", action="append", help="an agent by its name; can be repeated")
    parser.add_argument("--first", type=int, default=100, help="so many tasks of each kind")
    parser.add_argument("--verbose", action="store_true", help="print each task")
    parser.add_argument("--transcript", type=Path, help="file to which all requests and answers are appended")
    parser.add_argument("--results", type=Path, help="file for the tables as JSON")
    parser.add_argument("--commit", help="the commit that is measured, where there is no repository")
    parser.add_argument("--server", default="", help="what serves the model, for the results")
    options = parser.parse_args()
    if options.local:
        with serve_local_model(parses_calls=options.local == "calls") as base_url:
            options.model, options.base_url = LOCAL_NAME, base_url
            _run(options)
        return
    if not options.model or not options.base_url:
        parser.error("give --model and --base-url, or --local")
    _run(options)


def _run(options: argparse.Namespace) -> None:
    runners = [runner for runner in available_runners() if runner.name in (options.only or [runner.name])]
    tables: dict[str, list[_Row]] = {}
    with CountingProxy(options.base_url, options.transcript) as proxy:
        place = Place(options.model, proxy.url, os.environ.get(options.api_key_env, "") or "none")
        for kind, (title, tasks) in _KINDS.items():
            if kind in _GROUPS.get(options.kind, (options.kind,)):
                tables[kind] = _compare(title, runners, tasks[: options.first], proxy, place, options.verbose)
    if options.results is not None:
        facts = describe_run("tasks", options.model, options.kind, options.commit, options.server)
        facts["tasks"] = {kind: [_as_entry(row) for row in rows] for kind, rows in tables.items()}
        options.results.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


Tasks = tuple[CodingTask, ...] | tuple[ToolTask, ...]
_KINDS: dict[str, tuple[str, Tasks]] = {
    "coding": ("coding tasks", CODING_TASKS),
    "tools": ("tool tasks", TOOL_TASKS),
    "more-tools": ("more tool tasks", MORE_TOOL_TASKS),
    "development-tools": ("tool tasks for development", DEVELOPMENT_TOOL_TASKS),
    "more": ("more coding tasks", MORE_CODING_TASKS),
    "last": ("last coding tasks", LAST_CODING_TASKS),
}
_GROUPS = {"all": ("coding", "tools", "more", "last"), "all-tools": ("tools", "more-tools")}
"""Kinds that run together."""


def _compare(
    title: str, runners: list[Runner], tasks: Tasks, proxy: CountingProxy, place: Place, verbose: bool
) -> "list[_Row]":
    is_coding = not any(isinstance(task, ToolTask) for task in tasks)
    able = [runner for runner in runners if (runner.code if is_coding else runner.call) is not None]
    rows = [_measure(runner, tasks, proxy, place, verbose) for runner in able]
    _print_table(f"{len(tasks)} {title}, {place.model}", rows)
    return rows


_Row = tuple[str, int, Counts, float]


def _measure(
    runner: Runner,
    tasks: Tasks,
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
            functions = DEVELOPMENT_FUNCTIONS if task in DEVELOPMENT_TOOL_TASKS else FUNCTIONS
            return task.is_solved(runner.call(task.request, place, functions))
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


def _as_entry(row: _Row) -> dict[str, object]:
    name, solved, counts, seconds = row
    return {
        "agent": name,
        "solved": solved,
        "requests": counts.requests,
        "tokens_in": counts.tokens_in,
        "tokens_out": counts.tokens_out,
        "seconds": round(seconds),
    }


main()
