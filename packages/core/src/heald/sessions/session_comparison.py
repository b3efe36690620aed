"""Compares two sessions: the events that both logs have, and what each of them did after those."""

from collections.abc import AsyncIterator

import msgspec

from heald.core.envelope import Event
from heald.core.events import (
    AssistantMessage,
    ExchangeResponse,
    FileChanged,
    MessageStart,
    SessionForked,
    ToolExecuting,
)
from heald.core.json import encode
from heald.core.messages import ToolResult
from heald.core.turn import Usage
from heald.sessions.store import Store, iterate_events


class SessionFuture(msgspec.Struct, kw_only=True):
    """What a session did after the events that it shares with another one."""

    id: str
    title: str = ""
    events: int = 0
    """Events after the shared ones."""
    models: list[str] = []
    """The models that wrote the messages."""
    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    files: list[str] = []
    """The paths of the files that changed."""
    status: str = "open"
    """Of the last exchange that ended after the shared events."""
    answer: str = ""
    """The text of the last message of the model."""
    usage: Usage = Usage()
    """Of the exchanges that ended, their shared beginning included."""
    cost_usd: float | None = 0.0
    """None if it is unknown."""
    fork: SessionForked | None = None
    """How it was forked, if it was forked with a change."""

    def feed(self, event: Event) -> None:
        self.events += 1
        match event.data:
            case SessionForked() as fork:
                self.fork = self.fork or fork
            case MessageStart(model=model):
                if model not in self.models:
                    self.models.append(model)
            case AssistantMessage(message=message):
                self.turns += 1
                self.answer = message.text or self.answer
            case ToolExecuting():
                self.calls += 1
            case ToolResult(is_error=is_error):
                self.failed_calls += bool(is_error)
            case FileChanged(path=path):
                if path not in self.files:
                    self.files.append(path)
            case ExchangeResponse() as response:
                self.status = response.status
                self.usage += response.usage
                unknown = self.cost_usd is None or response.cost_usd is None
                self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (response.cost_usd or 0.0)
            case _:
                pass


class SessionComparison(msgspec.Struct, frozen=True):
    """Two sessions side by side."""

    shared: int
    """The number of events that both logs begin with."""
    left: SessionFuture
    right: SessionFuture


async def compare_sessions(store: Store, left: str, right: str) -> SessionComparison:
    """Compare the logs of two sessions. Raises NoSuchSession if there is none of a name."""
    infos = [await store.info(name) for name in (left, right)]
    shared = await count_shared(store, left, right)
    futures = [SessionFuture(id=info.id, title=info.title) for info in infos]
    for future in futures:
        async for event in iterate_events(store, future.id, after=shared):
            future.feed(event)
    return SessionComparison(shared, *futures)


async def count_shared(store: Store, left: str, right: str) -> int:
    """Return the number of events that two logs begin with: equal byte by byte, except for the name of the session."""
    shared = 0
    others: AsyncIterator[Event] = iterate_events(store, right)
    async for event in iterate_events(store, left):
        other = await anext(others, None)
        if other is None or _body(event) != _body(other):
            break
        shared = event.seq
    return shared


def _body(event: Event) -> bytes:
    """Encode an event without its session, and without its id, which begins with the session."""
    return encode(msgspec.structs.replace(event, session="", id=""))
