"""What a running tool is given: its call, the workspace, and a way to be heard while it works."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeVar

from weft.core.events import ToolOutputDelta
from weft.core.payload import Payload
from weft.core.tools import ToolCall
from weft.tools.keep import Keep
from weft.tools.workspace.base import Workspace

T = TypeVar("T")

Emit = Callable[[Payload], object]


class Ask(Protocol):
    """Puts a question to whoever is there and waits for the answer."""

    def __call__(self, call: ToolCall, text: str, suggestions: Sequence[str]) -> Awaitable[str]: ...


class ToolContext:
    """Name a parameter of a tool with this type and it is given one; the model does not see it."""

    __slots__ = ("_ask", "_emit", "_keep", "_loop", "call", "workspace")

    def __init__(
        self,
        call: ToolCall,
        workspace: Workspace,
        *,
        emit: Emit,
        keep: Keep,
        ask: Ask,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.call = call
        self.workspace = workspace
        self._emit = emit
        self._keep = keep
        self._ask = ask
        self._loop = loop

    def emit(self, payload: Payload) -> None:
        """Publish an event of this call. It may be called from the thread of a plain function."""
        if self._loop is None or _running_loop() is self._loop:
            self._emit(payload)
        else:
            self._loop.call_soon_threadsafe(self._emit, payload)

    def output(self, text: str, channel: Literal["stdout", "stderr", "progress"] = "stdout") -> None:
        """Show what the tool has to say while it works."""
        if text:
            self.emit(ToolOutputDelta(self.call.id, text, channel))

    def keep(self, kind: type[T]) -> T:
        """The one object of that kind in this session: made on first use, its `aclose` awaited at the session's end."""
        return self._keep.get(kind)

    async def ask(self, text: str, suggestions: Sequence[str] = ()) -> str:
        """Ask whoever is there and wait for the answer."""
        return await self._ask(self.call, text, suggestions)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
