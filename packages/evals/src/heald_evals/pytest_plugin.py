"""The pytest plugin: every case of an evaluation is a test.

Evaluations are variables of test modules, and files `test_*.toml` with `[[cases]]`. All cases have the marker
`heald_evals`. Every run of pytest in the environment loads this module, so it imports nothing of Heald by itself.
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from heald_evals.case import Case
    from heald_evals.case_outcome import CaseOutcome
    from heald_evals.case_runner import Traffic
    from heald_evals.evaluation import Evaluation

MARKER = "heald_evals"
_RUN_ID = "heald_evals_run"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heald_evals", "evaluations of Heald agents")
    group.addoption(
        "--evals-folder",
        metavar="DIR",
        help="folder for results, logs and recordings (.heald/evals in the root folder)",
    )
    group.addoption("--evals-model", metavar="NAME", help="model to use instead of the agents' own")
    group.addoption(
        "--evals-parallel", type=int, default=1, metavar="N", help="cases of an evaluation at the same time (1)"
    )
    group.addoption("--evals-record", action="store_true", help="record the answers of the models in the folder")
    group.addoption("--evals-replay", action="store_true", help="answer from the recordings; needs no key, no network")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}: a case of an evaluation of Heald; it may ask a model.")
    if config.getoption("evals_record") and config.getoption("evals_replay"):
        raise pytest.UsageError("--evals-record and --evals-replay exclude each other; give one of them.")
    if _parallel_option(config) < 1:
        raise pytest.UsageError("--evals-parallel must be greater than 0.")


def _parallel_option(config: pytest.Config) -> int:
    parallel: Any = config.getoption("evals_parallel")
    return parallel


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give the processes of pytest-xdist the id of the run: their outcomes belong together."""
    node.workerinput[_RUN_ID] = _run_of(node.config).run_id


# --- collection ------------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: "pytest.Module | pytest.Class", name: str, obj: object
) -> "EvaluationCollector | None":
    loaded = sys.modules.get("heald_evals.evaluation")
    if loaded is None or not isinstance(obj, loaded.Evaluation):
        return None
    return cast(Any, EvaluationCollector).from_parent(collector, name=name, evaluation=obj)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CasesFile | None":
    if file_path.suffix != ".toml" or not (file_path.name.startswith("test_") or parent.session.isinitpath(file_path)):
        return None
    if b"[[cases]]" not in file_path.read_bytes():
        return None
    return cast(Any, CasesFile).from_parent(parent, path=file_path)


class CasesFile(pytest.File):
    """A TOML file of cases."""

    def collect(self) -> Iterable[pytest.Item]:
        from heald.core.errors import HealdError
        from heald_evals.case_files import load_evaluations

        try:
            evaluations = load_evaluations(self.path)
        except HealdError as error:
            raise self.CollectError(str(error)) from None
        for evaluation in evaluations:
            yield from _make_items(self, evaluation)


class EvaluationCollector(pytest.Collector):
    """A variable of a test module that is an evaluation."""

    def __init__(self, *, evaluation: "Evaluation", **options: Any) -> None:
        super().__init__(**options)
        self._evaluation = evaluation

    def collect(self) -> Iterable[pytest.Item]:
        return _make_items(self, self._evaluation)


def _make_items(parent: pytest.Collector, evaluation: "Evaluation") -> list[pytest.Item]:
    return [
        cast(Any, CaseItem).from_parent(parent, name=case.name, evaluation=evaluation, case=case)
        for case in evaluation.cases
    ]


# --- the run ---------------------------------------------------------------------------------------------------------


class CaseFailed(Exception):
    """A case did not pass."""

    def __init__(self, outcome: "CaseOutcome") -> None:
        super().__init__(outcome.case)
        self.outcome = outcome


class CaseItem(pytest.Item):
    """A case as a test."""

    def __init__(self, *, evaluation: "Evaluation", case: "Case", **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]
        self.evaluation = evaluation
        self.case = case
        self.add_marker(MARKER)
        self.user_properties.append((MARKER, evaluation.name))

    def runtest(self) -> None:
        outcome = _run_of(self.config).find_outcome(self)
        if not outcome.passed:
            raise CaseFailed(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, CaseFailed):
            return super().repr_failure(excinfo, style)
        from heald_evals.report_lines import failure_lines

        return "\n".join(failure_lines(excinfo.value.outcome, _run_of(self.config).folder.path))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.evaluation.name}: {self.name}"


class EvaluationsOfRun:
    """The cases that one run of pytest runs, and where their outcomes are stored."""

    def __init__(self, config: pytest.Config) -> None:
        from heald.core.ids import new_id
        from heald_evals.evaluation_folder import DEFAULT_FOLDER, EvaluationFolder

        path = Path(config.getoption("evals_folder") or config.rootpath / DEFAULT_FOLDER)
        worker: dict[str, str] | None = getattr(config, "workerinput", None)
        self.folder = EvaluationFolder(path)
        self.run_id = worker[_RUN_ID] if worker is not None and _RUN_ID in worker else new_id("run")
        # a process of pytest-xdist does not know which cases the others run
        self._parallel: int = 1 if worker is not None else _parallel_option(config)
        self._model: str | None = config.getoption("evals_model")
        self._traffic: Traffic = "live"
        if config.getoption("evals_record"):
            self._traffic = "record"
        elif config.getoption("evals_replay"):
            self._traffic = "replay"
        self._outcomes: dict[CaseItem, CaseOutcome] = {}
        self._started: set[CaseItem] = set()

    def find_outcome(self, item: CaseItem) -> "CaseOutcome":
        """Return the outcome of a case. Runs it and, in parallel, the other selected cases of its evaluation."""
        if item not in self._outcomes:
            items = [item]
            if self._parallel > 1:
                others = (other for other in item.session.items if isinstance(other, CaseItem) and other is not item)
                items += [
                    other for other in others if other.evaluation is item.evaluation and other not in self._started
                ]
            self._started.update(items)
            running = item.evaluation.run_cases(
                [item.case for item in items],
                self.run_id,
                self.folder,
                model=self._model,
                parallel=self._parallel,
                traffic=self._traffic,
            )
            outcomes = asyncio.run(running)
            self._outcomes |= zip(items, outcomes, strict=True)
        return self._outcomes.pop(item)  # a plugin that repeats failed tests runs the case once more


_RUN: "pytest.StashKey[EvaluationsOfRun]" = pytest.StashKey()


def _run_of(config: pytest.Config) -> EvaluationsOfRun:
    if _RUN not in config.stash:
        config.stash[_RUN] = EvaluationsOfRun(config)
    return config.stash[_RUN]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the sums of all cases, and what got better or worse since the last run."""
    stats: dict[str, list[Any]] = terminalreporter.stats
    reports = [report for status in ("passed", "failed") for report in stats.get(status, ())]
    if not any(name == MARKER for report in reports for name, _ in report.user_properties):
        return
    from heald_evals.report_lines import comparison_lines, summary_line
    from heald_evals.run_comparison import compare_runs

    run = _run_of(config)
    stored = run.folder.read_outcomes()
    outcomes = [outcome for outcome in stored if outcome.run == run.run_id]
    terminalreporter.section("evaluations")
    for line in (summary_line(outcomes), *comparison_lines(compare_runs(stored, outcomes))):
        terminalreporter.write_line(line)
