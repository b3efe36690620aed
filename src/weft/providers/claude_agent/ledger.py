"""Each call of a query as both sides know it: what Weft decides, what comes of it, on whichever side it runs.

Either side may come first. Whoever needs what is not there yet waits for it; when the query ends, nobody waits longer.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from weft.core.json import JsonObject
from weft.core.tools import ToolCall, ToolResult
from weft.providers.hosting import Lost, Outcome

T = TypeVar("T")

_OVER = "The exchange is over; the call was not run."


class Errand:
    """One call."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.go: asyncio.Future[JsonObject | str] = loop.create_future()
        """The arguments it may run with over there, or why it may not."""
        self.outcome: asyncio.Future[Outcome | None] = loop.create_future()
        """What came of it over there; None if nobody will know."""
        self.result: asyncio.Future[ToolResult | None] = loop.create_future()
        """What came of it here."""
        self.say: Callable[[str], object] | None = None


class Ledger:
    """The calls of one query, by the SDK's ids."""

    def __init__(self) -> None:
        self._errands: dict[str, Errand] = {}
        self._theirs: dict[str, str] = {}  # their id of a call, by ours
        self._over = False

    def errand(self, call: str) -> Errand:
        errand = self._errands.get(call)
        if errand is None:
            errand = self._errands[call] = Errand()
            if self._over:
                _end(errand)
        return errand

    def announce(self, calls: list[ToolCall]) -> None:
        """Calls of a finished message, with the ids that Weft gave them."""
        self._theirs.update((call.id, call.wire_id or call.id) for call in calls)

    async def perform(self, call: str, arguments: JsonObject, say: Callable[[str], object]) -> Outcome:
        errand = self.errand(self._theirs.get(call, call))
        errand.say = say
        _set(errand.go, arguments)
        outcome = await errand.outcome
        if outcome is None:
            raise Lost("Claude Code ended before it said what came of the call; it may have run.")
        return outcome

    def settle(self, result: ToolResult) -> None:
        errand = self.errand(self._theirs.get(result.id, result.id))
        errand.say = None
        _set(errand.go, result.text or "The call was refused.")
        _set(errand.result, result)

    def came_back(self, call: str, outcome: Outcome) -> None:
        _set(self.errand(call).outcome, outcome)

    def overheard(self, call: str, text: str) -> None:
        """What a subagent says is said by the call that it works for."""
        say = self.errand(call).say
        if say is not None:
            say(text)

    def end(self) -> None:
        """The query is over. Errands that come late are over at once."""
        self._over = True
        for errand in self._errands.values():
            _end(errand)


def _end(errand: Errand) -> None:
    _set(errand.go, _OVER)
    _set(errand.outcome, None)
    _set(errand.result, None)


def _set(future: "asyncio.Future[T]", value: T) -> None:
    if not future.done():
        future.set_result(value)
