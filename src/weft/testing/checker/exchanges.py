"""I10 to I14: every exchange opens once, closes once, and stands alone."""

from typing import get_args

from weft.core.envelope import Event
from weft.core.events import ErrorMessage, ErrorOccurred, ExchangeRequest, ExchangeResponse, ExchangeStatus
from weft.testing.checker.group import Group, Report

_STATUSES = frozenset(get_args(ExchangeStatus))


class Exchanges(Group):
    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._open: dict[str, None] = {}
        self._closed: set[str] = set()
        self._requests: dict[str, str] = {}
        self._errors = self._error_messages = 0

    def see(self, event: Event) -> None:
        exchange = event.exchange
        if exchange is None:
            return
        if exchange in self._closed:
            self.broke("I11", event, f"{event.type} follows the exchange_response of {exchange!r}")
            return
        if not isinstance(event.data, ExchangeRequest):
            self._i10_opened(event, exchange)
        match event.data:
            case ExchangeRequest(client_request_id=request):
                self._i10_opens(event, exchange)
                self._i14_once(event, exchange, request)
            case ExchangeResponse():
                self._i12_outcome(event, event.data)
                del self._open[exchange]
                self._closed.add(exchange)
            case ErrorOccurred():
                self._errors += 1
            case ErrorMessage():
                self._error_messages += 1
            case _:
                pass

    def end(self, seq: int) -> None:
        for exchange in self._open:
            self._report("I11", seq, f"the exchange {exchange!r} has no exchange_response")

    def _i10_opens(self, event: Event, exchange: str) -> None:
        if exchange in self._open:
            self.broke("I10", event, f"the exchange {exchange!r} has an exchange_request that is not its first event")
            return
        self._i13_alone(event, exchange)
        self._open[exchange] = None
        self._errors = self._error_messages = 0

    def _i10_opened(self, event: Event, exchange: str) -> None:
        if exchange not in self._open:
            self.broke("I10", event, f"the exchange {exchange!r} begins with {event.type}")
            self._open[exchange] = None

    def _i12_outcome(self, event: Event, response: ExchangeResponse) -> None:
        errors, messages, status = self._errors, self._error_messages, response.status
        if status not in _STATUSES:
            self.broke("I12", event, f"the status {status!r} is not one of {', '.join(sorted(_STATUSES))}")
        elif status == "failed" and (errors, messages) != (1, 1):
            self.broke("I12", event, f"a failed exchange has {errors} error_occurred and {messages} error_message")
        elif status == "completed" and errors + messages:
            self.broke("I12", event, f"a completed exchange has {errors} error_occurred and {messages} error_message")

    def _i13_alone(self, event: Event, exchange: str) -> None:
        if self._open:
            self.broke("I13", event, f"{exchange!r} opens while {next(iter(self._open))!r} is open")

    def _i14_once(self, event: Event, exchange: str, request: str | None) -> None:
        if request is not None and self._requests.setdefault(request, exchange) != exchange:
            self.broke("I14", event, f"the client_request_id {request!r} had opened {self._requests[request]!r}")
