"""The messages of a conversation that an agent with a memory of its own has seen."""

from heald.core.messages import Message, ToolDefinition, ToolResult, tool_results
from heald.core.turn import Settings
from heald.providers.base import ProviderTurn
from heald.providers.conversation_base import ConversationBase


class SeenMessages(ConversationBase):
    """The base of sessions whose agent remembers the conversation: it is sent only what it has not seen."""

    def __init__(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> None:
        super().__init__(messages, tools, settings)
        self._seen: dict[int, Message] = {}

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        added = [turn.message, tool_results(results)] if results else [turn.message]
        self.messages.extend(added)
        self._see(added)
        for result in results:
            self.deliver_result(result)

    def deliver_result(self, result: ToolResult) -> None:
        """Pass on the result of a call that the agent waits for."""
        raise NotImplementedError

    @property
    def _is_rewound(self) -> bool:
        """The agent has seen messages that are not in the conversation any more."""
        return bool(self._seen.keys() - {id(message) for message in self.messages})

    def _see(self, messages: list[Message]) -> None:
        self._seen.update((id(message), message) for message in messages)

    def _unseen(self) -> list[Message]:
        return [message for message in self.messages if id(message) not in self._seen]
