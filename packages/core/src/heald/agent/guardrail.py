"""A guardrail: a function that checks what an agent sends, writes and does, and returns why it must not be."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, overload

import msgspec

from heald.agent.streamed_text import StreamedText
from heald.core.errors import ConfigurationError, HealdError
from heald.core.messages import Message
from heald.tools.runtime import Invocation
from heald.tools.tool_output import ToolOutput

GuardrailPoint = Literal["request", "output", "thinking", "call", "result"]
"""Where a guardrail checks: before a request, on text or thinking while it streams, before a call, after it."""
Refusal = str | None | Awaitable[str | None]
"""The reason to stop, or None to go on."""
RequestCheck = Callable[[Sequence[Message]], Refusal]
TextCheck = Callable[[StreamedText], Refusal]
CallCheck = Callable[[Invocation], Refusal]
ResultCheck = Callable[[Invocation, ToolOutput], Refusal]

_OBJECTS: dict[GuardrailPoint, str] = {
    "request": "the request",
    "output": "the answer",
    "thinking": "the answer",
    "call": "the call",
    "result": "the result",
}


class GuardrailTripped(HealdError):
    """A guardrail ended the exchange, or refused a call."""

    code = "content_blocked"

    def __init__(
        self, message: str, *, guardrail: str = "", point: GuardrailPoint = "request", reason: str = ""
    ) -> None:
        super().__init__(message)
        self.guardrail = guardrail
        """The name of the guardrail."""
        self.point: GuardrailPoint = point
        self.reason = reason
        self.withdraws_request = point == "request"
        self.stop_reason = "error" if point == "request" else "content_filter"


class Guardrail(msgspec.Struct, frozen=True, eq=False):
    """A check at one point of the loop. `guardrail` makes one of a function."""

    name: str
    point: GuardrailPoint
    check: Callable[..., Refusal]

    def __call__(self, *subjects: Any) -> Refusal:
        """Call the function."""
        return self.check(*subjects)

    def start(self, *subjects: Any) -> "asyncio.Future[str | None] | None":
        """Begin the check. Raises GuardrailTripped; returns what `finish` waits for if the check is not done yet."""
        try:
            refusal = self.check(*subjects)
        except Exception as error:
            raise self._broken(error) from error
        if inspect.isawaitable(refusal):
            return asyncio.ensure_future(refusal)
        self._judge(refusal)
        return None

    async def finish(self, pending: "asyncio.Future[str | None]") -> None:
        """Wait for a check that was begun. Raises GuardrailTripped."""
        try:
            refusal = await pending
        except Exception as error:
            raise self._broken(error) from error
        self._judge(refusal)

    async def run(self, *subjects: Any) -> None:
        """Run the check. Raises GuardrailTripped."""
        pending = self.start(*subjects)
        if pending is not None:
            await self.finish(pending)

    def _judge(self, refusal: object) -> None:
        if refusal is None:
            return
        if not isinstance(refusal, str):
            kind = type(refusal).__name__
            refusal = f"It returned {kind}; a guardrail returns the reason as a text, or None to go on."
        raise self._trip(refusal.strip() or "No reason was given.")

    def _broken(self, error: Exception) -> GuardrailTripped:
        """A check that fails refuses: what it did not check must not pass."""
        logging.getLogger("heald").error("The guardrail %s failed.", self.name, exc_info=error)
        return self._trip(f"The check failed with {type(error).__name__}.")

    def _trip(self, reason: str) -> GuardrailTripped:
        message = f"The guardrail {self.name} stopped {_OBJECTS[self.point]}: {reason}"
        return GuardrailTripped(message, guardrail=self.name, point=self.point, reason=reason)


@overload
def guardrail(point: Literal["request"]) -> Callable[[RequestCheck], Guardrail]: ...
@overload
def guardrail(point: Literal["output", "thinking"]) -> Callable[[TextCheck], Guardrail]: ...
@overload
def guardrail(point: Literal["call"]) -> Callable[[CallCheck], Guardrail]: ...
@overload
def guardrail(point: Literal["result"]) -> Callable[[ResultCheck], Guardrail]: ...
def guardrail(point: GuardrailPoint) -> Callable[[Any], Guardrail]:
    """Make a guardrail of a function, for `Agent(guardrails=[…])`. The function may be async. It returns the reason to
    stop, or None to go on; one that raises stops too.

    - `request`: gets the messages before they are sent. A reason ends the exchange and removes its request.
    - `output`, `thinking`: get a `StreamedText` before each part of it is published. A reason ends the exchange.
    - `call`: gets the call before it runs. A reason is its result.
    - `result`: gets the call and its output. A reason replaces the output.
    """
    if point not in _OBJECTS:
        raise ConfigurationError(f"guardrail: {point!r} is not one of {', '.join(map(repr, _OBJECTS))}.")

    def decorate(check: Callable[..., Refusal]) -> Guardrail:
        return Guardrail(getattr(check, "__name__", type(check).__name__), point, check)

    return decorate
