"""For tests and demonstrations: a scripted HTTP server, model answers on each wire, a checker of event logs."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.testing.checker import LogChecker, check_log
    from weft.testing.checker.invariants import Violation
    from weft.testing.server import Cut, Hang, Pause, ReceivedRequest, Reply, Reset, ScriptedServer
    from weft.testing.streams import sse_event, wire_reply, wire_stream

__all__ = [
    "Cut",
    "Hang",
    "LogChecker",
    "Pause",
    "ReceivedRequest",
    "Reply",
    "Reset",
    "ScriptedServer",
    "Violation",
    "check_log",
    "sse_event",
    "wire_reply",
    "wire_stream",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "weft.testing.checker": "LogChecker check_log",
        "weft.testing.checker.invariants": "Violation",
        "weft.testing.server": "Cut Hang Pause ReceivedRequest Reply Reset ScriptedServer",
        "weft.testing.streams": "sse_event wire_reply wire_stream",
    },
)
