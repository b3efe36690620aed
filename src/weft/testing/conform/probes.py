"""The requests that are sent to a server under test, and the client that sends them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from weft.core.errors import ConfigurationError, InvalidRequest, ProviderError
from weft.core.json import JsonObject, encode
from weft.core.messages import (
    Image,
    Message,
    ToolCall,
    ToolDefinition,
    ToolResult,
    assistant,
    tool_results,
    user_message,
)
from weft.core.turn import Settings
from weft.providers.error_advice import explain_error
from weft.providers.model import Model
from weft.providers.transport import BrokenRead, Response, Transport, broken_read, network_error
from weft.testing.conform.answer import APIS, GuardedDecoder, ProbeAnswer
from weft.testing.conform.reader import excerpt
from weft.wires.errors import error_from_response
from weft.wires.request import TurnRequest
from weft.wires.text_edits import EXAMPLE, INSTRUCTIONS, describe_files, text_conversation

_RED_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAb0lEQVR4nO3PAQkAAAyEwO9feoshgnABdLep8QUNyPEFDcjxBQ3I8QUNyPEF"
    "DcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3IPanc8OLDQitxAAAAAElF"
    "TkSuQmCC"
)
"""A PNG of 64 × 64 red pixels."""

HELLO = "Say hello in one short sentence."
LOCKER = "What is the number of my locker? Answer with the number only."
LOCKER_NUMBER = "4711"
UNICODE = "Grüße aus 東京 🚀 naïve"
REPEAT = f"Repeat exactly, with nothing before or after it: {UNICODE}"
WEATHER = "What is the weather in Oslo? Use the tool."
CLOCK = "What time is it? Use the tool."
NO_TOOL = "What could the weather in Oslo be like? Guess."
TWO_CITIES = "What is the weather in Oslo and in Rome? Call the tool once for each city, both calls in the same answer."
RESULT = "17 degrees and light rain"
COUNT = "Count from 1 to 300 in words, and leave nothing out."
FOUR_WORDS = "Write these four words on one line, in small letters: alpha beta gamma delta"
STOP = "gamma"
COLOUR = "What colour is this picture? Answer with one word."
LONG = "Write the numbers from 1 to 500 in words."
EDITED_FILE = "greeting.py"
EDIT = f"Change {EDITED_FILE} so that it prints Good evening instead of Good morning."
_ATTACHED = describe_files({EDITED_FILE: "print('Good morning')\n"})
LIMIT = 16
UNKNOWN_MODEL = "weft-no-such-model"
WRONG_KEY = "weft-wrong-key"

_CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GET_WEATHER = ToolDefinition(name="get_weather", description="The weather in a city now.", input_schema=_CITY)
GET_TIME = ToolDefinition(name="get_time", description="The time now.")


class ProbeRequest(msgspec.Struct, frozen=True):
    """One encoded request."""

    model: Model
    body: bytes


class Probe(msgspec.Struct, frozen=True):
    name: str
    make: Callable[[Model, ProbeAnswer | None], ProbeRequest]
    after: str | None = None
    """The probe that must be answered first."""
    disconnect: bool = False
    """Disconnect as soon as content arrives."""
    wants_error: bool = False
    forced: bool = False
    """The request demands a call, if the API can demand one."""


def _build_body(
    model: Model, messages: Sequence[Message], tools: Sequence[ToolDefinition] = (), **settings: Any
) -> JsonObject:
    request = TurnRequest(
        model=model.name,
        messages=list(messages),
        tools=list(tools),
        settings=Settings(**settings),
        provider=model.provider,
        quirks=model.endpoint.quirks,
    )
    return model.wire.build_request(request)


def _turn_request(
    *messages: Message, tools: Sequence[ToolDefinition] = (), **settings: Any
) -> Callable[[Model, ProbeAnswer | None], ProbeRequest]:
    return lambda model, _: ProbeRequest(model, encode(_build_body(model, messages, tools, **settings)))


def _continuation_request(model: Model, before: ProbeAnswer | None) -> ProbeRequest:
    """Return the server's own call with a result, or a made-up call if it made none."""
    message = before.decoded.message if before is not None else None
    if message is None or not message.tool_calls:
        call = ToolCall(id="call_weft1", name=GET_WEATHER.name, input={"city": "Oslo"})
        message = Message(role="assistant", content=[call])
    results = [ToolResult(id=call.id, name=call.name, status="ok", content=RESULT) for call in message.tool_calls]
    return ProbeRequest(
        model, encode(_build_body(model, [user_message(WEATHER), message, tool_results(results)], [GET_WEATHER]))
    )


