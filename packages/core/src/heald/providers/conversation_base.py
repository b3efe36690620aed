"""The messages, tools and settings of a conversation, for sessions that hold them."""

from typing import Self

from heald.core.messages import Message, ToolDefinition, ToolResult, tool_results
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import ProviderTurn


class ConversationBase:
    """A `ProviderSession` except for the turn: it keeps the history and costs nothing."""

    reports_cost: bool = False
    """Every turn has its cost, although `cost` does not know a price beforehand."""

    def __init__(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> None:
        self.messages = list(messages)
        self.tools = tools
        self.settings = settings
        self._call_ids: set[str] = set()
        self._read_count = 0
        self._last_read: Message | None = None

    @property
    def used_ids(self) -> set[str]:
        """The ids of all calls in the history, and of those that were removed from it. Messages are read once."""
        messages, first = self.messages, self._read_count
        if first > len(messages) or (first and messages[first - 1] is not self._last_read):
            first = 0  # the history was shortened
        for message in messages[first:]:
            for call in message.tool_calls:
                self._call_ids.add(call.id)
        self._read_count, self._last_read = len(messages), messages[-1] if messages else None
        return self._call_ids

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        self.messages.append(turn.message)
        if results:
            self.messages.append(tool_results(results))

    def append(self, message: Message) -> None:
        self.messages.append(message)

    def cost(self, usage: Usage) -> Cost:
        return Cost(usd=0.0, source="catalogue")

    @property
    def prices_ready(self) -> bool:
        return True

    async def load_prices(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
