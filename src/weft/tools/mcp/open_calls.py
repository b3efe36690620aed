"""The calls that an MCP server works on, and their time limits.

A request of a server does not name the call that it belongs to. It is served for the session whose calls are open, and
refused if calls of several sessions are.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from weft.tools.context import ToolContext

T = TypeVar("T")
MAX_REQUESTS = 50
"""Maximum requests of a server during one call."""


class OpenCall:
    """One call. Its time limit rests while the server waits for a person or for the agent's model."""

    def __init__(self, context: ToolContext, seconds: float) -> None:
        self.context = context
        self.seconds = seconds
        self._requests = 0
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._resting = 0
        self._timeout: asyncio.Timeout | None = None

    @property
    def owner(self) -> int:
        """Identifies the session: a subagent shares the approvals of its caller."""
        host = self.context.host
        return id(host.approvals) if host is not None else id(self.context)

    def count_request(self) -> bool:
        """Count a request of the server. Returns False if there are too many."""
        self._requests += 1
        return self._requests <= MAX_REQUESTS

    async def answer(self, answering: Coroutine[Any, Any, T]) -> T | None:
        """Run the answer to a request of the server. Returns None if the call ends first."""
        task = asyncio.create_task(answering)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._closed and task.cancelled():
                return None
            raise
        finally:
            self._running.discard(task)

    def close(self) -> None:
        """End the answers that are not given yet, such as questions to the user."""
        self._closed = True
        for task in self._running:
            task.cancel()

    @asynccontextmanager
    async def limited(self) -> AsyncGenerator[None]:
        """Raise TimeoutError after the call's seconds."""
        async with asyncio.timeout(self.seconds) as self._timeout:
            yield

    @contextmanager
    def resting(self) -> Generator[None]:
        """Stop the time limit."""
        self._resting += 1
        self._reschedule(None)
        try:
            yield
        finally:
            self._resting -= 1
            if not self._resting:
                self._reschedule(asyncio.get_running_loop().time() + self.seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._timeout is not None and not self._timeout.expired():
            try:
                self._timeout.reschedule(when)
            except RuntimeError:  # the call has ended
                return


class OpenCalls:
    """The open calls of one server, the latest last."""

    def __init__(self) -> None:
        self._open: list[OpenCall] = []

    @contextmanager
    def opened(self, context: ToolContext, seconds: float) -> Generator[OpenCall]:
        call = OpenCall(context, seconds)
        self._open.append(call)
        try:
            yield call
        finally:
            self._open.remove(call)
            call.close()

    def find(self) -> OpenCall | None:
        """Return the call that a request of the server belongs to. None if there is no call, or if it is not clear."""
        owners = {call.owner for call in self._open}
        return self._open[-1] if len(owners) == 1 else None