def _unknown_model_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return _turn_request(user_message(HELLO))(Model.at(model.endpoint, UNKNOWN_MODEL, model.api_key), None)


def _malformed_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return ProbeRequest(model, encode(_build_body(model, [user_message(HELLO)]) | {APIS[model.wire.name].history: 42}))


def _wrong_key_request(model: Model, _: ProbeAnswer | None) -> ProbeRequest:
    return _turn_request(user_message(HELLO))(Model.at(model.endpoint, model.name, WRONG_KEY), None)


_LOCKER_TALK = (
    user_message(f"The number of my locker is {LOCKER_NUMBER}. Remember it."),
    assistant("I will remember it."),
    user_message("What colour is a clear sky?"),
    assistant("Blue."),
    user_message(LOCKER),
)

PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe("text", _turn_request(user_message(HELLO))),
        Probe("turns", _turn_request(*_LOCKER_TALK, system="You are brief.")),
        Probe("unicode", _turn_request(user_message(REPEAT))),
        Probe(
            "tool-call",
            _turn_request(user_message(WEATHER), tools=[GET_WEATHER], tool_choice=GET_WEATHER.name),
            forced=True,
        ),
        Probe(
            "no-arguments", _turn_request(user_message(CLOCK), tools=[GET_TIME], tool_choice=GET_TIME.name), forced=True
        ),
        Probe("tool-choice-none", _turn_request(user_message(NO_TOOL), tools=[GET_WEATHER], tool_choice="none")),
        Probe("parallel", _turn_request(user_message(TWO_CITIES), tools=[GET_WEATHER])),
        Probe("continuation", _continuation_request, after="tool-call"),
        Probe("truncation", _turn_request(user_message(COUNT), max_output_tokens=LIMIT)),
        Probe("stop-sequence", _turn_request(user_message(FOUR_WORDS), stop_sequences=[STOP])),
        Probe(
            "text-edit",
            _turn_request(*EXAMPLE, *text_conversation([user_message(EDIT)], _ATTACHED), system=INSTRUCTIONS),
        ),
        Probe("image", _turn_request(user_message(COLOUR, Image(media_type="image/png", data=_RED_PNG)))),
        Probe("cancel", _turn_request(user_message(LONG)), disconnect=True),
        Probe("after-cancel", _turn_request(user_message(HELLO)), after="cancel"),
        Probe("unknown-model", _unknown_model_request, wants_error=True),
        Probe("malformed-request", _malformed_request, wants_error=True),
        Probe("malformed-json", lambda model, _: ProbeRequest(model, b'{"model": '), wants_error=True),
        Probe("invalid-key", _wrong_key_request, wants_error=True),
    )
}


_FATAL_STATUSES = (401, 402, 403, 404, 429)
_MAX_BODY = 16 * 1024 * 1024


class ProbeTimeouts(msgspec.Struct, frozen=True):
    """Times in seconds, and the number of tries."""

    silence: float = 120.0
    """Without a byte before an answer counts as broken; a local model may have to be loaded first."""
    tail: float = 5.0
    """Between the last event and the end of the body."""
    tries: int = 3
    """Tries while the server is busy."""
    pause: float = 2.0
    """The pause after the first try; doubled after each."""


