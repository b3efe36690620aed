"""The parameters of a chat completion."""

from dataclasses import dataclass, field
from typing import Any

from heald.agent.model_chain import ModelLike
from heald.agent.typed_output import SchemaShape
from heald.core.json import JsonObject, as_list, as_object
from heald.core.messages import ToolDefinition
from heald.core.turn import Reason
from heald.providers.model import Model
from heald_server.protocols.shared.client_bodies import read_tools, split_tools
from heald_server.protocols.shared.parameter_table import (
    SHARED_DROPPED,
    SHARED_IGNORED,
    SHARED_REFUSED,
    Parameter,
    ParameterTable,
    parameters,
)
from heald_server.protocols.shared.v1_parameters import (
    EFFORTS,
    compile_output,
    read_flag,
    read_numbers,
    refusal,
)

_SEEDS = ("seed", "frequency_penalty", "presence_penalty")
_SEEDED = ("chat",)
"""APIs that have these parameters."""

COMPLETION_PARAMETERS = ParameterTable(
    "POST /v1/chat/completions",
    [
        *parameters("honoured", "", *(
            "messages", "model", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
            "temperature", "top_p", "max_tokens", "max_completion_tokens", "response_format", "reasoning_effort",
            "store", "show_tools", "agent_tools",
        )),
        Parameter("n", "honoured", "1; others are refused"),
        Parameter("stop", "honoured", "at most 4 texts; refused where the model's API has no stop sequences"),
        *parameters("honoured", "dropped where the model's API does not have it", *_SEEDS),
        Parameter("chat_id", "honoured", "names the conversation"),
        *SHARED_IGNORED,
        Parameter("verbosity", "dropped", "not passed on", ("medium",)),
        *SHARED_DROPPED,
        *parameters("dropped", "not passed on", "reasoning", "prediction", "web_search_options"),
        *SHARED_REFUSED,
        Parameter("logprobs", "refused", "an answer has no log probabilities", (False,)),
        Parameter("top_logprobs", "refused", "an answer has no log probabilities", (0,)),
        Parameter("logit_bias", "refused", "tokens cannot be weighted", ({},)),
        Parameter("modalities", "refused", "answers are text", (["text"],)),
        Parameter("audio", "refused", "answers are text"),
        Parameter("functions", "refused", "use tools", ([],)),
        Parameter("function_call", "refused", "use tool_choice", ("auto", "none")),
        Parameter("best_of", "refused", "there is one answer to a request", (1,)),
        *parameters("refused", "use response_format", *(
            "format", "grammar", "guided_choice", "guided_grammar", "guided_json", "guided_regex", "json_schema",
            "structured_outputs",
        )),
    ],
)  # fmt: skip

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
    dropped: tuple[str, ...] = ()
    """Parameters that cannot be served."""
    output: JsonObject | None = None
    """A JSON Schema of the answer."""
    store: bool | None = None
    show_tools: bool | None = None
    agent_tools: bool | None = None
    """The agent's own tools are offered beside the client's."""

    def output_shape(self) -> SchemaShape | None:
        """Compile the schema of the answer."""
        return compile_output(self.output, "response_format")


def read_completion_request(body: JsonObject, model: ModelLike | None) -> CompletionRequest:
    """Read a body. `model` is the model that answers, as far as it is known."""
    dropped = COMPLETION_PARAMETERS.check(body)
    if body.get("n") not in (None, 1):
        raise refusal("n", "There is one answer to a request; n must be 1.")
    functions, other_types = split_tools(body)
    dropped += [f"tools.{kind}" for kind in other_types]
    tools = read_tools({"tools": functions}) or []
    wire = model.endpoint.wire if isinstance(model, Model) else None
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_tokens", "max_completion_tokens"))
    _read_stop(body, settings, wire)
    dropped += _read_extra(body, settings, wire)
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
        dropped=tuple(dropped),
        output=_read_format(body),
        store=read_flag(body, "store"),
        show_tools=read_flag(body, "show_tools"),
        agent_tools=read_flag(body, "agent_tools"),
    )


def _read_stop(body: JsonObject, settings: JsonObject, wire: str | None) -> None:
    stop = body.get("stop")
    if stop is None or stop == []:
        return
    stops: list[Any] = [stop] if isinstance(stop, str) else as_list(stop)
    if not stops or len(stops) > _MAX_STOPS or not all(isinstance(text, str) and text for text in stops):
        raise refusal("stop", f"stop is a text, or a list of at most {_MAX_STOPS} texts.")
    if wire in _WITHOUT_STOP:
        raise refusal("stop", "The API of this model has no stop sequences; leave stop out.")
    settings["stop_sequences"] = stops


def _read_extra(body: JsonObject, settings: JsonObject, wire: str | None) -> list[str]:
    """Read the parameters that only some APIs have. Returns the names of those that this one does not have."""
    extra: JsonObject = {}
    dropped: list[str] = []
    for name in _SEEDS:
        value = body.get(name)
        if value is None or (value == 0 and name != "seed"):
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (name == "seed" and type(value) is not int):
            raise refusal(name, f"{name} is a number.")
        if wire is not None and wire not in _SEEDED:
            dropped.append(name)
        else:
            extra[name] = value
    if extra:
        settings["extra"] = extra
    return dropped


def _read_tool_choice(body: JsonObject, settings: JsonObject, tools: list[ToolDefinition]) -> None:
    choice = body.get("tool_choice")
    named = as_object(as_object(choice).get("function")).get("name")
    if choice is None or choice == "auto":
        return
    if choice == "none" or (choice == "required" and tools):
        settings["tool_choice"] = choice
    elif isinstance(named, str) and any(tool.name == named for tool in tools):
        settings["tool_choice"] = named
    else:
        raise refusal("tool_choice", "tool_choice is auto, none, required, or one of the tools of this request.")


def _read_format(body: JsonObject) -> JsonObject | None:
    response_format = as_object(body.get("response_format"))
    match response_format.get("type"):
        case None | "text" if not response_format or response_format.get("type") == "text":
            return None
        case "json_object":
            return {"type": "object"}
        case "json_schema":
            schema = as_object(response_format.get("json_schema")).get("schema")
            if isinstance(schema, dict):
                return as_object(schema)
        case _:
            pass
    raise refusal("response_format", "response_format is text, json_object, or json_schema with a schema.")
