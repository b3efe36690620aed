"""A model whose turns are scripted, for tests and demonstrations.

    model = heald.testing.ScriptedModel([
        [heald.testing.ScriptedModel.think("Oslo is cold."), heald.testing.ScriptedModel.call("weather", city="Oslo")],
        "Take a coat.",
    ])

It streams through the same decoder as a real model, so blocks, ids, calls and stop reasons follow the same rules.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from heald.core.errors import ConfigurationError, ProviderError
from heald.core.json import JsonObject, encode_text
from heald.core.messages import Message, ToolDefinition
from heald.core.payload import Payload
from heald.core.turn import Settings, StopReason, Usage
from heald.providers.base import OnEvent, ProviderSession, ProviderTurn
from heald.providers.conversation_base import ConversationBase
from heald.wires.decoder import Decoder


class Think(msgspec.Struct, frozen=True):
    """Thinking of a scripted model."""

    text: str


class ScriptedCall(msgspec.Struct, frozen=True):
    """A call of a scripted model."""

    name: str
    input: JsonObject
    id: str = ""
    raw: str | None = None
    """Argument text to stream instead; it need not be JSON."""


class Stop(msgspec.Struct, frozen=True):
    """The stop reason and usage of the turn, if not the usual ones."""

    reason: StopReason
    usage: Usage | None = None


class Fail(msgspec.Struct, frozen=True):
    """The attempt fails here."""

    error: ProviderError


Part = str | Think | ScriptedCall | Stop | Fail
Script = str | ScriptedCall | Sequence[Part]


class ScriptedRequest(msgspec.Struct, frozen=True):
    """A request to the model, recorded for assertions."""

    messages: list[Message]
    tools: list[ToolDefinition]
    settings: Settings


class ScriptedModel:
    """Plays one script a turn. A callable gets the request and returns the script."""

    def __init__(
        self,
        turns: Sequence[Script | Callable[[ScriptedRequest], Script]],
        *,
        name: str = "scripted/model",
        piece: int = 8,
        pause: float = 0.0,
    ) -> None:
        self.name = name
        self.requests: list[ScriptedRequest] = []
        self._turns = list(turns)
        self._piece = max(piece, 1)
        self._pause = pause

    @staticmethod
    def think(text: str) -> Think:
        return Think(text)

    @staticmethod
    def call(name: str, /, **arguments: Any) -> ScriptedCall:
        return ScriptedCall(name, arguments)

    @staticmethod
    def raw_call(name: str, arguments: str) -> ScriptedCall:
        """Make a call with argument text that need not be JSON."""
        return ScriptedCall(name, {}, raw=arguments)

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

    def next_script(self, request: ScriptedRequest) -> Script:
        if len(self.requests) >= len(self._turns):
            raise ConfigurationError(f"The script of {self.name} has {len(self._turns)} turns and all were played.")
        turn = self._turns[len(self.requests)]
        self.requests.append(request)
        return turn(request) if callable(turn) else turn

    async def play(self, decoder: "ScriptDecoder", script: Script, on_event: OnEvent) -> None:
        """Stream a script piece by piece."""
        for part in [script] if isinstance(script, str | ScriptedCall) else script:
            if decoder.error is not None:
                return
            for step in decoder.steps(part, self._piece):
                for payload in step:
                    on_event(payload)
                await asyncio.sleep(self._pause)


class ScriptedSession(ConversationBase):
    """A `ProviderSession` with a scripted model."""

    def __init__(
        self, model: ScriptedModel, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        self.model = model
        super().__init__(messages, tools, settings)

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        script = self.model.next_script(ScriptedRequest(list(self.messages), self.tools, self.settings))
        decoder = ScriptDecoder(
            provider="scripted",
            model=self.model.name,
            used_ids=self.used_ids,
            calls_allowed=self.settings.tool_choice != "none",
        )
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
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "stop_sequence": "stop_sequence",
        "refusal": "refusal",
        "content_filter": "content_filter",
        "pause_turn": "pause_turn",
    }

    def _init_state(self) -> None:
        self._has_surrogates = True  # surrogates in a script are joined as on a wire

    def steps(self, part: Part, size: int) -> Iterator[list[Payload]]:
        """Yield the payloads of a part, a piece at a time."""
        match part:
            case str():
                yield from self._pieces(self._add_text, part, size)
            case Think(text=text):
                yield from self._pieces(self._add_thinking, text, size)
            case ScriptedCall():
                block = self._start_call(part.id, part.name)
                text = part.raw if part.raw is not None else encode_text(part.input)
                yield from self._pieces(lambda piece: self._add_arguments(block, piece), text, size)
            case Stop(reason=reason, usage=usage):
                self.provider_stop_reason = reason
                self.usage = usage or self.usage
            case Fail(error=error):
                self._fail(error)

    def _pieces(self, add: Callable[[str], object], text: str, size: int) -> Iterator[list[Payload]]:
        for start in range(0, len(text), size):
            out = self._out = []
            add(text[start : start + size])
            yield out

    def _flush(self) -> None:
        if self.usage == Usage():
            self.usage = Usage(input=0, output=sum(len(block.text) for block in self._blocks) // 4)
        self.provider_stop_reason = self.provider_stop_reason or "end_turn"

    def _build_native(self) -> None:
        return None
