"""A conversation with the converter, turn by turn. A turn is a function of the conversation; what it saw is kept."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from weft.core.errors import InvalidRequest
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition
from weft.core.usage import Usage
from weft.providers.base import OnEvent, ProviderTurn
from weft.providers.kept import KeptConversation
from weft.providers.local.asked import Asked, asked_of
from weft.providers.local.building import Builder
from weft.providers.local.changing import change
from weft.providers.local.commands import obey
from weft.providers.local.looking import Look, look_at
from weft.providers.local.model import PROVIDER, LocalVision
from weft.providers.local.telling import CANNOT
from weft.providers.scripted import Call, Part, ScriptDecoder
from weft.vision.errors import VisionError

_LARGE = 16_000
"""Characters of a delta where nobody reads along: pictures as text."""


class LocalSession(KeptConversation):
    """A `ProviderSession`."""

    def __init__(
        self, model: LocalVision, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        super().__init__(messages, tools, settings)
        self._model = model
        self._look: Look | None = None

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        writer = _Writer(provider=PROVIDER, model=self._model.name, taken=self.taken)
        for payload in writer.open():
            on_event(payload)
        try:
            async with aclosing(self._parts()) as parts:
                async for part in parts:
                    await self._say(writer, part, on_event)
        except VisionError as fault:
            self._let_go()
            error = InvalidRequest(str(fault))
            for payload in writer.abort(error):
                on_event(payload)
            raise error from None
        except asyncio.CancelledError:
            self._let_go()
            raise
        for payload in writer.close():
            on_event(payload)
        assert writer.message is not None
        assert writer.stop_reason is not None
        if not writer.message.tool_calls:
            self._let_go()
        return ProviderTurn(message=writer.message, stop_reason=writer.stop_reason, usage=writer.usage)

    async def _say(self, writer: "_Writer", part: Part, on_event: OnEvent) -> None:
        hidden = isinstance(part, Call) and str(part.input.get("path", "")).startswith("assets/")
        for step in writer.steps(part, _LARGE if hidden else self._model.piece):
            for payload in step:
                on_event(payload)
            await asyncio.sleep(self._model.pause)

    def _parts(self) -> AsyncGenerator[Part]:
        """What comes next, by what was asked and what has been done about it."""
        asked = asked_of(self.messages, self.tools, self.settings)
        if asked.image is not None:
            return Builder(asked, self._model.way, self._see).parts()
        return _spoken(asked)

    def _see(self, data: bytes) -> Look:
        if self._look is None or self._look.data != data:
            self._let_go()
            self._look = look_at(data)
        return self._look

    def _let_go(self) -> None:
        look, self._look = self._look, None
        if look is not None:
            look.leave()

    async def close(self) -> None:
        self._let_go()


async def _spoken(asked: Asked) -> AsyncGenerator[Part]:
    """The answer to words alone: a command, a change, or that neither was understood."""
    parts = obey(asked) or await asyncio.to_thread(change, asked) or [CANNOT]
    for part in parts:
        yield part


class _Writer(ScriptDecoder):
    """Blocks and calls as every wire makes them. Nothing is counted: there are no tokens here."""

    wire = PROVIDER

    def _end(self) -> None:
        self.usage = Usage(input=0, output=0)
        super()._end()
