"""The base of sessions with models of our own: they keep the conversation themselves, and cost nothing."""

from weft.core.messages import Message, tool_results
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition, ToolResult
from weft.core.usage import Cost, Usage
from weft.providers.base import ProviderTurn


class KeptConversation:
    """All of a `ProviderSession` but for the turn."""

    def __init__(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> None:
        self.messages = list(messages)
        self.tools = tools
        self.settings = settings

    @property
    def taken(self) -> set[str]:
        """The ids of calls that are in use."""
        return {call.id for message in self.messages for call in message.tool_calls}

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
