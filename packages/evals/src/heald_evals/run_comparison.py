"""Compares a run with earlier ones: which cases got better or worse, and what they cost."""

from collections.abc import Iterable, Sequence

import msgspec

from heald_evals.case_outcome import CaseOutcome

_NOTABLE = 0.1
"""The least difference of two scores that counts: judges do not repeat theirs exactly."""


class CaseChange(msgspec.Struct, frozen=True):
    """The outcome of a case, and the one before it."""

    before: CaseOutcome
    after: CaseOutcome

    @property
    def is_better(self) -> bool:
        """Whether the case passes now and did not before; if it does both times or neither, whether its score grew."""
        return _is_better(self.after, self.before)

    @property
    def is_worse(self) -> bool:
        return _is_better(self.before, self.after)


class RunComparison(msgspec.Struct, frozen=True):
    """The cases of a run that ran before, each beside its last earlier outcome, and those that are new."""

    changes: list[CaseChange]
    new: list[CaseOutcome]

    @property
    def better(self) -> list[CaseChange]:
        return [change for change in self.changes if change.is_better]

    @property
    def worse(self) -> list[CaseChange]:
        return [change for change in self.changes if change.is_worse]

    @property
    def same(self) -> list[CaseChange]:
        return [change for change in self.changes if not change.is_better and not change.is_worse]


def compare_runs(before: Iterable[CaseOutcome], after: Sequence[CaseOutcome]) -> RunComparison:
    """Compare outcomes with the last earlier ones of the same cases."""
    runs = {outcome.run for outcome in after}
    last = {(outcome.evaluation, outcome.case): outcome for outcome in before if outcome.run not in runs}
    changes: list[CaseChange] = []
    new: list[CaseOutcome] = []
    for outcome in after:
        earlier = last.get((outcome.evaluation, outcome.case))
        if earlier is None:
            new.append(outcome)
        else:
            changes.append(CaseChange(earlier, outcome))
    return RunComparison(changes, new)


def _is_better(first: CaseOutcome, second: CaseOutcome) -> bool:
    if first.passed != second.passed:
        return first.passed
    return first.score - second.score >= _NOTABLE
