"""Checks: conformance probes of model servers, and the rules that every event log satisfies."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald_check.checker import LogChecker, check_log
    from heald_check.checker.invariants import Violation

__all__ = ["LogChecker", "Violation", "check_log"]

__getattr__ = lazy_exports(
    __name__,
    {"heald_check.checker": "LogChecker check_log", "heald_check.checker.invariants": "Violation"},
)
