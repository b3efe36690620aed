"""Calls that a model writes as text: keeps the rules by which they count up to date."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, cast

from heald.agent.conversation import Conversation
from heald.agent.strategy import NextRequest, QuickStrategy, StreamTurn
from heald.agent.text_editing import TextEditing
from heald.providers.base import OnEvent, ProviderTurn
from heald.tools.text_call_trust import is_text_call

if TYPE_CHECKING:
    from heald.providers.session import WireSession


class WrittenCalls(QuickStrategy):
    """Lets no text count as a call on an endpoint that has reported one, nor one whose arguments do not fit."""

    def __init__(self, text_editing: TextEditing) -> None:
        self._text_editing = text_editing
        self._decided: WireSession | None = None  # whose endpoint has reported a call, so no text is one

    def attach(self, conversation: Conversation) -> None:
        super().attach(conversation)
        for message in conversation.messages:
            conversation.runtime.text_calls.read_message(message)

    def prepare_turn(self, request: NextRequest) -> None:
        runtime = self.conversation.runtime
        runtime.needs_text_calls = self._needs_text
        session = cast("WireSession", self.conversation.session)
        if session is self._decided:
            return
        self._decided = None
        if not getattr(session, "may_write_calls", False):
            return
        session.fits = runtime.fits
        session.parses_calls = session.model.provider in runtime.text_calls.parsing_providers
        if session.parses_calls:
            self._decided = session

    def _needs_text(self) -> bool:
        return self._text_editing.needs_text

    def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> Awaitable[ProviderTurn]:
        return stream(on_event) if self._decided is not None else self._read_turn(stream, on_event)

    async def _read_turn(self, stream: StreamTurn, on_event: OnEvent) -> ProviderTurn:
        turn = await stream(on_event)
        calls = turn.tool_calls
        if not calls:
            return turn
        trust = self.conversation.runtime.text_calls
        trust.read_message(turn.message)
        if not trust.approved and any(map(is_text_call, calls)):
            await self._text_editing.find_size()
        return turn
