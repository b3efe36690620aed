"""The outcome of one check."""

import msgspec


class CheckOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a check passed. A check may return one itself, with a reason and a score from 0 to 1."""

    name: str
    passed: bool
    reason: str = ""
    """Why it failed, or the reason of a judge."""
    score: float | None = None

    @property
    def grade(self) -> float:
        """The score, or 1 if the check passed and 0 if not."""
        return float(self.passed) if self.score is None else self.score
