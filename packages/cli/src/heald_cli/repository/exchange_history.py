"""The exchanges of a conversation that can be undone and redone, from its events."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, FileChanged, SessionRewound


@dataclass(slots=True)
class UndoableExchange:
    """An exchange of the conversation as it is now."""

    id: str
    seq: int
    """The number of its request in the log."""
    words: str
    changes: list[FileChanged] = field(default_factory=list[FileChanged])


def list_exchanges(events: Sequence[Event]) -> list[UndoableExchange]:
    """Return the exchanges of the conversation, without those that were undone."""
    states: list[tuple[int, list[UndoableExchange]]] = []  # the conversation after each change of it, by seq
    current: list[UndoableExchange] = []
    by_id: dict[str | None, UndoableExchange] = {}
    for event in events:
        match event.data:
            case ExchangeRequest(message=message):
                exchange = UndoableExchange(event.exchange or "", event.seq, " ".join(message.words.split()))
                by_id[event.exchange] = exchange
                current = [*current, exchange]
            case FileChanged() if event.exchange in by_id:
                by_id[event.exchange].changes.append(event.data)
                continue
            case SessionRewound(seq=seq):
                current = next((state for at, state in reversed(states) if at <= seq), list[UndoableExchange]())
            case _:
                continue
        states.append((event.seq, current))
    return current


def find_redo(events: Sequence[Event]) -> int | None:
    """Return the event to go forward to, if the last thing that happened to the conversation is an undo."""
    undone: list[int] = []
    for event in events:
        if isinstance(event.data, ExchangeRequest):
            undone.clear()
        elif isinstance(event.data, SessionRewound):
            if undone and event.data.seq == undone[-1] - 1:
                undone.pop()
            else:
                undone.append(event.seq)
    return undone[-1] - 1 if undone else None
