"""The requests of tools to the agent's model."""

from collections.abc import Awaitable, Callable

import msgspec

from heald.core.messages import Message, ToolCall, ToolDefinition
from heald.core.turn import StopReason


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Messages for one turn of the model. The calls that it makes are for the asking tool to run."""

    messages: list[Message]
    max_output_tokens: int
    system: str = ""
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: str = "auto"


class ModelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the model, and its cost in US dollars if it is known."""

    text: str
    model: str
    stop_reason: StopReason
    cost_usd: float | None
    calls: tuple[ToolCall, ...] = ()


AskModel = Callable[[ModelRequest], Awaitable[ModelAnswer]]
