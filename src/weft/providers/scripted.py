"""A model whose turns are written in code, for tests and demonstrations.

    model = weft.ScriptedModel([
        [weft.ScriptedModel.think("Oslo is cold."), weft.ScriptedModel.call("weather", city="Oslo")],
        "Take a coat.",
    ])

It streams as a real model does, through the same decoder, so blocks, ids, calls and stops obey the same rules.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from weft.core.errors import ConfigurationError, ProviderError
from weft.core.json import JsonObject, encode_text
from weft.core.messages import Message
from weft.core.payload import Payload
from weft.core.settings import Settings
from weft.core.stop import StopReason
from weft.core.tools import ToolDefinition
from weft.core.usage import Usage
from weft.providers.base import OnEvent, ProviderSession, ProviderTurn
from weft.providers.kept import KeptConversation
from weft.wires.decoder import Decoder


class Think(msgspec.Struct, frozen=True):
    text: str


class Call(msgspec.Struct, frozen=True):
    name: str
    input: JsonObject
    id: str = ""
    raw: str | None = None
    """Argument text to stream instead, for arguments that are no JSON."""


class Stop(msgspec.Struct, frozen=True):
    """How the turn ends, where not as usual."""

    reason: StopReason
    usage: Usage | None = None


class Fail(msgspec.Struct, frozen=True):
    """The attempt breaks here."""

    error: ProviderError


Part = str | Think | Call | Stop | Fail
Script = str | Call | Sequence[Part]


class Request(msgspec.Struct, frozen=True):
    """What the model was asked with, kept for assertions."""

    messages: list[Message]
    tools: list[ToolDefinition]
    settings: Settings


class ScriptedModel:
    """Plays one script a turn. A callable is given the request and returns the script."""

    def __init__(
        self,
        turns: Sequence[Script | Callable[[Request], Script]],
        *,
        name: str = "scripted/model",
        piece: int = 8,
        pause: float = 0.0,
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._turns = list(turns)
        self._piece = max(piece, 1)
        self._pause = pause

    @staticmethod
    def think(text: str) -> Think:
        return Think(text)

    @staticmethod
    def call(name: str, /, **arguments: Any) -> Call:
        return Call(name, arguments)

    @staticmethod
    def raw_call(name: str, arguments: str) -> Call:
        """A call with argument text that need not be JSON."""
        return Call(name, {}, raw=arguments)

    @staticmethod
    def stop(reason: StopReason, usage: Usage | None = None) -> Stop:
        return Stop(reason, usage)

    @staticmethod
    def fail(error: ProviderError) -> Fail:
        return Fail(error)

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return ScriptedSession(self, messages, tools, settings)

    def next_script(self, request: Request) -> Script:
        if len(self.requests) >= len(self._turns):
            raise ConfigurationError(f"The script of {self.name} has {len(self._turns)} turns and all were played.")
        turn = self._turns[len(self.requests)]
        self.requests.append(request)
        return turn(request) if callable(turn) else turn

    async def play(self, decoder: "ScriptDecoder", script: Script, on_event: OnEvent) -> None:
        """Stream a script piece by piece."""
        for part in [script] if isinstance(script, str | Call) else script:
            if decoder.error is not None:
                return
            for step in decoder.steps(part, self._piece):
                for payload in step:
                    on_event(payload)
                await asyncio.sleep(self._pause)


class ScriptedSession(KeptConversation):
    """A `ProviderSession` with a scripted model."""

    def __init__(
        self, model: ScriptedModel, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        self.model = model
        super().__init__(messages, tools, settings)

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        script = self.model.next_script(Request(list(self.messages), self.tools, self.settings))
        decoder = ScriptDecoder(provider="scripted", model=self.model.name, taken=self.taken)
        for payload in decoder.open():
            on_event(payload)
        await self.model.play(decoder, script, on_event)
        for payload in decoder.close():
            on_event(payload)
        if decoder.error is not None:
            raise decoder.error
        assert decoder.message is not None
        assert decoder.stop_reason is not None
        return ProviderTurn(message=decoder.message, stop_reason=decoder.stop_reason, usage=decoder.usage)


class ScriptDecoder(Decoder):
    """The blocks of a message, from parts instead of bytes."""

    wire = "scripted"
    _surrogates = True  # whatever a test says is mended as a wire would
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "stop_sequence": "stop_sequence",
        "refusal": "refusal",
        "content_filter": "content_filter",
        "pause_turn": "pause_turn",
    }

    def steps(self, part: Part, size: int) -> Iterator[list[Payload]]:
        """The payloads of a part, a piece at a time."""
        match part:
            case str():
                yield from self._pieces(self._text, part, size)
            case Think(text=text):
                yield from self._pieces(self._thinking, text, size)
            case Call():
                block = self._call(part.id, part.name)
                text = part.raw if part.raw is not None else encode_text(part.input)
                yield from self._pieces(lambda piece: self._call_text(block, piece), text, size)
            case Stop(reason=reason, usage=usage):
                self.provider_stop_reason = reason
                self.usage = usage or self.usage
            case Fail(error=error):
                self._fail(error)

    def _pieces(self, say: Callable[[str], object], text: str, size: int) -> Iterator[list[Payload]]:
        for start in range(0, len(text), size):
            out = self._out = []
            say(text[start : start + size])
            yield out

    def _end(self) -> None:
        if self.usage == Usage():
            self.usage = Usage(input=0, output=sum(len(block.text) for block in self._blocks) // 4)
        self.provider_stop_reason = self.provider_stop_reason or "end_turn"

    def _native(self) -> None:
        return None
