"""A checker of event logs: it names every invariant that a log breaks, and where."""

from weft.testing.checker.log import LogChecker, check_log
from weft.testing.checker.violation import Violation

__all__ = ["LogChecker", "Violation", "check_log"]
