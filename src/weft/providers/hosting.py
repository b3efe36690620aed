"""What a session offers whose model runs in a loop of its own, with tools of its own.

Such a session is still asked turn by turn. Between two turns its loop stands still at each call until Weft has decided
on it, so calls go the same way as all others: permission, events, one result.

- A call of a tool that Weft has runs in Weft. `settle` hands each result over as soon as it is there, because the loop
  may want it before it begins the next call of the same message.
- A call of a tool that only the loop has is run by a stand-in: `perform` lets it go ahead there and waits for what came
  of it. A call that was refused is settled without having been performed.
- `leave` says that nobody will ask for another turn.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import msgspec

from weft.core.errors import WeftError
from weft.core.json import JsonObject
from weft.core.tools import ResultPart, ToolResult

Judge = Callable[[str, JsonObject], str | None]
"""Why a call that stands in no message of the log (a subagent's) may not run, or None if it may."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of a call that ran elsewhere."""

    content: str | list[ResultPart]
    is_error: bool = False


class Lost(WeftError):
    """The loop ended before it said what came of a call."""


class LimitReached(WeftError):
    """The loop kept a limit of its own: `turns` or `usd`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@runtime_checkable
class ToolHost(Protocol):
    """A `ProviderSession` may be this as well."""

    judge: Judge | None

    async def perform(self, call: str, arguments: JsonObject, say: Callable[[str], object]) -> Outcome:
        """Let a call run over there and wait for its outcome; what it says meanwhile is said. Raises `Lost`."""
        ...

    def settle(self, result: ToolResult) -> None:
        """A call has its result."""
        ...

    async def leave(self, *, cut: bool) -> None:
        """The exchange is over, or `cut` off: then everything over there has ended when this returns. Never raises."""
        ...
