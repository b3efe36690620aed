"""The parameters of a text completion, of `/v1/completions` and `/v1/fim/completions`."""

from dataclasses import dataclass

from heald.core.json import JsonObject, as_list, as_object
from heald.providers.model import Model
from heald.providers.text_completion import CompletionCall, TextRequest, build_completion_call
from heald_server.protocols.shared.parameter_table import (
    SHARED_DROPPED,
    SHARED_IGNORED,
    SHARED_REFUSED,
    Parameter,
    ParameterTable,
    parameters,
)
from heald_server.protocols.shared.v1_parameters import read_flag, read_numbers, refusal

_NUMBERS = ("frequency_penalty", "presence_penalty")
_PASSED = ("logprobs", "echo", "logit_bias")
"""Parameters that change the form of the answer: refused where the API of the model does not have them."""
_MAX_STOPS = 16

TEXT_PARAMETERS = ParameterTable(
    "POST /v1/completions, /v1/fim/completions",
    [
        *parameters("honoured", "", *(
            "model", "suffix", "stream", "stream_options", "max_tokens", "temperature", "top_p",
        )),
        Parameter("prompt", "honoured", "one text"),
        Parameter("n", "honoured", "1; others are refused"),
        Parameter("stop", "honoured", f"at most {_MAX_STOPS} texts"),
        *parameters("honoured", "dropped where the model's API does not have it", "seed", "random_seed", *_NUMBERS),
        *parameters("honoured", "refused where the model's API does not have it", *_PASSED),
        *SHARED_IGNORED,
        *SHARED_DROPPED,
        *SHARED_REFUSED,
        Parameter("best_of", "refused", "there is one answer to a request", (1,)),
    ],
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextParameters:
    """A request in the form of the model's API, and what the client expects of the answer."""

    call: CompletionCall
    prompt: str
    """All text that is sent."""
    streams: bool
    usage: bool
    """The stream ends with a chunk of usage."""
    dropped: tuple[str, ...]


def read_text_request(body: JsonObject, model: Model) -> TextParameters:
    """Read a body. Raises `ApiError` for a wrong parameter, and InvalidRequest if the model has no text completion."""
    dropped = TEXT_PARAMETERS.check(body)
    if body.get("n") not in (None, 1):
        raise refusal("n", "There is one completion to a request; n must be 1.")
    prompt, suffix = _read_prompt(body), body.get("suffix") or ""
    if not isinstance(suffix, str):
        raise refusal("suffix", "suffix is a text.")
    streams = read_flag(body, "stream") or False
    options = _read_options(body)
    call = build_completion_call(model, TextRequest(prompt=prompt, suffix=suffix, streams=streams, options=options))
    for name in _PASSED:
        if name in call.dropped:
            raise refusal(name, f"The API of {model.provider} has no {name} here; leave it out.")
    return TextParameters(
        call=call,
        prompt=prompt + suffix,
        streams=streams,
        usage=as_object(body.get("stream_options")).get("include_usage") is True,
        dropped=(*dropped, *call.dropped),
    )


def _read_prompt(body: JsonObject) -> str:
    prompt = body.get("prompt")
    texts = as_list(prompt)
    prompt = texts[0] if len(texts) == 1 else prompt
    if not isinstance(prompt, str):
        raise refusal("prompt", "prompt is one text.")
    return prompt


def _read_options(body: JsonObject) -> JsonObject:
    """Read the parameters that are passed on, by the names of OpenAI's API."""
    numbers: JsonObject = {}
    read_numbers(body, numbers, ())
    numbers.pop("parallel_tool_calls", None)
    limit = body.get("max_tokens")
    if limit is not None and (type(limit) is not int or limit < 0):
        raise refusal("max_tokens", "max_tokens is a number of at least 0.")
    seed = body.get("seed", body.get("random_seed"))
    if seed is not None and type(seed) is not int:
        raise refusal("seed", "seed is a number.")
    for name in _NUMBERS:
        value = body.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise refusal(name, f"{name} is a number.")
    stop = body.get("stop")
    stops = [stop] if isinstance(stop, str) else as_list(stop)
    if stop is not None and (len(stops) > _MAX_STOPS or not all(isinstance(text, str) and text for text in stops)):
        raise refusal("stop", f"stop is a text, or a list of at most {_MAX_STOPS} texts.")
    options = {"max_tokens": limit, **numbers, "seed": seed, "stop": stops or None}
    options |= {name: body.get(name) or None for name in _NUMBERS}
    options |= {name: body[name] for name in _PASSED if body.get(name) not in (None, False, {})}
    return {name: value for name, value in options.items() if value is not None}
