"""The contract with a session whose model runs in a loop of its own, with tools of its own."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import msgspec

from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.core.messages import ResultPart, ToolResult

Judge = Callable[[str, JsonObject], str | None]
"""Returns why a subagent's call, which is in no message of the log, may not run; None if it may."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of a call that the host ran."""

    content: str | list[ResultPart]
    is_error: bool = False


class OutcomeLost(HealdError):
    """The host's loop ended before it reported the outcome of a call."""


class LimitReached(HealdError):
    """The host's loop reached a limit of its own: `turns` or `usd`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@runtime_checkable
class ToolHost(Protocol):
    """A `ProviderSession` whose model runs in a loop of its own, with tools of its own.

    The session still runs turn by turn. Its loop waits at each call until Heald has decided on it. A call of a tool
    of Heald runs in Heald, and its result is delivered at once: the loop may need it before the next call. A call of a
    host's own tool is run by `perform`; a refused call gets a result without having been performed.
    """

    judge: Judge | None

    @property
    def is_running(self) -> bool:
        """Whether the host's loop works on the current exchange."""
        ...

    async def perform(self, call: str, arguments: JsonObject, on_output: Callable[[str], object]) -> Outcome:
        """Run a call in the host and return its outcome. `on_output` gets its output. Raises `OutcomeLost`."""
        ...

    def deliver_result(self, result: ToolResult) -> None:
        """Pass the result of a call to the host."""
        ...

    async def end_exchange(self, *, cut: bool) -> None:
        """End the exchange. If it was `cut` off, the host's loop has ended on return. Never raises."""
        ...
