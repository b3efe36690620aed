"""The report on one run of an evaluation."""

import msgspec

from heald_evals.case_outcome import CaseOutcome
from heald_evals.run_comparison import RunComparison


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcomes of one run of an evaluation, and the comparison with earlier runs."""

    run: str
    evaluation: str
    outcomes: list[CaseOutcome]
    comparison: RunComparison

    @property
    def passed(self) -> bool:
        """Whether all cases passed."""
        return not self.failures

    @property
    def failures(self) -> list[CaseOutcome]:
        """The cases that failed or could not be decided."""
        return [outcome for outcome in self.outcomes if not outcome.passed]
