"""Invariants of exchanges (I10 to I14)."""

from typing import get_args

from heald.core import events as ev
from heald.core.envelope import Event
from heald_check.checker.invariants import InvariantCheck, ReportViolation

_STATUSES = frozenset(get_args(ev.ExchangeStatus))


class ExchangeCheck(InvariantCheck):
    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._open: dict[str, None] = {}
        self._closed: set[str] = set()
        self._requests: dict[str, str] = {}
        self._errors = self._error_messages = 0

    def on_event(self, event: Event) -> None:
        exchange = event.exchange
        if exchange is None:
            return
        if exchange in self._closed:
            self.report("I11", event, f"{event.type} follows the exchange_response of {exchange!r}")
            return
        if not isinstance(event.data, ev.ExchangeRequest):
            self._i10_opened(event, exchange)
        match event.data:
            case ev.ExchangeRequest(client_request_id=request):
                self._i10_opens(event, exchange)
                self._i14_once(event, exchange, request)
            case ev.ExchangeResponse():
                self._i12_outcome(event, event.data)
                del self._open[exchange]
                self._closed.add(exchange)
            case ev.ErrorOccurred():
                self._errors += 1
            case ev.ErrorMessage():
                self._error_messages += 1
            case _:
                pass

    def on_end(self, seq: int) -> None:
        for exchange in self._open:
            self.report("I11", seq, f"the exchange {exchange!r} has no exchange_response")

    def _i10_opens(self, event: Event, exchange: str) -> None:
        if exchange in self._open:
            self.report("I10", event, f"the exchange {exchange!r} has an exchange_request that is not its first event")
            return
        self._i13_alone(event, exchange)
        self._open[exchange] = None
        self._errors = self._error_messages = 0

    def _i10_opened(self, event: Event, exchange: str) -> None:
        if exchange not in self._open:
            self.report("I10", event, f"the exchange {exchange!r} begins with {event.type}")
            self._open[exchange] = None

    def _i12_outcome(self, event: Event, response: ev.ExchangeResponse) -> None:
        errors, messages, status = self._errors, self._error_messages, response.status
        if status not in _STATUSES:
            self.report("I12", event, f"the status {status!r} is not one of {', '.join(sorted(_STATUSES))}")
        elif status == "failed" and (errors, messages) != (1, 1):
            self.report("I12", event, f"a failed exchange has {errors} error_occurred and {messages} error_message")
        elif status == "completed" and errors + messages:
            self.report("I12", event, f"a completed exchange has {errors} error_occurred and {messages} error_message")

    def _i13_alone(self, event: Event, exchange: str) -> None:
        if self._open:
            self.report("I13", event, f"{exchange!r} opens while {next(iter(self._open))!r} is open")

    def _i14_once(self, event: Event, exchange: str, request: str | None) -> None:
        if request is not None and self._requests.setdefault(request, exchange) != exchange:
            self.report("I14", event, f"the client_request_id {request!r} had opened {self._requests[request]!r}")
