"""Requests of tools to the agent's model, apart from its conversation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from weft.core.messages import Message
from weft.core.turn import StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """Messages for one turn of the model. No tools are offered."""

    messages: list[Message]
    max_output_tokens: int
    system: str = ""
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The answer of the model, and its cost in US dollars if it is known."""

    text: str
    model: str
    stop_reason: StopReason
    usd: float | None


AskModel = Callable[[ModelRequest], Awaitable[ModelAnswer]]
