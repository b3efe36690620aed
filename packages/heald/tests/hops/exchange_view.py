"""What a client has of an exchange, in words that all protocols share, and the same folded from the log."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from heald.core.envelope import Event
from heald.core.events import AssistantMessage, ExchangeResponse
from heald.core.messages import ToolCall, ToolResult


@dataclass
class CallView:
    """A call of the model. A protocol that does not have a field leaves it None."""

    word: str
    ok: bool | None = None
    output: str | None = None


@dataclass
class ExchangeView:
    """One exchange. Attempts that were discarded are not in it."""

    texts: list[str] = field(default_factory=list[str])
    calls: list[CallView] | None = field(default_factory=list[CallView])
    """None for a protocol that does not show calls."""
    status: str | None = None
    """How it ended; None while it runs, and for a protocol that does not say so."""


def fold_log(events: Iterable[Event]) -> ExchangeView:
    """Fold the events of one exchange."""
    view = ExchangeView()
    calls: dict[str, CallView] = {}
    for event in events:
        match event.data:
            case AssistantMessage(message=message) if message.text:
                view.texts.append(message.text)
            case ToolCall(id=name, input=arguments):
                calls[name] = CallView(str(arguments["word"]))
            case ToolResult(id=name, status=status) as result:
                calls[name].ok, calls[name].output = status == "ok", result.text
            case ExchangeResponse(status=status):
                view.status = status
            case _:
                pass
    view.calls = list(calls.values())
    return view


def differences(theirs: ExchangeView, log: ExchangeView) -> list[str]:
    """Compare what a client has with the log, in the fields that its protocol has."""
    faults: list[str] = []
    if theirs.texts != log.texts:
        faults.append(f"texts {theirs.texts} instead of {log.texts}")
    if theirs.status not in (None, log.status):
        faults.append(f"status {theirs.status} instead of {log.status}")
    if theirs.calls is None or log.calls is None:
        return faults
    if [call.word for call in theirs.calls] != [call.word for call in log.calls]:
        return [*faults, f"calls {theirs.calls} instead of {log.calls}"]
    for call, logged in zip(theirs.calls, log.calls, strict=True):
        if call.ok not in (None, logged.ok):
            faults.append(f"outcome of {call} instead of {logged}")
        if call.output is not None and logged.ok and call.output != logged.output:
            faults.append(f"output of {call} instead of {logged}")
    return faults
