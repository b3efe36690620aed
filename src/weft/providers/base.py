"""The contract between a model and whoever runs turns on it."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from weft.core.content import Text
from weft.core.messages import Message
from weft.core.payload import Payload
from weft.core.settings import Settings
from weft.core.stop import StopReason
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.core.usage import Cost, Usage

OnEvent = Callable[[Payload], object]
"""Called with each payload as it arrives, in the task that runs the turn. It must not block."""


class ProviderTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One finished answer of a model."""

    message: Message
    stop_reason: StopReason
    usage: Usage
    attempts: int = 1
    discarded: Usage = Usage()
    """What failed attempts of this turn used, as far as the provider said."""
    provider_stop_reason: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    billed_usd: float | None = None
    """The cost, where the provider itself says it."""

    @property
    def text(self) -> str:
        """What the model said, a refusal left out."""
        return "".join(b.text for b in self.message.content if isinstance(b, Text) and not b.refusal)

    @property
    def assistant_text(self) -> str:
        return self.text

    @property
    def refusal(self) -> str | None:
        said = "".join(b.text for b in self.message.content if isinstance(b, Text) and b.refusal)
        return said or None

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls in the model's order. One with `invalid` set must not run."""
        return self.message.tool_calls

    @property
    def assistant_turn(self) -> Any:
        """The answer in the provider's own words, as it must be echoed."""
        return self.message.native.content if self.message.native is not None else None


class ProviderSession(Protocol):
    """A conversation with one model. It keeps the history; turns run one at a time."""

    messages: list[Message]
    tools: list[ToolDefinition]
    settings: Settings

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        """Ask for one turn and stream it. Raises a `ProviderError` when every attempt failed."""
        ...

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        """Continue after a turn: its message and the results of its calls join the history."""
        ...

    def append(self, message: Message) -> None:
        """Add a message to the history."""
        ...

    def cost(self, usage: Usage) -> Cost:
        """What a usage of this model costs."""
        ...

    @property
    def prices_ready(self) -> bool:
        """`cost` answers at once. If not, `load_prices` first: it reads the list without holding the loop up."""
        ...

    async def load_prices(self) -> None: ...

    async def close(self) -> None: ...
