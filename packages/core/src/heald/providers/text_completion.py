"""Text completion: text after a prompt, or between a prompt and a suffix, by providers whose API has it.

- OpenAI and its imitators, Ollama: https://platform.openai.com/docs/api-reference/completions
- Mistral: https://docs.mistral.ai/api/endpoint/fim
- DeepSeek, below `/beta`: https://api-docs.deepseek.com/api/create-completion
- llama.cpp, whose completions have no suffix: https://github.com/ggml-org/llama.cpp/tree/master/tools/server
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from time import monotonic

import msgspec

from heald.core.errors import AnswerTooSlow, IncompleteStream, InvalidRequest, MalformedResponse, ProviderTimeout
from heald.core.json import JsonObject, as_object, as_objects, encode, loads
from heald.core.turn import Usage
from heald.providers.api_call import open_call
from heald.providers.defaults import default_timeouts
from heald.providers.model import Model
from heald.providers.transport import Response, broken_read
from heald.wires.billed_cost import read_billed_cost
from heald.wires.chat import parse_usage
from heald.wires.errors import error_from_event
from heald.wires.sse import SSEParser
from heald.wires.usage_counts import as_count

_DONE = b"[DONE]"
_MAX_BODY = 16 << 20
_LOCAL_PATIENCE = 1800.0
"""Seconds until the first byte of a server of one's own, which may load a model and read a long prompt."""
_ADVICE = "use /v1/chat/completions, or a model of a provider that has it"
_FIM_OPTIONS = {name: name for name in ("max_tokens", "temperature", "top_p", "stop")} | {"seed": "random_seed"}
_SAMPLING = ("temperature", "top_p", "stop", "seed", "frequency_penalty", "presence_penalty")
_INFILL_OPTIONS = {name: name for name in _SAMPLING} | {"max_tokens": "n_predict"}


class TextRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt to complete."""

    prompt: str
    suffix: str = ""
    """The text after the completion."""
    streams: bool = False
    options: Mapping[str, object] = {}
    """Further parameters, by the names of OpenAI's API."""


class TextPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a completion: some text, its end, or its usage."""

    text: str = ""
    finish_reason: str | None = None
    logprobs: JsonObject | None = None
    usage: Usage | None = None
    billed_usd: float | None = None
    """The cost, if the provider reports it."""


@dataclass(frozen=True, slots=True)
class CompletionCall:
    """A request in the form of a provider's API."""

    url: str
    body: JsonObject
    read: Callable[[JsonObject], TextPiece]
    dropped: tuple[str, ...] = ()
    """Options that the API does not have."""


def build_completion_call(model: Model, request: TextRequest) -> CompletionCall:
    """Return the request for the API of a model. Raises InvalidRequest if the API has no text completion."""
    quirks = model.endpoint.quirks
    match model.wire.name:
        case "ollama":
            return _completions_call(f"{model.base_url}/v1", model, request)
        case "chat" | "responses":
            root = model.base_url.removesuffix("/v1")
            match quirks.text_completion:
                case "completions":
                    return _completions_call(model.base_url, model, request)
                case "beta":
                    return _completions_call(f"{root}/beta", model, request)
                case "fim":
                    return _fim_call(model, request)
                case "infill" if request.suffix:
                    return _infill_call(f"{root}/infill", request)
                case "infill":
                    return _completions_call(model.base_url, model, request)
                case "none":
                    pass
        case _:
            pass
    raise InvalidRequest(f"The provider {model.provider} has no text completion; {_ADVICE}.")


async def complete_text(model: Model, call: CompletionCall) -> AsyncGenerator[TextPiece]:
    """Send a request and yield the completion as it arrives. Raises a ProviderError that is explained."""
    model.require_key()
    timeouts = default_timeouts()
    patience = _LOCAL_PATIENCE if model.base_url.startswith("http:") else timeouts.socket
    accept = {"accept": "text/event-stream" if call.body["stream"] else "application/json"}
    async with open_call(model, call.url, body=encode(call.body), headers=accept, seconds=patience) as response:
        if response.content_type != "text/event-stream":
            yield call.read(await _read_whole(response, timeouts.total))
            return
        is_finished = False
        async for data in _read_events(response, patience, timeouts.socket, timeouts.total):
            if data.strip() == _DONE:
                return
            piece = call.read(_parse(data))
            is_finished = is_finished or piece.finish_reason is not None
            yield piece
        if not is_finished:
            raise IncompleteStream("The stream ended before the completion was finished.")


