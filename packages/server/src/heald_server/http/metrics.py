"""Metrics of a server, counted from events and requests."""

from collections.abc import Mapping
from time import monotonic

from heald import __version__
from heald.core.envelope import Event
from heald.core.events import (
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    ToolCompleted,
    ToolFailed,
)
from heald.core.turn import Usage
from heald_server.http.prometheus import OTHER, Counter, Histogram, format_labels, format_number

METRICS_PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WS"})
_FIRST = frozenset({"text_content_block_start", "thinking_content_block_start", "tool_use_content_block_start"})
_TYPES = (
    *_FIRST,
    *("exchange_request", "exchange_response", "message_start", "message_delta", "message_discarded"),
    *("tool_completed", "tool_failed", "error_occurred"),
)


class ServerMetrics:
    """The metrics of one server. It is a reactor of every session, and the guard reports requests to it."""

    def __init__(self) -> None:
        self._requests = Counter("heald_http_requests_total", "Requests by method and status.", "method", "status")
        self._request_seconds = Histogram("heald_http_request_duration_seconds", "Time to answer a request.", "method")
        self._started = Counter("heald_exchanges_started_total", "Exchanges that began here.")
        self._exchanges = Counter("heald_exchanges_total", "Exchanges that ended, by their status.", "status")
        self._exchange_seconds = Histogram("heald_exchange_duration_seconds", "Time of an exchange.", "status")
        self._turns = Counter("heald_turns_total", "Requests to models.", "model", "outcome")
        self._first_seconds = Histogram("heald_first_token_seconds", "Time to the first token of a turn.", "model")
        self._tokens = Counter("heald_tokens_total", "Tokens of models.", "model", "kind")
        self._cost = Counter("heald_cost_usd_total", "Cost of exchanges in dollars, as far as prices are known.")
        self._tools = Counter("heald_tool_calls_total", "Calls of tools.", "tool", "status")
        self._tool_seconds = Histogram("heald_tool_duration_seconds", "Time of a call.", "tool")
        self._errors = Counter("heald_errors_total", "Errors of exchanges and models.", "code")
        self._models: dict[str, tuple[str, float, bool]] = {}  # the model, the start and the first token of a session
        self._open: dict[str, int] = {"http": 0, "websocket": 0}
        self._began = monotonic()
        for kind in _TYPES:
            setattr(self, f"on_{kind}", self._on_event)

    # --- requests ----------------------------------------------------------------------------------------------------

    def begin_request(self, kind: str) -> None:
        self._open[kind] = self._open.get(kind, 0) + 1

    def end_request(self, kind: str, method: str, status: int, seconds: float) -> None:
        self._open[kind] = self._open.get(kind, 1) - 1
        named = method if method in _METHODS else OTHER
        self._requests.add(named, str(status))
        if kind == "http":
            self._request_seconds.observe(seconds, named)

    # --- events ------------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        if event.type in _FIRST:
            self._on_token(event)
            return
        match event.data:
            case ExchangeRequest():
                self._started.add()
            case ExchangeResponse() as response:
                self._on_response(event, response)
            case MessageStart(model=model):
                self._models[event.session] = model, event.time, False
            case MessageDelta(usage=usage):
                self._end_turn(event, usage, "ok")
            case MessageDiscarded(usage=usage, error=error):
                self._end_turn(event, usage, error.code)
            case ToolCompleted(name=name, duration_ms=milliseconds):
                self._tools.add(name, "ok")
                self._tool_seconds.observe(milliseconds / 1000, name)
            case ToolFailed(name=name, status=status, duration_ms=milliseconds):
                self._tools.add(name, status)
                self._tool_seconds.observe(milliseconds / 1000, name)
            case ErrorOccurred(error=error):
                self._errors.add(error.code)
            case _:
                pass

    def _on_token(self, event: Event) -> None:
        model, began, is_first = self._models.get(event.session, ("", 0.0, True))
        if not is_first:
            self._models[event.session] = model, began, True
            self._first_seconds.observe(max(0.0, event.time - began), model)

    def _end_turn(self, event: Event, usage: Usage, outcome: str) -> None:
        model, _, _ = self._models.pop(event.session, ("", 0.0, True))
        self._turns.add(model, outcome)
        for kind in ("input", "cache_read", "cache_write", "output", "reasoning"):
            count: int | None = getattr(usage, kind)
            if count:
                self._tokens.add(model, kind, amount=count)

    def _on_response(self, event: Event, response: ExchangeResponse) -> None:
        self._models.pop(event.session, None)
        self._exchanges.add(response.status)
        self._exchange_seconds.observe(response.duration_ms / 1000, response.status)
        self._cost.add(amount=response.cost_usd or 0.0)

    # --- the text ----------------------------------------------------------------------------------------------------

    def render(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """The metrics in Prometheus' text format. `gauges` are texts and values by name."""
        lines = [
            "# HELP heald_build_info The version of the server.",
            "# TYPE heald_build_info gauge",
            f"heald_build_info{format_labels(('version',), (__version__,))} 1",
            "# HELP heald_connections Requests and sockets that are open.",
            "# TYPE heald_connections gauge",
            *(
                f"heald_connections{format_labels(('kind',), (kind,))} {count}"
                for kind, count in sorted(self._open.items())
            ),
        ]
        uptime = ("Time since the server started.", monotonic() - self._began)
        for name, (text, value) in {"heald_uptime_seconds": uptime, **gauges}.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name} {format_number(value)}"]
        for metric in vars(self).values():
            if isinstance(metric, Counter | Histogram):
                lines += [f"# HELP {metric.name} {metric.text}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        return "\n".join(lines) + "\n"
