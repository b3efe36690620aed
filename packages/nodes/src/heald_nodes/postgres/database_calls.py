"""The same call on several databases, without waiting for one that does not answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

from heald.core.errors import HealdError

ANSWER_SECONDS = 1.0
"""How long all databases are waited for. A later answer belongs to the next round."""

T = TypeVar("T")


class DatabaseCalls(Generic[T]):
    """Rounds of one kind of call. Each database has one call at a time; one that is late takes part in a later round,
    and its answer is not lost."""

    def __init__(self) -> None:
        self._running: dict[int, asyncio.Task[T]] = {}

    async def run(self, calls: Mapping[int, Callable[[], Awaitable[T]]]) -> dict[int, T]:
        """Return the answers that there are, by database. Raises an error if no database has answered otherwise."""
        for place, call in calls.items():
            if place not in self._running:
                self._running[place] = asyncio.ensure_future(_call(call))
        done, _ = await asyncio.wait(self._running.values(), timeout=ANSWER_SECONDS)
        if not done:
            await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)
        answers: dict[int, T] = {}
        errors: list[HealdError] = []
        for place, task in list(self._running.items()):
            if not task.done():
                continue
            del self._running[place]
            try:
                answers[place] = task.result()
            except HealdError as error:
                errors.append(error)
        if errors and not answers:
            raise errors[0]
        return answers

    async def close(self) -> None:
        for task in self._running.values():
            task.cancel()
        if self._running:
            await asyncio.wait(self._running.values())
        self._running.clear()


async def _call(call: Callable[[], Awaitable[T]]) -> T:
    return await call()