class ProbeClient:
    """Sends each probe once, when it is first needed, and keeps the answers.

    Raises if the server refuses every request, since then there is nothing to check.
    """

    def __init__(self, model: Model, patience: ProbeTimeouts | None = None) -> None:
        if model.api_key and not (model.api_key.isascii() and model.api_key.isprintable()):
            raise ConfigurationError("The key holds characters that no header can carry; copy it again.")
        self.model = model
        self.api = APIS[model.wire.name]
        self._patience = patience or ProbeTimeouts()
        self._answers: dict[str, ProbeAnswer] = {}
        self._accepted = False

    async def answer(self, name: str) -> ProbeAnswer:
        if name not in self._answers:
            self._answers[name] = await self._send_with_retries(PROBES[name])
        return self._answers[name]

    async def _send_with_retries(self, probe: Probe) -> ProbeAnswer:
        before = await self.answer(probe.after) if probe.after is not None else None
        request = probe.make(self.model, before)
        answer = await self._send(probe, request)
        for turn in range(self._patience.tries - 1):
            if not answer.busy:
                break
            await asyncio.sleep(self._patience.pause * 2**turn)
            answer = await self._send(probe, request)
        if not self._accepted and not probe.wants_error:
            self._raise_if_pointless(answer)
        self._accepted = True
        return answer

    def _raise_if_pointless(self, answer: ProbeAnswer) -> None:
        """Raise if the key, the address or the model is wrong, since every further request would fail too."""
        if 300 <= answer.status < 400:
            raise InvalidRequest(
                "The server redirects; a key does not follow a redirect. Set --base-url to where the API really is."
            )
        if answer.status in _FATAL_STATUSES:
            raise explain_error(error_from_response(answer.status, {}, answer.body), self.model)

    async def _send(self, probe: Probe, request: ProbeRequest) -> ProbeAnswer:
        transport = await Transport.for_running_loop()
        answer = ProbeAnswer(probe.name, self.api)
        try:
            async with asyncio.timeout(self._patience.silence):
                response = await transport.post(
                    request.model.url,
                    headers=request.model.request_headers,
                    body=request.body,
                    connect_timeout=self._patience.silence,
                )
        except (ProviderError, TimeoutError) as error:
            if not self._accepted:
                raise error if isinstance(error, ProviderError) else network_error(error, request.model.url) from None
            return replace(answer, broken=excerpt(str(error)) or self._silence)
        try:
            return await self._read(replace(answer, status=response.status), probe, response)
        finally:
            response.close()

    async def _read(self, answer: ProbeAnswer, probe: Probe, response: Response) -> ProbeAnswer:
        model = self.model
        decoder = GuardedDecoder(
            model.wire.decoder(provider=model.provider, model=model.name, quirks=model.endpoint.quirks)
        )
        body = bytearray()
        broken: str | None = None
        kept_open = disconnected = False
        while not disconnected:
            over = answer.status == 200 and decoder.at_end
            try:
                async with asyncio.timeout(self._patience.tail if over else self._patience.silence):
                    chunk = await response.read_chunk()
            except Exception as error:
                if not isinstance(broken_read(error), BrokenRead):
                    raise
                kept_open = over and isinstance(error, TimeoutError)
                broken = None if kept_open else self._describe_break(error, len(body))
                break
            if not chunk:
                break
            body += chunk
            if answer.status == 200:
                decoder.feed(chunk)
            disconnected = probe.disconnect and decoder.started and not decoder.at_end
            if len(body) > _MAX_BODY:
                broken = f"the answer did not end within {_MAX_BODY} bytes"
                break
        return replace(
            answer,
            content_type=response.content_type,
            body=self._mask_key(bytes(body)),
            decoded=decoder.end(),
            broken=broken,
            kept_open=kept_open,
            disconnected=disconnected,
        )

    @property
    def _silence(self) -> str:
        return f"no byte for {self._patience.silence:g} s"

    def _describe_break(self, error: Exception, size: int) -> str:
        why = self._silence if isinstance(error, TimeoutError) else "the connection broke"
        return f"{why} after {size} bytes"

    def _mask_key(self, body: bytes) -> bytes:
        """Remove the key from an answer: servers repeat parts of the request."""
        key = self.model.api_key
        return body.replace(key.encode(), b"[key]") if key else body
