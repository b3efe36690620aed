"""What a running tool is given: its call, the workspace, and a way to be heard while it works."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from weft.core.events import ToolOutputDelta
from weft.core.payload import Payload
from weft.core.tools import ToolCall
from weft.tools.keep import Keep
from weft.tools.outcome import ToolFault, plain_text
from weft.tools.workspace.base import Workspace

if TYPE_CHECKING:
    from weft.tools.runtime import ToolRuntime

T = TypeVar("T")

_PIECE = 64 * 1024
"""Characters of output in one event."""

Emit = Callable[[Payload], object]


class Ask(Protocol):
    """Puts a question to whoever is there and waits for the answer."""

    def __call__(self, call: ToolCall, text: str, suggestions: Sequence[str]) -> Awaitable[str]: ...


class ToolContext:
    """Name a parameter of a tool with this type and it is given one; the model does not see it."""

    __slots__ = ("_ask", "_closed", "_emit", "_keep", "_loop", "_stopping", "_workspace", "call", "host", "spent")

    def __init__(
        self,
        call: ToolCall,
        workspace: Workspace,
        *,
        emit: Emit,
        keep: Keep,
        ask: Ask,
        loop: asyncio.AbstractEventLoop | None = None,
        host: "ToolRuntime | None" = None,
    ) -> None:
        self.call = call
        self._workspace = workspace
        self._emit = emit
        self._keep = keep
        self._ask = ask
        self._loop = loop
        self._stopping = self._closed = False
        self.spent: float | None = 0.0
        """What the call cost so far, in dollars; None once something was used whose price is not known."""
        self.host = host
        """The runtime the call runs in; agents that work for this one share its locks and approvals."""

    @property
    def workspace(self) -> Workspace:
        """The files. Once the call is over they are out of reach, for a thread that was left behind as well."""
        if self._closed:
            raise ToolFault("The call is over; its files are closed.")
        return self._workspace

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def cancelled(self) -> bool:
        """Nobody waits for the result any more. A plain function that runs long looks here and returns."""
        return self._stopping or self._closed

    def stop(self) -> None:
        """The call is to end."""
        self._stopping = True

    def close(self) -> None:
        """The call has its result: what its body still says is not heard."""
        self._closed = True

    def emit(self, payload: Payload) -> None:
        """Publish an event of this call. It may be called from the thread of a plain function."""
        if self._loop is None or _running_loop() is self._loop:
            self._publish(payload)
        else:
            self._loop.call_soon_threadsafe(self._publish, payload)

    def _publish(self, payload: Payload) -> None:
        if not self._closed:
            self._emit(payload)

    def output(self, text: str, channel: Literal["stdout", "stderr", "progress"] = "stdout") -> None:
        """Show what the tool has to say while it works."""
        text = plain_text(text)
        for start in range(0, len(text), _PIECE):
            self.emit(ToolOutputDelta(self.call.id, text[start : start + _PIECE], channel))

    def spend(self, usd: float | None) -> None:
        """Something was used that costs money. It counts for the exchange's cost and budget; None if nobody knows how
        much it is."""
        self.spent = None if usd is None or self.spent is None else self.spent + usd

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
