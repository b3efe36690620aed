"""`create_provider`: the adapter of a real endpoint. It builds the request of one model call and streams its events.

    adapter = heald.providers.create_provider("openai", {"apiKey": "…", "model": "gpt-4o"})
    request = await adapter.build_request("Be brief.", [{"role": "user", "content": "Hello"}], tools)
    async for event in adapter.create_message_stream(request):
        ...

The caller runs the tools and continues with the results. A failed call is repeated as long as no event of its answer
was yielded: ten attempts, five for Gemini. After that the failure is an `error` event.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec
from msgspec.structs import replace

from heald.core.errors import ConfigurationError, ProviderError, UnknownProvider
from heald.core.events import RetryScheduled, TextDelta, ThinkingDelta
from heald.core.json import JsonObject, as_object, encode, encode_text
from heald.core.message_forms import read_messages, read_tool_definition, system_texts
from heald.core.messages import Message, ToolCall, ToolDefinition
from heald.core.payload import Payload
from heald.core.retry import Retry
from heald.core.turn import Settings
from heald.providers.adapter import ProviderAdapter
from heald.providers.base import ProviderSession, ProviderTurn
from heald.providers.model import Model
from heald.providers.resolve import resolve_endpoint
from heald.providers.session import WireSession
from heald.providers.watchdog import Timeouts
from heald.wires.audio import check_audio
from heald.wires.features import check_features
from heald.wires.media_check import check_media
from heald.wires.output_schema import plan_output
from heald.wires.request import TurnRequest

_ALIASES = {"google": "gemini", "openai": "openai-chat"}
_CONFIG = ("model", "api_key", "base_url", "wire", "headers", "retry", "timeouts")
_OPTIONS = tuple(name for name in Settings.__struct_fields__ if name != "system")
_NO_OPTIONS = ("system_instruction", "reset_session", "custom_instructions")
"""Options that the document's orchestrator passes on. They concern the caller."""
_REMEMBERED = 256


class ProviderRequest(dict[str, Any]):
    """A request: `model`, `url`, `headers`, `body` and `toolIdToName`. Its `repr` does not show the key."""

    def __repr__(self) -> str:
        return f"ProviderRequest(model={self.get('model')!r}, url={self.get('url')!r})"