async def _read_whole(response: Response, seconds: float) -> JsonObject:
    async with asyncio.timeout(seconds):
        body = await response.read_body(_MAX_BODY)
    if body is None:
        raise MalformedResponse(f"The completion has more than {_MAX_BODY >> 20} MiB.")
    return _parse(body)


async def _read_events(response: Response, first: float, silence: float, total: float) -> AsyncGenerator[bytes]:
    """Yield the data of events up to the end of the stream. No part is awaited for longer than `silence` seconds, and
    the first one not for longer than `first`."""
    parser, end, patience = SSEParser(), monotonic() + total, first
    while True:
        try:
            async with asyncio.timeout(patience):
                chunk = await response.read_chunk()
        except TimeoutError:
            raise ProviderTimeout(f"No byte came for {patience:g} s; try again.") from None
        except Exception as error:
            raise broken_read(error) from None
        patience = silence
        for event in parser.feed(chunk) if chunk else parser.close():
            yield event.data
        if not chunk:
            return
        if monotonic() > end:
            raise AnswerTooSlow(f"The completion took longer than {total:g} s.")


def _parse(data: bytes) -> JsonObject:
    try:
        value = loads(data)
    except ValueError:
        raise MalformedResponse("The server did not answer with JSON; check the base URL and the wire.") from None
    error = error_from_event(value)
    if error is not None:
        raise error
    return as_object(value)


# --- OpenAI's form ---------------------------------------------------------------------------------------------------


def _completions_call(base_url: str, model: Model, request: TextRequest) -> CompletionCall:
    body: JsonObject = {"model": model.name, "prompt": request.prompt, **request.options, "stream": request.streams}
    if request.suffix:
        body["suffix"] = request.suffix
    if request.streams and model.endpoint.quirks.usage_option:
        body["stream_options"] = {"include_usage": True}
    return CompletionCall(f"{base_url}/completions", body, _read_completion)


def _read_completion(data: JsonObject) -> TextPiece:
    choice = _choice(data)
    return TextPiece(
        text=_text(choice.get("text")),
        finish_reason=_reason(choice),
        logprobs=as_object(choice.get("logprobs")) or None,
        usage=_usage(data),
        billed_usd=read_billed_cost(as_object(data.get("usage"))),
    )


# --- Mistral's form --------------------------------------------------------------------------------------------------


def _fim_call(model: Model, request: TextRequest) -> CompletionCall:
    options, dropped = _rename(request.options, _FIM_OPTIONS)
    body: JsonObject = {"model": model.name, "prompt": request.prompt, "suffix": request.suffix, **options}
    return CompletionCall(f"{model.base_url}/fim/completions", body | {"stream": request.streams}, _read_fim, dropped)


def _read_fim(data: JsonObject) -> TextPiece:
    choice = _choice(data)
    message = as_object(choice.get("delta")) or as_object(choice.get("message"))
    return TextPiece(text=_text(message.get("content")), finish_reason=_reason(choice), usage=_usage(data))


# --- llama.cpp's form ------------------------------------------------------------------------------------------------


def _infill_call(url: str, request: TextRequest) -> CompletionCall:
    options, dropped = _rename(request.options, _INFILL_OPTIONS)
    body: JsonObject = {"input_prefix": request.prompt, "input_suffix": request.suffix, **options}
    return CompletionCall(url, body | {"stream": request.streams}, _read_infill, dropped)


def _read_infill(data: JsonObject) -> TextPiece:
    text = _text(data.get("content"))
    if data.get("stop") is not True:
        return TextPiece(text=text)
    usage = Usage(input=as_count(data.get("tokens_evaluated")), output=as_count(data.get("tokens_predicted")))
    return TextPiece(text=text, finish_reason="length" if data.get("stop_type") == "limit" else "stop", usage=usage)


def _rename(options: Mapping[str, object], names: Mapping[str, str]) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the options by the names of another API, and those that it does not have."""
    renamed = {names[name]: value for name, value in options.items() if name in names}
    return renamed, tuple(name for name in options if name not in names)


def _choice(data: JsonObject) -> JsonObject:
    return next(iter(as_objects(data.get("choices"))), as_object(None))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reason(choice: JsonObject) -> str | None:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) and reason else None


def _usage(data: JsonObject) -> Usage | None:
    counts = as_object(data.get("usage"))
    return parse_usage(counts) if counts else None
