"""For tests and demonstrations: a scripted HTTP server, streams in the words of each wire, a checker of event logs."""

from weft.testing.checker import LogChecker, Violation, check_log

__all__ = ["LogChecker", "Violation", "check_log"]