class WireAdapter(ProviderAdapter):
    """The adapter of a model behind a wire."""

    features = frozenset({"images", "files", "audio", "output_schema", "tool_choice"})

    def __init__(
        self,
        model: Model,
        *,
        name: str = "",
        config: Mapping[str, Any] | None = None,
        context: Any = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self.model = model
        self.name = name or model.provider
        self.config = {key: value for key, value in (config or {}).items() if key not in ("apiKey", "api_key")}
        self.context = context
        self._options: dict[str, Any] = {"retry": retry, "timeouts": timeouts}
        self._answers: OrderedDict[tuple[str, ...], Message] = OrderedDict()

    async def build_request(
        self,
        system_instruction: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> ProviderRequest:
        """Build the request of one model call. Messages are internal ones, those of Chat Completions, or `Message`s."""
        conversation = [self._as_received(message) for message in read_messages(messages)]
        check_audio(self.model.wire, conversation)
        wire, endpoint = self.model.wire, self.model.endpoint
        check_media(wire, conversation, endpoint.provider, endpoint.quirks.without)
        settings = _settings(system_instruction, options or {})
        check_features(wire.name, settings, wire.features, endpoint.provider, endpoint.quirks.without)
        system = [system_instruction, *system_texts([as_object(message) for message in messages])]
        turn = TurnRequest(
            model=self.model.name,
            messages=conversation,
            tools=[read_tool_definition(tool) for tool in tools or ()],
            settings=msgspec.structs.replace(settings, system="\n\n".join(filter(None, system))),
            provider=self.model.provider,
            quirks=self.model.endpoint.quirks,
        )
        return ProviderRequest(
            model=self.model.name,
            url=self.model.url,
            headers={**self.model.request_headers, **self.model.wire.build_headers(turn)},
            body=self.model.wire.build_request(plan_output(turn, self.model.wire.name)),
            toolIdToName={call.id: call.name for message in conversation for call in message.tool_calls},
        )

    async def create_message_stream(
        self,
        request: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[JsonObject]:
        """Send a request, as it is, and yield its events. The last one is `end`. The options are in the request."""
        events: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        work = asyncio.create_task(self._run(_checked(request), events))
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def convert_tools_to_provider_schema(self, tools: Sequence[Any]) -> Any:
        """Return the tools as they stand in a request of this provider."""
        definitions = [read_tool_definition(tool) for tool in tools]
        turn = TurnRequest(model=self.model.name, messages=[], tools=definitions, quirks=self.model.endpoint.quirks)
        body = self.model.wire.build_request(turn)
        return body.get("tools") or as_object(body.get("toolConfig")).get("tools", [])

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return WireSession(self.model, messages=messages, tools=tools, settings=settings, **self._options)

    async def _run(self, request: ProviderRequest, events: "asyncio.Queue[JsonObject | None]") -> None:
        """Run one model call and queue its events, then None."""
        model = copy(self.model)
        model.url, model.request_headers = request["url"], request["headers"]
        session = WireSession(model, **self._options)
        relay = _Relay(events)
        try:
            turn = await session.send_body(
                encode(request["body"]), as_object(request.get("toolIdToName")), relay.on_event
            )
            self._remember(turn.message)
            _finish(turn, session, events)
        except ProviderError as error:
            events.put_nowait({"type": "error", "error": error.code, "message": str(error)})
            events.put_nowait({"type": "end", "status": "failed"})
        finally:
            events.put_nowait(None)
            await session.close()

    def _remember(self, answer: Message) -> None:
        """Keep an answer with calls: its signatures and encrypted reasoning are not in an internal message."""
        if answer.tool_calls:
            self._answers[tuple(call.id for call in answer.tool_calls)] = answer
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)

    def _as_received(self, message: Message) -> Message:
        """Add the provider's own content to an answer that was streamed by this adapter, if it is unchanged."""
        answer = self._answers.get(tuple(call.id for call in message.tool_calls)) if message.tool_calls else None
        if answer is None or message.native is not None or answer.text != message.text:
            return message
        same = all(map(_equal_calls, answer.tool_calls, message.tool_calls))
        return msgspec.structs.replace(answer, timestamp=message.timestamp) if same else message


class _Relay:
    """Queues the deltas of an answer. Once one was queued, the call is not repeated."""

    def __init__(self, events: "asyncio.Queue[JsonObject | None]") -> None:
        self._events = events
        self._sent = False

    def on_event(self, payload: Payload) -> bool:
        match payload:
            case TextDelta(text=text):
                self._send("text", text)
            case ThinkingDelta(text=text):
                self._send("reasoning", text)
            case RetryScheduled():
                return not self._sent
            case _:
                pass
        return True

    def _send(self, kind: str, text: str) -> None:
        if text:
            self._sent = True
            self._events.put_nowait({"type": kind, "text": text})


def _finish(turn: ProviderTurn, session: WireSession, events: "asyncio.Queue[JsonObject | None]") -> None:
    faults = [call.invalid for call in turn.tool_calls if call.invalid is not None]
    unsafe = next((fault for fault in faults if fault.reason != "malformed"), None)
    for call in turn.tool_calls if unsafe is None else ():
        args = call.invalid.raw if call.invalid is not None else encode_text(call.input)
        events.put_nowait({"type": "tool_call", "id": call.id, "name": call.name, "args": args})
    usage = turn.usage
    counts = {"inputTokens": usage.total_input or 0, "outputTokens": usage.total_output or 0}
    cost = turn.cost_usd if turn.cost_usd is not None else session.cost(usage).usd
    events.put_nowait({"type": "usage", **counts} | ({} if cost is None else {"cost": cost}))
    if unsafe is not None:
        events.put_nowait({"type": "error", "error": unsafe.reason, "message": unsafe.message})
    stopped = {} if turn.stop_reason in ("end_turn", "tool_use") else {"stop_reason": turn.stop_reason}
    events.put_nowait({"type": "end", **stopped})


def _equal_calls(call: ToolCall, other: ToolCall) -> bool:
    return call.id == other.id and call.name == other.name and call.input == other.input


def _checked(request: Mapping[str, Any]) -> ProviderRequest:
    missing = [name for name in ("url", "headers", "body") if name not in request]
    if missing:
        raise ConfigurationError(
            f"The request has no {missing[0]}; give create_message_stream a request of build_request."
        )
    return ProviderRequest(request)


def _settings(system: str, options: Mapping[str, Any]) -> Settings:
    fields: dict[str, Any] = {}
    for option, value in options.items():
        name = _snake(option)
        if name in _NO_OPTIONS or value is None:
            continue
        if name not in _OPTIONS:
            raise ConfigurationError(
                f"There is no option {option[:40]!r}; there are {', '.join(_OPTIONS)}. Others belong into `extra`."
            )
        fields[name] = value
    try:
        return msgspec.convert({"system": system, **fields}, Settings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"The options do not fit: {error}.") from None


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def create_provider(name: str, config: Mapping[str, Any] | None = None, context: Any = None) -> ProviderAdapter:
    """Create the adapter of a provider: `google`, `openai`, `openrouter`, `anthropic`, another known one, or
    `custom` with a `base_url`.

    The config has `model`, and if needed `api_key`, `base_url`, `wire`, `headers`, `retry`, `timeouts`; camelCase names
    are accepted too.
    """
    options = {_snake(key): value for key, value in (config or {}).items() if value is not None}
    unknown = next((key for key in options if key not in _CONFIG), None)
    if unknown is not None:
        raise ConfigurationError(f"The config of {name!r} has no {unknown[:40]!r}; it has {', '.join(_CONFIG)}.")
    if not options.get("model"):
        raise ConfigurationError(f"The config of {name!r} names no model; give {{'model': …}}.")
    model = _model(name, options)
    model.require_key()
    return WireAdapter(
        model,
        name=name,
        config=config,
        context=context,
        retry=options.get("retry"),
        timeouts=options.get("timeouts"),
    )


def _model(name: str, options: JsonObject) -> Model:
    if name == "custom":
        if not options.get("base_url"):
            raise UnknownProvider("The provider 'custom' has no address; give {'base_url': …} in its config.")
        fields = {key: options[key] for key in ("base_url", "wire", "api_key", "headers") if key in options}
        return Model(options["model"], provider=name, **fields)
    endpoint = resolve_endpoint(_ALIASES.get(name, name))
    changes = {key: options[key] for key in ("base_url", "wire") if key in options}
    headers = {**endpoint.headers, **options.get("headers", {})}
    return Model.at(replace(endpoint, headers=headers, **changes), options["model"], options.get("api_key"))
