"""`ProviderAdapter`: the base class of a provider of your own, in the terms of internal messages and normalized events.

    class Mine(heald.providers.ProviderAdapter):
        name = "mine"

        async def build_request(self, system_instruction, messages, tools=None, options=None):
            return {"prompt": messages[-1]["content"][0]["text"]}

        async def create_message_stream(self, request, options=None):
            yield {"type": "text", "text": "Hello"}
            yield {"type": "end"}

An agent uses such an object as its model: `heald.Agent(Mine())`. Each event is checked; a wrong one ends the turn with
an error that names the adapter, the event and the correction.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from heald.core.errors import ConfigurationError, IncompleteStream, InvalidRequest, MalformedResponse, ProviderError
from heald.core.internal_messages import to_internal_messages
from heald.core.json import JsonObject
from heald.core.message_forms import read_tool_definition
from heald.core.messages import File, Image, Message, ToolDefinition
from heald.core.payload import Payload
from heald.core.turn import Cost, Settings, StopReason, Usage
from heald.providers.base import OnEvent, ProviderSession, ProviderTurn
from heald.providers.conversation_base import ConversationBase
from heald.providers.scripted import ScriptDecoder, ScriptedCall, Think
from heald.wires.audio import is_audio

_NAMES = {
    "buildRequest": "build_request",
    "createMessageStream": "create_message_stream",
    "convertToolsToProviderSchema": "convert_tools_to_provider_schema",
    "formatTools": "format_tools",
}
"""The methods by their camelCase names. A subclass may use either name."""
_STREAM = "yield {'type': 'text', 'text': …} for the answer and {'type': 'end'} as the last event"


class ProviderAdapter:
    """Converts between a provider and Heald. A subclass writes `create_message_stream`, and what its provider needs."""

    name: str = ""
    """The name of the model, for events and errors. The name of the class, if it is empty."""
    config: Mapping[str, Any] = {}
    """The settings of the provider, such as its model and address."""
    context: Any = None
    """An object of the program that made the adapter. Heald does not use it."""
    features: frozenset[str] = frozenset()
    """Beyond text and tools: `images`, `files`, `audio`, `output_schema`, `tool_choice`. A request that needs another
    one is refused before `build_request`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for camel, name in _NAMES.items():
            if camel in cls.__dict__:
                setattr(cls, name, cls.__dict__[camel])

    async def build_request(
        self,
        system_instruction: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Convert internal messages and tools to a request of the provider. By default they are returned unchanged."""
        schema: Any = await self.convert_tools_to_provider_schema(tools) if tools else []
        return {
            "model": self.name,
            "system": system_instruction,
            "messages": list(messages),
            "tools": schema,
            "options": dict(options or {}),
        }

    def create_message_stream(
        self, request: Any, options: Mapping[str, Any] | None = None
    ) -> AsyncIterator[JsonObject]:
        """Send a request and yield its events: `text`, `reasoning`, `tool_call`, `usage`, `error` and `end`."""
        raise ConfigurationError(f"{self._class} has no create_message_stream; write it: {_STREAM}.")

    async def convert_tools_to_provider_schema(self, tools: Sequence[Any]) -> Any:
        """Convert tools to the schema of the provider. By default it is OpenAI's."""
        return [_openai_schema(read_tool_definition(tool)) for tool in tools]

    async def format_tools(self, tools: Sequence[Any]) -> Any:
        """Another name of `convert_tools_to_provider_schema`."""
        return await self.convert_tools_to_provider_schema(tools)

    def __getattr__(self, name: str) -> Any:
        """Return a method by its camelCase name."""
        method = _NAMES.get(name)
        if method is None:
            raise AttributeError(f"{self._class!r} has no attribute {name!r}")
        return getattr(self, method)

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        """Open a conversation for an agent."""
        if type(self).create_message_stream is ProviderAdapter.create_message_stream:
            self.create_message_stream(None)
        return AdapterSession(self, messages, tools, settings)

    async def close(self) -> None:
        """Release what the adapter holds. An agent calls it when it is closed."""

    @property
    def _class(self) -> str:
        return type(self).__name__


def _as_sent(messages: Sequence[Message]) -> list[JsonObject]:
    """Internal messages without their times: those are for programs that store them, and a provider may refuse them."""
    internal = to_internal_messages(messages)
    return [{name: value for name, value in message.items() if name != "timestamp"} for message in internal]


def _openai_schema(tool: ToolDefinition) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


class AdapterSession(ConversationBase):
    """A `ProviderSession` with an adapter."""

    def __init__(
        self, adapter: ProviderAdapter, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        super().__init__(messages, tools, settings)
        self._adapter = adapter
        self.reports_cost = "cost" in adapter.features

    def cost(self, usage: Usage) -> Cost:
        """The cost is unknown unless the adapter reports it."""
        return Cost()

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        adapter, settings = self._adapter, self.settings
        _check_features(adapter, self.messages, settings)
        options = {name: value for name, value in msgspec.to_builtins(settings).items() if name != "system"}
        decoder = EventDecoder(
            provider="adapter",
            model=adapter.name or type(adapter).__name__,
            used_ids=self.used_ids,
            calls_allowed=settings.tool_choice != "none",
        )
        _deliver(decoder.open(), on_event)
        try:
            request = await adapter.build_request(
                settings.system, _as_sent(self.messages), [_document_tool(t) for t in self.tools], options
            )
            stream = adapter.create_message_stream(request, options)
            if not hasattr(stream, "__aiter__"):
                _close(stream)
                raise _malformed(adapter, f"returned {type(stream).__name__} and no events; write it with `yield`")
            async for event in stream:
                for payloads in decoder.read(event, adapter):
                    _deliver(payloads, on_event)
            _deliver(decoder.end(adapter), on_event)
        except ProviderError as error:
            _deliver(decoder.abort(error), on_event)
            raise
        except Exception as error:
            failed = _malformed(adapter, f"failed with {type(error).__name__}: {str(error)[:500]}")
            _deliver(decoder.abort(failed), on_event)
            raise failed from error
        assert decoder.message is not None
        assert decoder.stop_reason is not None
        return ProviderTurn(
            message=decoder.message,
            stop_reason=decoder.stop_reason,
            usage=decoder.usage,
            cost_usd=decoder.cost,
        )

    async def close(self) -> None:
        await self._adapter.close()


class EventDecoder(ScriptDecoder):
    """Decodes normalized events into the payloads of a message."""

    wire = "adapter"
    cost: float | None = None
    _ended = False

    def read(self, event: Any, adapter: ProviderAdapter) -> Iterator[list[Payload]]:
        """Check one event and yield its payloads."""
        fields = cast(JsonObject, event) if isinstance(event, dict) else {}
        kind = fields.get("type")
        if self._ended:
            raise _malformed(adapter, f"yielded {_shown(event)} after {{'type': 'end'}}; make `end` the last event")
        match kind:
            case "text":
                yield from self.steps(_text(fields, "text", adapter), _PIECE)
            case "reasoning":
                yield from self.steps(Think(_text(fields, "text", adapter)), _PIECE)
            case "tool_call":
                name, args = _text(fields, "name", adapter), _text(fields, "args", adapter)
                yield from self.steps(ScriptedCall(name, {}, _text(fields, "id", adapter), args), _PIECE)
            case "usage":
                self.usage = Usage(
                    input=_count(fields, "inputTokens", adapter), output=_count(fields, "outputTokens", adapter)
                )
                cost = fields.get("cost")
                self.cost = float(cost) if isinstance(cost, int | float) else None
            case "error":
                message = fields.get("message") or fields.get("error") or "The provider reported an error."
                code = fields.get("error")
                raise ProviderError(str(message), provider_code=str(code) if code else None)
            case "end":
                self._ended = True
                self.provider_stop_reason = _stop_reason(fields, adapter)
            case _:
                raise _malformed(
                    adapter,
                    f"yielded {_shown(event)}; an event is an object whose type is text, reasoning, tool_call, usage, "
                    "error or end",
                )

    def end(self, adapter: ProviderAdapter) -> list[Payload]:
        """End the message. Raises IncompleteStream without an `end`."""
        if not self._ended:
            raise IncompleteStream(
                f"{type(adapter).__name__}.create_message_stream ended without {{'type': 'end'}}, so the answer may be "
                "cut off; yield it as the last event."
            )
        return self.close()


_PIECE = 1 << 20
_STOPS = ScriptDecoder.stop_reasons


def _stop_reason(fields: JsonObject, adapter: ProviderAdapter) -> StopReason:
    reason = fields.get("stop_reason", "end_turn")
    if reason not in _STOPS:
        raise _malformed(adapter, f"yielded {_shown(fields)}; a stop_reason is one of {', '.join(_STOPS)}")
    return _STOPS[reason]


def _text(fields: JsonObject, name: str, adapter: ProviderAdapter) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        kind = fields["type"]
        hint = ", the arguments as JSON text" if name == "args" else ""
        raise _malformed(adapter, f"yielded {_shown(fields)}; an event of type {kind} needs a string {name!r}{hint}")
    return value


def _count(fields: JsonObject, name: str, adapter: ProviderAdapter) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _malformed(adapter, f"yielded {_shown(fields)}; an event of type usage needs a number of tokens {name!r}")
    return value


def _malformed(adapter: ProviderAdapter, problem: str) -> MalformedResponse:
    return MalformedResponse(f"{type(adapter).__name__}.create_message_stream {problem}.")


def _shown(event: Any) -> str:
    text = repr(event)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _close(stream: Any) -> None:
    """Close a coroutine that will not be awaited."""
    close: Callable[[], object] | None = getattr(stream, "close", None)
    if close is not None:
        close()


def _document_tool(tool: ToolDefinition) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "jsonSchema": tool.input_schema}


def _check_features(adapter: ProviderAdapter, messages: Sequence[Message], settings: Settings) -> None:
    needed = {feature: True for message in messages for block in message.content if (feature := _feature(block))}
    needed |= {"output_schema": True} if settings.output_schema is not None else {}
    needed |= {"tool_choice": True} if settings.tool_choice != "auto" else {}
    missing = next((feature for feature in needed if feature not in adapter.features), None)
    if missing is not None:
        raise InvalidRequest(
            f"The request needs {missing!r}, which {type(adapter).__name__} does not support; send the request without "
            f"it, or add {missing!r} to the adapter's `features` and encode it in build_request."
        )


def _feature(block: Any) -> str:
    if isinstance(block, Image):
        return "images"
    if isinstance(block, File):
        return "audio" if is_audio(block) else "files"
    return ""


def _deliver(payloads: Sequence[Payload], on_event: OnEvent) -> None:
    for payload in payloads:
        on_event(payload)
