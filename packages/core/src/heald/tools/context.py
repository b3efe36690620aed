"""The `ToolContext` of a running call."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from heald.core.events import ToolOutputDelta
from heald.core.messages import File, Image, ResultPart, Text, ToolCall
from heald.core.payload import Payload
from heald.core.type_parameters import DepsT
from heald.tools.result_text import plain_text
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import join_output, to_content
from heald.tools.workspace.base import Workspace

if TYPE_CHECKING:
    from heald.tools.inner_calls import InnerCalls
    from heald.tools.runtime import ToolRuntime
    from heald.tools.secret_mask import SecretMask

T = TypeVar("T")
_PIECE = 64 * 1024
"""Maximum characters of output in one event."""
_MAX_PIECES = 8_000_000
"""Maximum characters of the pieces of a result."""
Channel = Literal["stdout", "stderr", "progress"]
Emit = Callable[[Payload], object]
EmitResult = Callable[..., object]
"""Publishes the end of a call: its outcome, its result, and the message of both if it is not too large."""
Ask = Callable[[ToolCall, str, Sequence[str]], Awaitable[str]]
"""Asks the user a question, with suggested answers, and waits for the answer."""


class ToolContext(Generic[DepsT]):
    """The context of a running call. A tool gets it through a parameter of this type, hidden from the model.

    `ToolContext[Shop]` is the context of a call in an exchange with `deps` of the type `Shop`.
    """

    __slots__ = (
        "_ask",
        "_closed",
        "_emit",
        "_held",
        "_keep",
        "_loop",
        "_pieces",
        "_room",
        "_stopping",
        "_workspace",
        "cached",
        "call",
        "deps",
        "host",
        "inner_calls",
        "spent",
    )

    def __init__(
        self,
        call: ToolCall,
        workspace: Workspace,
        *,
        emit: Emit,
        keep: SessionObjects,
        ask: Ask,
        loop: asyncio.AbstractEventLoop | None = None,
        host: "ToolRuntime | None" = None,
        deps: DepsT = cast("Any", None),  # noqa: B008
    ) -> None:
        self.call = call
        """The call: its id, the name of the tool, and the arguments as the model wrote them."""
        self.deps = deps
        """The object that the program gave to `run`, `send`, `stream`, `open_session` or `App` for its tools."""
        self._workspace = workspace
        self._emit = emit
        self._keep = keep
        self._ask = ask
        self._loop = loop
        self._stopping = self._closed = False
        self._held: dict[Channel, str] = {}
        self._pieces: list[ResultPart] = []
        self._room = _MAX_PIECES
        self.cached = False
        """Whether the result of an earlier equal call was used."""
        self.spent: float | None = 0.0
        """The cost of the call so far in US dollars; None if a cost is unknown."""
        self.host = host
        """The runtime of the call. Subagents share its locks and approvals."""
        self.inner_calls: InnerCalls | None = None
        """The calls that it makes of other tools, if it does."""

    @property
    def workspace(self) -> Workspace:
        """The workspace. Raises ToolFault once the call has ended, so that an abandoned thread cannot use it."""
        if self._closed:
            raise ToolFault("The call is over; its files are closed.")
        return self._workspace

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled. A long-running plain function should check it and return."""
        return self._stopping or self._closed

    def stop(self) -> None:
        """Mark the call as cancelled. Calls that it has made are cancelled at once: none of them starts any more."""
        self._stopping = True
        if self.inner_calls is not None:
            self.inner_calls.stop()

    def close(self) -> None:
        """Mark the call as ended. Further events of the function are ignored."""
        if self._held:
            self.flush_output()
        if self.inner_calls is not None:
            self.inner_calls.close()  # their results precede the one of this call
        self._closed = True

    def emit(self, payload: Payload) -> None:
        """Publish an event of this call. Thread-safe."""
        if self._loop is None or _running_loop() is self._loop:
            self._publish(payload)
        else:
            self._loop.call_soon_threadsafe(self._publish, payload)

    def _publish(self, payload: Payload) -> None:
        if not self._closed:
            self._emit(payload)

    def output(self, text: str, channel: Channel = "stdout") -> None:
        """Publish output of the tool while it runs. What may be the beginning of a secret waits for the rest of it."""
        mask = self._mask
        text = mask.hide(self._held.pop(channel, "") + plain_text(text))
        if held := mask.held_back(text):
            self._held[channel] = text[-held:]
            text = text[:-held]
        self._publish_output(text, channel)

    @property
    def _mask(self) -> "SecretMask":
        if self.host is not None:
            return self.host.secret_mask
        from heald.tools.workspace_secrets import environment_mask  # it needs the file tools, which need this module

        return environment_mask()

    def flush_output(self) -> None:
        """Publish output that was held back."""
        held, self._held = self._held, {}
        for channel, text in held.items():
            self._publish_output(text, channel)

    def _publish_output(self, text: str, channel: Channel) -> None:
        for start in range(0, len(text), _PIECE):
            self.emit(ToolOutputDelta(self.call.id, text[start : start + _PIECE], channel))

    def partial(self, piece: str | Text | Image | File) -> None:
        """Give a piece of the result: it is shown at once, and the model gets all pieces before the return value.

        If the call is cancelled or runs out of time, the model gets the pieces that there are. Thread-safe.
        """
        content = to_content(piece)
        for part in [Text(content)] if isinstance(content, str) else content:
            self._add_piece(part)

    def _add_piece(self, part: ResultPart) -> None:
        if not isinstance(part, Text):
            size = len(part.data or "")
        else:
            part = Text(plain_text(part.text))
            size = len(part.text)
            self.output(part.text)
        if self._closed or not size:
            return
        if size > self._room >= 0:
            part = Text(f"\n[More than {_MAX_PIECES:,} characters of the result are not kept.]\n")
            size = self._room + 1
        if self._room >= 0:
            self._room -= size
            self._pieces.append(part)

    def join(self, value: Any) -> Any:
        """Return the pieces so far together with a return value, and forget the pieces."""
        if not self._pieces:
            return value
        pieces, self._pieces = self._pieces, []
        return join_output(pieces, value)

    @property
    def pieces(self) -> Sequence[ResultPart]:
        """The pieces of the result so far."""
        return self._pieces

    @property
    def has_pieces(self) -> bool:
        return bool(self._pieces)

    def spend(self, usd: float | None) -> None:
        """Add a cost in US dollars to the exchange's cost and budget. None means that the cost is unknown."""
        self.spent = None if usd is None or self.spent is None else self.spent + usd
        if self.host is not None and self.host.account is not None and not self._closed:
            self.host.account.spend(self.call.id, self.spent)

    def keep(self, kind: type[T]) -> T:
        """Return the session's object of this type. It is created on first use and closed with the session."""
        return self._keep.get(kind)

    async def ask(self, text: str, suggestions: Sequence[str] = ()) -> str:
        """Ask the user a question and wait for the answer."""
        return await self._ask(self.call, text, suggestions)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
