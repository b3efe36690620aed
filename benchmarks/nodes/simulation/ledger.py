"""What really happened in a simulation, beside the log: effects, acknowledged events, accepted requests."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """Facts that no fault can undo, and what was found wrong."""

    effects: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """How often the effect of a step took place, by session and step."""
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """The texts of the events that the store has acknowledged, by session and seq."""
    accepted: set[str] = field(default_factory=set[str])
    """The requests that were answered with success."""
    writers: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """The writer of each epoch of a session."""
    working: dict[str, str] = field(default_factory=dict[str, str])
    """The writers of sessions that work in them, and have neither ended nor failed."""
    reports_takeovers: bool = False
    """Nothing happens for which a node has to lose a session."""
    violations: list[str] = field(default_factory=list[str])

    def report(self, violation: str) -> None:
        if violation not in self.violations:
            self.violations.append(violation)
