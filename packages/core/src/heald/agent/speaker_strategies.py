"""The strategies of the agent that speaks in a conversation, as one strategy."""

from collections.abc import Sequence

from heald.agent.strategy import NextRequest, Strategy, StrategyList, StreamTurn, Verdict
from heald.core.messages import ToolCall
from heald.providers.base import OnEvent, ProviderTurn


class SpeakerStrategies(Strategy):
    """Passes every hook on to the strategies of one agent. Those of an agent keep their state while others speak."""

    current: StrategyList
    """The strategies of the agent that speaks. They are set when the conversation is made."""

    async def before_turn(self, request: NextRequest) -> None:
        await self.current.change_request(request)

    async def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> ProviderTurn:
        return await self.current.stream_turn(stream, on_event)

    def read_text(self, text: str) -> Sequence[ToolCall]:
        return self.current.read_text(text)

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        return self.current.after_turn(turn)

    async def after_exchange(self, *, completed: bool) -> None:
        await self.current.after_exchange(completed=completed)
