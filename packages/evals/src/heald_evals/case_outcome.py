"""The outcome of a case: one line of the results file."""

from typing import Literal

import msgspec

from heald_evals.check_outcome import CheckOutcome

CaseStatus = Literal["passed", "failed", "error"]


class CaseOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one case in one run of an evaluation."""

    run: str
    """The id of the run; all cases of a run have the same."""
    time: str
    """When the case ended, in UTC (ISO 8601)."""
    evaluation: str
    case: str
    model: str
    status: CaseStatus
    """`failed`: a check failed. `error`: the case could not be decided, because a model or the program failed."""
    checks: list[CheckOutcome] = []
    error: str = ""
    """The reason of status `error`."""
    text: str = ""
    """The answer."""
    turns: int = 0
    tokens: int = 0
    """All tokens of the agent and its sub-agents, in and out."""
    cost_usd: float | None = None
    """The cost of the agent in dollars; None if a price is not known."""
    judge_tokens: int = 0
    judge_cost_usd: float | None = None
    duration_ms: float = 0.0
    """The duration of the exchange, without the judge."""
    session: str = ""
    """The id of the session that has the log of the case."""

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def score(self) -> float:
        """The mean of the checks: the score of a judge, 1 for a check that passed, 0 for one that failed. It is 0 after
        an error."""
        if self.status == "error" or not self.checks:
            return float(self.passed)
        return sum(check.grade for check in self.checks) / len(self.checks)

    @property
    def failures(self) -> list[CheckOutcome]:
        """The checks that failed."""
        return [check for check in self.checks if not check.passed]
