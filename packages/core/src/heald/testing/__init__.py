"""For tests and demonstrations: a scripted model, a scripted HTTP server, and model answers on each wire."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.providers.scripted import ScriptedModel
    from heald.testing.call_context import tool_context
    from heald.testing.server import Cut, Hang, Pause, ReceivedRequest, Reply, Reset, ScriptedServer
    from heald.testing.streams import sse_event, wire_reply, wire_stream

__all__ = [
    "Cut",
    "Hang",
    "Pause",
    "ReceivedRequest",
    "Reply",
    "Reset",
    "ScriptedModel",
    "ScriptedServer",
    "sse_event",
    "tool_context",
    "wire_reply",
    "wire_stream",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.providers.scripted": "ScriptedModel",
        "heald.testing.call_context": "tool_context",
        "heald.testing.server": "Cut Hang Pause ReceivedRequest Reply Reset ScriptedServer",
        "heald.testing.streams": "sse_event wire_reply wire_stream",
    },
)
