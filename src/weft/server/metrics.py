"""Metrics of a server for Prometheus: counted from events and requests, written in its text format."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from time import monotonic

from weft import __version__
from weft.core.envelope import Event
from weft.core.events import (
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    ToolCompleted,
    ToolFailed,
)
from weft.core.turn import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
_MAX_SERIES = 500
"""Different labels of one metric; more are counted together, because clients choose some of them."""
_OTHER = "other"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WS"})
_FIRST = frozenset({"text_content_block_start", "thinking_content_block_start", "tool_use_content_block_start"})
_TYPES = (
    *_FIRST,
    *("exchange_request", "exchange_response", "message_start", "message_delta", "message_discarded"),
    *("tool_completed", "tool_failed", "error_occurred"),
)

Labels = tuple[str, ...]


class Counter:
    """A sum for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        key = labels if labels in self._values or len(self._values) < _MAX_SERIES else (_OTHER,) * len(labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def lines(self) -> Iterable[str]:
        for labels, value in sorted(self._values.items()):
            yield f"{self.name}{_labels(self.labels, labels)} {_number(value)}"


class Histogram:
    """Durations in seconds for each combination of labels."""

    kind = "histogram"

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = defaultdict(float)

    def observe(self, seconds: float, *labels: str) -> None:
        key = labels if labels in self._counts or len(self._counts) < _MAX_SERIES else (_OTHER,) * len(labels)
        counts = self._counts.setdefault(key, [0] * (len(_SECONDS) + 1))
        counts[bisect_left(_SECONDS, seconds)] += 1
        self._sums[key] += seconds

    def lines(self) -> Iterable[str]:
        names = (*self.labels, "le")
        for labels, counts in sorted(self._counts.items()):
            total = 0
            for limit, count in zip((*map(_number, _SECONDS), "+Inf"), counts, strict=True):
                total += count
                yield f"{self.name}_bucket{_labels(names, (*labels, limit))} {total}"
            yield f"{self.name}_sum{_labels(self.labels, labels)} {_number(self._sums[labels])}"
            yield f"{self.name}_count{_labels(self.labels, labels)} {total}"


class ServerMetrics:
    """The metrics of one server. It is a reactor of every session, and the guard reports requests to it."""

    def __init__(self) -> None:
        self._requests = Counter("weft_http_requests_total", "Requests by method and status.", "method", "status")
        self._request_seconds = Histogram("weft_http_request_duration_seconds", "Time to answer a request.", "method")
        self._started = Counter("weft_exchanges_started_total", "Exchanges that began here.")
        self._exchanges = Counter("weft_exchanges_total", "Exchanges that ended, by their status.", "status")
        self._exchange_seconds = Histogram("weft_exchange_duration_seconds", "Time of an exchange.", "status")
        self._turns = Counter("weft_turns_total", "Requests to models.", "model", "outcome")
        self._first_seconds = Histogram("weft_first_token_seconds", "Time to the first token of a turn.", "model")
        self._tokens = Counter("weft_tokens_total", "Tokens of models.", "model", "kind")
        self._cost = Counter("weft_cost_usd_total", "Cost of exchanges in dollars, as far as prices are known.")
        self._tools = Counter("weft_tool_calls_total", "Calls of tools.", "tool", "status")
        self._tool_seconds = Histogram("weft_tool_duration_seconds", "Time of a call.", "tool")
        self._errors = Counter("weft_errors_total", "Errors of exchanges and models.", "code")
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
        named = method if method in _METHODS else _OTHER
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
            "# HELP weft_build_info The version of the server.",
            "# TYPE weft_build_info gauge",
            f"weft_build_info{_labels(('version',), (__version__,))} 1",
            "# HELP weft_connections Requests and sockets that are open.",
            "# TYPE weft_connections gauge",
            *(f"weft_connections{_labels(('kind',), (kind,))} {count}" for kind, count in sorted(self._open.items())),
        ]
        shown = {"weft_uptime_seconds": ("Time since the server started.", monotonic() - self._began), **gauges}
        for name, (text, value) in shown.items():
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name} {_number(value)}"]
        for metric in vars(self).values():
            if isinstance(metric, Counter | Histogram):
                lines += [f"# HELP {metric.name} {metric.text}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        return "\n".join(lines) + "\n"


def _labels(names: Iterable[str], values: Iterable[str]) -> str:
    pairs = [f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True)]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
