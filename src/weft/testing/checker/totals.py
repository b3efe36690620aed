"""I50 and I51: what an exchange says it took is what its messages took."""

from weft.core.envelope import Event
from weft.core.events import ExchangeRequest, ExchangeResponse, MessageDelta, MessageDiscarded, MessageStop
from weft.core.usage import Usage
from weft.testing.checker.group import Group, Report


class Totals(Group):
    sees = (ExchangeRequest, MessageDelta, MessageStop, MessageDiscarded, ExchangeResponse)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._usage: dict[str, Usage] = {}  # by message
        self._turns = 0

    def see(self, event: Event) -> None:
        match event.data:
            case MessageDelta(message=message, usage=usage):
                self._i50_counted(event, usage)
                if message in self._usage:
                    self.broke("I50", event, f"the usage of {message!r} is given a second time")
                self._usage[message] = usage
            case MessageDiscarded(message=message, usage=usage):
                self._i50_counted(event, usage)
                if usage != Usage() or message not in self._usage:
                    self._usage[message] = usage
            case MessageStop():
                self._turns += 1
            case ExchangeResponse():
                self._i50_sum(event, event.data)
                self._i51_turns(event, event.data)
            case _:
                self._usage, self._turns = {}, 0

    def _i50_counted(self, event: Event, usage: Usage) -> None:
        buckets = (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)
        if any(bucket is not None and bucket < 0 for bucket in buckets):
            self.broke("I50", event, f"{event.type} counts fewer than no tokens")

    def _i50_sum(self, event: Event, response: ExchangeResponse) -> None:
        self._i50_counted(event, response.usage)
        self._i50_counted(event, response.delegated or Usage())
        total = sum(self._usage.values(), Usage())
        if response.usage != total:
            self.broke("I50", event, f"the usage is {response.usage} and its messages add up to {total}")

    def _i51_turns(self, event: Event, response: ExchangeResponse) -> None:
        if response.turns != self._turns:
            self.broke("I51", event, f"the exchange says {response.turns} turns and has {self._turns}")
        if (response.status == "limit") != (response.limit is not None):
            self.broke("I51", event, f"the exchange ends {response.status} with the limit {response.limit!r}")
