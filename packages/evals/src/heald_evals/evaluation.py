"""An evaluation: an agent, its cases and what decides on them."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from os import PathLike

from heald.agent.budget import Budget
from heald.agent.model_chain import ModelLike
from heald.core.arguments import check_value, checked
from heald.core.errors import ConfigurationError
from heald.core.ids import new_id
from heald.sessions.memory import MemoryStore
from heald.sessions.store import Store
from heald_evals.case import Case
from heald_evals.case_outcome import CaseOutcome
from heald_evals.case_runner import AgentSource, CaseRunner, Traffic
from heald_evals.checks import Check
from heald_evals.evaluation_folder import EvaluationFolder
from heald_evals.judge import Judge
from heald_evals.run_comparison import compare_runs
from heald_evals.run_report import RunReport

PARALLEL = 4
"""Cases that run at the same time, where nothing else is named."""


class Evaluation:
    """An agent and the cases that it must answer.

    `agent` is an agent whose options every case gets, or a function that makes the agent of a case; it may accept the
    `Case`. `checks` are made in every case. `budget` limits each case that has none of its own. `heald test` and pytest
    run the evaluations that are variables of a file.
    """

    @checked
    def __init__(
        self,
        name: str,
        agent: AgentSource,
        cases: Sequence[Case],
        *,
        checks: Sequence[Check] = (),
        judge: Judge | None = None,
        budget: Budget | None = None,
    ) -> None:
        _check_cases(name, cases, judge)
        self.name = name
        self.agent: AgentSource = agent
        self.cases = list(cases)
        self.checks = list(checks)
        self.judge = judge
        self.budget = budget

    def __repr__(self) -> str:
        return f"Evaluation({self.name!r}, {len(self.cases)} cases)"

    async def run(
        self,
        *,
        folder: str | PathLike[str] | None = None,
        model: ModelLike | None = None,
        only: str = "",
        parallel: int = PARALLEL,
        traffic: Traffic = "live",
        on_start: Callable[[Case], object] | None = None,
        on_outcome: Callable[[CaseOutcome], object] | None = None,
    ) -> RunReport:
        """Run the cases, `parallel` at a time, and compare the outcomes with the last ones.

        `folder` stores results, logs and recordings; without it nothing is stored or compared. `model` replaces that of
        the agent. `only` is a part of the names of the cases to run, or a pattern with `*`. With `traffic="record"` the
        answers of models are recorded in the folder, and with `"replay"` they are read from there. `on_start` and
        `on_outcome` report the progress. Raises ConfigurationError if no case matches; a case that fails is an outcome.
        """
        check_value("run", "traffic", traffic, Traffic)
        check_value("run", "parallel", parallel, int)
        if parallel < 1:
            raise ConfigurationError(f"run: parallel is {parallel}; it must be greater than 0.")
        cases = self.select_cases(only)
        if not cases:
            names = ", ".join(case.name for case in self.cases)
            raise ConfigurationError(f"No case of {self.name} matches {only!r}; the cases are {names}.")
        run_id = new_id("run")
        files = EvaluationFolder(folder) if folder is not None else None
        earlier = files.read_outcomes() if files is not None else []
        outcomes = await self.run_cases(
            cases,
            run_id,
            files,
            model=model,
            parallel=parallel,
            traffic=traffic,
            on_start=on_start,
            on_outcome=on_outcome,
        )
        return RunReport(
            run=run_id, evaluation=self.name, outcomes=outcomes, comparison=compare_runs(earlier, outcomes)
        )

    def select_cases(self, only: str) -> list[Case]:
        """Return the cases whose names contain a text or match a pattern with `*`."""
        pattern = only if "*" in only else f"*{only}*"
        return [case for case in self.cases if fnmatchcase(case.name, pattern)]

    async def run_cases(
        self,
        cases: Sequence[Case],
        run_id: str,
        folder: EvaluationFolder | None,
        *,
        model: ModelLike | None,
        parallel: int,
        traffic: Traffic,
        on_start: Callable[[Case], object] | None = None,
        on_outcome: Callable[[CaseOutcome], object] | None = None,
    ) -> list[CaseOutcome]:
        """Run cases as a part of a run, with their logs in the folder or in memory. Raises ConfigurationError if
        recordings have no folder."""
        store = _open_store(folder, traffic)
        try:
            runner = CaseRunner(
                self.name,
                self.agent,
                self.checks,
                self.judge,
                self.budget,
                store,
                run_id,
                folder=folder,
                model=model,
                traffic=traffic,
            )
            outcomes = await runner.run_cases(cases, parallel, on_start, on_outcome)
            if folder is not None:
                await folder.delete_old_logs(store, self.name)
        finally:
            await store.close()
        return outcomes


def _open_store(folder: EvaluationFolder | None, traffic: Traffic) -> Store:
    if folder is not None:
        folder.create()
        return folder.open_store()
    if traffic != "live":
        raise ConfigurationError(f"run: traffic={traffic!r} needs a folder for the recordings; add folder=….")
    return MemoryStore()


def _check_cases(name: str, cases: Sequence[Case], judge: Judge | None) -> None:
    if not name.strip():
        raise ConfigurationError("Evaluation: name must not be empty; results are stored by it.")
    if not cases:
        raise ConfigurationError(f"The evaluation {name} has no cases; give it at least one.")
    names: set[str] = set()
    for case in cases:
        if case.name in names:
            raise ConfigurationError(f"The evaluation {name} has two cases with the name {case.name!r}; rename one.")
        names.add(case.name)
        if case.criteria and judge is None:
            raise ConfigurationError(
                f"The case {case.name!r} of {name} has criteria, and the evaluation has no judge; "
                "add judge=heald_evals.Judge(model)."
            )
