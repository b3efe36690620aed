"""`heald test`: runs the cases of agents, and compares the results with the last run."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from heald.commands.terminal import GREEN, RED, Colours, print_note, show_progress
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.tools.sanitize import sanitize_text
from heald_evals.case import Case
from heald_evals.case_files import load_evaluations
from heald_evals.case_outcome import CaseOutcome
from heald_evals.case_runner import Traffic
from heald_evals.evaluation import PARALLEL, Evaluation
from heald_evals.evaluation_folder import DEFAULT_FOLDER, read_outcomes
from heald_evals.report_lines import comparison_lines, failure_lines, outcome_line, summary_line
from heald_evals.run_comparison import compare_runs

EXAMPLES = """examples:
  heald test test_weather.py                       the evaluations of a Python file
  heald test test_weather.toml --only oslo         the cases of a TOML file whose names contain "oslo"
  heald test test_weather.py --model openai/gpt-5.2
  heald test test_weather.py --record              ask the models and record their answers
  heald test test_weather.py --replay              no key, no network, no cost
  heald sessions show ses_01ab --data .heald/evals   the log of a case; each failure prints this line

exit status: 0 all cases passed, 1 a case failed, 2 the cases cannot be run"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="Python or TOML file of cases")
    parser.add_argument("--only", default="", metavar="NAME", help="cases whose names contain this, or match its *")
    parser.add_argument("--model", metavar="NAME", help="model to use instead of the agent's")
    parser.add_argument(
        "--parallel", type=_count, default=PARALLEL, metavar="N", help=f"cases at the same time ({PARALLEL})"
    )
    traffic = parser.add_mutually_exclusive_group()
    traffic.add_argument("--record", action="store_true", help="record the answers of the models in the folder")
    traffic.add_argument(
        "--replay", action="store_true", help="answer from the recordings; needs no key and no network"
    )
    parser.add_argument(
        "--folder",
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"folder for results, logs and recordings ({DEFAULT_FOLDER})",
    )
    parser.add_argument("--baseline", metavar="FILE", help="compare with this results file (that of the folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line, an outcome each")


def run(options: argparse.Namespace) -> int:
    evaluations = [evaluation for file in options.files for evaluation in load_evaluations(file)]
    names = [evaluation.name for evaluation in evaluations]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(f"Two evaluations have the name {doubled!r}; results are stored by it, so rename one.")
    if options.only:
        evaluations = [evaluation for evaluation in evaluations if evaluation.select_cases(options.only)]
    if not evaluations:
        raise ConfigurationError(f"No case matches {options.only!r}.")
    return asyncio.run(_run_all(evaluations, options))


async def _run_all(evaluations: Sequence[Evaluation], options: argparse.Namespace) -> int:
    baseline = read_outcomes(Path(options.baseline)) if options.baseline else None
    traffic: Traffic = "record" if options.record else "replay" if options.replay else "live"
    has_failures = False
    for evaluation in evaluations:
        progress = CaseProgress(len(evaluation.select_cases(options.only)), options)
        if not options.json:
            print(f"{evaluation.name}: {progress.total:,} {'case' if progress.total == 1 else 'cases'}", flush=True)
        report = await evaluation.run(
            folder=options.folder,
            model=options.model,
            only=options.only,
            parallel=options.parallel,
            traffic=traffic,
            on_start=progress.on_start,
            on_outcome=progress.on_outcome,
        )
        has_failures |= not report.passed
        if options.json:
            continue
        comparison = report.comparison if baseline is None else compare_runs(baseline, report.outcomes)
        _print_lines([summary_line(report.outcomes), *comparison_lines(comparison), ""])
    if has_failures and not options.json:
        print_note(f"`heald serve --data {options.folder}` shows the logs in the browser.")
    return 1 if has_failures else 0


class CaseProgress:
    """Prints each outcome at once and, on a terminal, which cases run."""

    def __init__(self, total: int, options: argparse.Namespace) -> None:
        self.total = total
        self._folder = Path(options.folder)
        self._as_json: bool = options.json
        self._colours = Colours(sys.stdout)
        self._running: list[str] = []
        self._done = 0

    def on_start(self, case: Case) -> None:
        self._running.append(case.name)
        self._show()

    def on_outcome(self, outcome: CaseOutcome) -> None:
        self._running.remove(outcome.case)
        self._done += 1
        show_progress("")
        if self._as_json:
            print(encode_text(outcome), flush=True)
        else:
            line = sanitize_text(outcome_line(outcome))
            print(self._colours(line, GREEN if outcome.passed else RED), flush=True)
            if not outcome.passed:
                _print_lines([f"        {line}" for line in failure_lines(outcome, self._folder)])
        self._show()

    def _show(self) -> None:
        names = ", ".join(self._running[:3]) + (" …" if len(self._running) > 3 else "")
        show_progress(f"{names} ({self._done} of {self.total} done)" if names else "", verb="running")


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        print(sanitize_text(line), flush=True)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count
