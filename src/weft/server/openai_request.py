"""Reads the parameters of a chat completion request. A parameter that cannot be honoured is refused, never ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.agent.engine import ModelLike
from weft.agent.result import SchemaShape
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_list, as_object
from weft.core.messages import ToolDefinition
from weft.core.turn import Reason
from weft.providers.model import Model
from weft.server.client_bodies import read_tools
from weft.server.errors import ApiError

_READ = frozenset(
    {
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "n",
        "response_format",
        "reasoning_effort",
        "frequency_penalty",
        "presence_penalty",
        "store",
        "show_tools",
    }
)
WITHOUT_EFFECT = frozenset(
    {"user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "service_tier"}
)
"""Labels and hints of the caller that do not change an answer."""
_DEFAULTS: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "functions": ([],),
    "function_call": ("auto", "none"),
}
"""Values of parameters that are not honoured which ask for nothing."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_SEEDED = ("chat",)
"""APIs that have the parameters `seed`, `frequency_penalty` and `presence_penalty`."""
_WITHOUT_STOP = ("responses",)
_MAX_STOPS = 4


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The parameters of a request, beside its messages."""

    streams: bool
    usage: bool
    """The stream ends with a chunk of usage."""
    tools: list[ToolDefinition]
    settings: JsonObject = field(default_factory=dict[str, Any])
    """Fields of `Settings` that differ from the agent's own."""
    output: JsonObject | None = None
    """A JSON Schema of the answer."""
    store: bool | None = None
    show_tools: bool | None = None

    def output_shape(self) -> SchemaShape | None:
        """Compile the schema of the answer."""
        return compile_output(self.output, "response_format")


def read_completion_request(body: JsonObject, model: ModelLike | None) -> CompletionRequest:
    """Read a body. `model` is the model that answers, as far as it is known."""
    check_parameters(body, _READ | WITHOUT_EFFECT, _DEFAULTS)
    if body.get("n") not in (None, 1):
        raise refusal("n", "There is one answer to a request; n must be 1.")
    tools = read_tools(body) or []
    wire = model.endpoint.wire if isinstance(model, Model) else None
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_tokens", "max_completion_tokens"))
    _read_stop(body, settings, wire)
    _read_extra(body, settings, wire)
    _read_tool_choice(body, settings, tools)
    effort = body.get("reasoning_effort")
    if effort is not None:
        if effort not in EFFORTS:
            raise refusal("reasoning_effort", f"reasoning_effort is one of {', '.join(EFFORTS)}.")
        settings["reasoning"] = Reason(effort=effort)
    return CompletionRequest(
        streams=read_flag(body, "stream") or False,
        usage=as_object(body.get("stream_options")).get("include_usage") is True,
        tools=tools,
        settings=settings,
        output=_read_format(body),
        store=read_flag(body, "store"),
        show_tools=read_flag(body, "show_tools"),
    )


def check_parameters(body: JsonObject, known: frozenset[str], defaults: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse a parameter that is not known, unless its value is one of its `defaults`, which ask for nothing."""
    for name, value in body.items():
        if name not in known and value is not None and value not in defaults.get(name, ()):
            raise refusal(name[:60], f"The parameter {name[:60]!r} is not supported here; leave it out.")


def compile_output(schema: JsonObject | None, param: str) -> SchemaShape | None:
    """Compile the schema of an answer, which the client gave as the parameter `param`."""
    if schema is None:
        return None
    try:
        return SchemaShape(schema)
    except ConfigurationError as error:
        raise refusal(param, str(error)) from None


def read_numbers(body: JsonObject, settings: JsonObject, limits: Sequence[str]) -> None:
    """Read the sampling parameters into settings. `limits` are the names of the maximum of output tokens."""
    for name, low, high in (("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise refusal(name, f"{name} is a number from {low:g} to {high:g}.")
        settings[name] = float(value)
    for name in limits:
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1:
            raise refusal(name, f"{name} is a number of at least 1.")
        settings["max_output_tokens"] = value
    parallel = read_flag(body, "parallel_tool_calls")
    if parallel is not None:
        settings["parallel_tool_calls"] = parallel


def _read_stop(body: JsonObject, settings: JsonObject, wire: str | None) -> None:
    given = body.get("stop")
    if given is None or given == []:
        return
    stops: list[Any] = [given] if isinstance(given, str) else as_list(given)
    if not stops or len(stops) > _MAX_STOPS or not all(isinstance(each, str) and each for each in stops):
        raise refusal("stop", f"stop is a text, or a list of at most {_MAX_STOPS} texts.")
    if wire in _WITHOUT_STOP:
        raise refusal("stop", "The API of this model has no stop sequences; leave stop out.")
    settings["stop_sequences"] = stops


def _read_extra(body: JsonObject, settings: JsonObject, wire: str | None) -> None:
    extra: JsonObject = {}
    for name in ("seed", "frequency_penalty", "presence_penalty"):
        value = body.get(name)
        if value is None or (value == 0 and name != "seed"):
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (name == "seed" and type(value) is not int):
            raise refusal(name, f"{name} is a number.")
        if wire is not None and wire not in _SEEDED:
            raise refusal(name, f"The API of this model has no {name}; leave it out.")
        extra[name] = value
    if extra:
        settings["extra"] = extra


def _read_tool_choice(body: JsonObject, settings: JsonObject, tools: list[ToolDefinition]) -> None:
    choice = body.get("tool_choice")
    named = as_object(as_object(choice).get("function")).get("name")
    if choice is None or choice == "auto":
        return
    if choice == "none":
        settings["tool_choice"] = "none"
    elif choice == "required" and tools:
        settings["tool_choice"] = "required"
    elif isinstance(named, str) and any(tool.name == named for tool in tools):
        settings["tool_choice"] = named
    else:
        raise refusal("tool_choice", "tool_choice is auto, none, required, or one of the tools of this request.")


def _read_format(body: JsonObject) -> JsonObject | None:
    given = as_object(body.get("response_format"))
    match given.get("type"):
        case None | "text" if not given or given.get("type") == "text":
            return None
        case "json_object":
            return {"type": "object"}
        case "json_schema":
            schema = as_object(given.get("json_schema")).get("schema")
            if isinstance(schema, dict):
                return as_object(schema)
        case _:
            pass
    raise refusal("response_format", "response_format is text, json_object, or json_schema with a schema.")


def read_flag(body: JsonObject, name: str) -> bool | None:
    """Read a parameter that is true, false or not given."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise refusal(name, f"{name} is true or false.")


def refusal(param: str, message: str) -> ApiError:
    """The error for a parameter that is wrong."""
    return ApiError("invalid", message, param=param)
