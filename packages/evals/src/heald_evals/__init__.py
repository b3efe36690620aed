"""Evaluations of agents: cases with checks and a judge, compared with the last run."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald_evals.case import Case
    from heald_evals.case_files import load_evaluations
    from heald_evals.case_outcome import CaseOutcome
    from heald_evals.case_run import CaseRun
    from heald_evals.case_runner import AgentSource, Traffic
    from heald_evals.check_outcome import CheckOutcome
    from heald_evals.checks import Check, avoids, calls, contains, equals, excludes, matches, writes
    from heald_evals.evaluation import Evaluation
    from heald_evals.judge import Judge, Judgement
    from heald_evals.run_comparison import CaseChange, RunComparison, compare_runs
    from heald_evals.run_report import RunReport

__all__ = [
    "AgentSource",
    "Case",
    "CaseChange",
    "CaseOutcome",
    "CaseRun",
    "Check",
    "CheckOutcome",
    "Evaluation",
    "Judge",
    "Judgement",
    "RunComparison",
    "RunReport",
    "Traffic",
    "avoids",
    "calls",
    "compare_runs",
    "contains",
    "equals",
    "excludes",
    "load_evaluations",
    "matches",
    "writes",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald_evals.case": "Case",
        "heald_evals.case_files": "load_evaluations",
        "heald_evals.case_outcome": "CaseOutcome",
        "heald_evals.case_run": "CaseRun",
        "heald_evals.check_outcome": "CheckOutcome",
        "heald_evals.case_runner": "AgentSource Traffic",
        "heald_evals.checks": "Check avoids calls contains equals excludes matches writes",
        "heald_evals.evaluation": "Evaluation",
        "heald_evals.judge": "Judge Judgement",
        "heald_evals.run_comparison": "CaseChange RunComparison compare_runs",
        "heald_evals.run_report": "RunReport",
    },
)
