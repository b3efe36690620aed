"""Reads the parameters of a request for a response."""

from dataclasses import dataclass

from heald.agent.model_chain import ModelLike
from heald.agent.typed_output import SchemaShape
from heald.core.json import JsonObject, as_list, as_object
from heald.core.messages import ToolDefinition
from heald.core.turn import Reason
from heald.providers.model import Model
from heald_server.protocols.responses.tool_parameters import (
    asks_for_agent_tools,
    read_response_tools,
    read_tool_choice,
)
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

_REPEATED = (
    "instructions",
    "temperature",
    "top_p",
    "max_output_tokens",
    "parallel_tool_calls",
    "previous_response_id",
    "tool_choice",
    "truncation",
    "metadata",
    "background",
    "store",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
)
"""Parameters that a response repeats as they were given."""
RESPONSE_PARAMETERS = ParameterTable(
    "POST /v1/responses",
    [
        *parameters("honoured", "", *(
            "input", "model", "instructions", "stream", "store", "background", "previous_response_id",
            "parallel_tool_calls", "temperature", "top_p", "max_output_tokens", "show_tools", "agent_tools",
        )),
        Parameter("conversation", "honoured", "names the conversation, to which the input is added"),
        Parameter("tools", "honoured", "functions, and the tools of this server; other types are dropped"),
        Parameter("tool_choice", "honoured", "a tool that was dropped is refused"),
        Parameter("text", "honoured", "`verbosity` is dropped where the model's API does not have it"),
        Parameter("reasoning", "honoured", "`effort` and `summary`; other fields are dropped"),
        Parameter("include", "honoured", "log probabilities are refused, other names change nothing"),
        Parameter("metadata", "honoured", "returned with the response"),
        Parameter("truncation", "honoured", "returned with the response"),
        Parameter("stream_options", "ignored", "changes nothing in the answer"),
        *(row for row in SHARED_IGNORED if row.name != "metadata"),
        *SHARED_DROPPED,
        *parameters("dropped", "use `text`", "verbosity"),
        Parameter("context_management", "dropped", "the server keeps a conversation within the context", ([],)),
        *SHARED_REFUSED,
        *parameters("refused", "there is one answer to a request", "n", "best_of"),
        Parameter("top_logprobs", "refused", "an answer has no log probabilities", (0,)),
        Parameter("prompt", "refused", "there are no stored prompts"),
        Parameter("max_tool_calls", "refused", "the server has a budget of its own"),
        Parameter("modalities", "refused", "answers are text", (["text"],)),
    ],
)  # fmt: skip
_NOT_INCLUDED = ("message.output_text.logprobs",)
_SUMMARIES = ("auto", "concise", "detailed")
_VERBOSITIES = ("low", "medium", "high")
_MAX_INSTRUCTIONS = 1_000_000
_MAX_PAIRS, _MAX_KEY, _MAX_VALUE = 16, 64, 512


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """The parameters of a request, beside its input."""

    streams: bool
    is_stored: bool
    in_background: bool
    previous: str | None
    instructions: str | None
    conversation: str | None
    tools: list[ToolDefinition]
    agent_tools: bool | None
    """The agent's own tools are offered beside the client's; None: as the server is set."""
    dropped: tuple[str, ...]
    """Parameters that cannot be served."""
    settings: JsonObject
    """Fields of `Settings` that differ from the agent's own."""
    output: JsonObject | None
    """A JSON Schema of the answer."""
    parameters: JsonObject
    """The parameters that the response repeats."""

    def output_shape(self) -> SchemaShape | None:
        """Compile the schema of the answer."""
        return compile_output(self.output, "text")


def read_response_request(body: JsonObject, model: ModelLike | None) -> ResponseRequest:
    """Read a body. `model` is the model that answers, as far as it is known."""
    dropped = RESPONSE_PARAMETERS.check(body)
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_output_tokens",))
    tools, listed_tools, other_tools = read_response_tools(body)
    read_tool_choice(body, settings, tools)
    reasoning = _read_reasoning(body, settings, dropped)
    text, output = _read_text(body, settings, model.endpoint.wire if isinstance(model, Model) else None, dropped)
    _check_others(body)
    store, background = read_flag(body, "store"), read_flag(body, "background") or False
    if background and store is False:
        raise refusal("background", "A response in the background must be stored; leave store out.")
    conversation = _read_conversation(body)
    repeated = {name: body[name] for name in _REPEATED if body.get(name) is not None}
    if conversation is not None:
        repeated["conversation"] = {"id": conversation}
    agent_tools = read_flag(body, "agent_tools")
    if agent_tools is None and asks_for_agent_tools({"tools": listed_tools}):
        agent_tools = True
    return ResponseRequest(
        streams=read_flag(body, "stream") or False,
        is_stored=store is not False,
        in_background=background,
        previous=_text(body, "previous_response_id", 200),
        conversation=conversation,
        instructions=_text(body, "instructions", _MAX_INSTRUCTIONS),
        tools=tools,
        agent_tools=agent_tools,
        dropped=(*dropped, *other_tools),
        settings=settings,
        output=output,
        parameters={**repeated, "tools": listed_tools, "reasoning": reasoning, "text": text}
        | ({"show_tools": True} if read_flag(body, "show_tools") else {}),
    )


def _text(body: JsonObject, name: str, limit: int) -> str | None:
    value = body.get(name)
    if value is None or (isinstance(value, str) and len(value) <= limit):
        return value or None
    raise refusal(name, f"{name} is a text of at most {limit:,} characters.")


def _read_conversation(body: JsonObject) -> str | None:
    value = body.get("conversation")
    name = as_object(value).get("id") if isinstance(value, dict) else value
    if name is None:
        return None
    if not isinstance(name, str) or not 0 < len(name) <= _MAX_VALUE:
        raise refusal(
            "conversation", f"conversation is an id of at most {_MAX_VALUE} characters, or an object with one."
        )
    if body.get("previous_response_id") is not None:
        raise refusal("conversation", "conversation and previous_response_id exclude each other; leave one out.")
    if body.get("store") is False:
        raise refusal("conversation", "A conversation is stored; leave store out.")
    return name


def _read_fields(body: JsonObject, param: str, dropped: list[str], *names: str) -> JsonObject:
    """Read a parameter that is an object. Other fields than the known ones are dropped."""
    fields = body.get(param)
    if fields is not None and not isinstance(fields, dict):
        raise refusal(param, f"{param} is an object with {names[0]} and {names[1]}.")
    dropped += [f"{param}.{name[:40]}" for name, value in as_object(fields).items() if value and name not in names]
    return as_object(fields)


def _read_reasoning(body: JsonObject, settings: JsonObject, dropped: list[str]) -> JsonObject:
    fields = _read_fields(body, "reasoning", dropped, "effort", "summary", "generate_summary")
    effort, summary = fields.get("effort"), fields.get("summary") or fields.get("generate_summary")
    if effort not in (None, *EFFORTS):
        raise refusal("reasoning", f"reasoning.effort is one of {', '.join(EFFORTS)}.")
    if summary not in (None, *_SUMMARIES):
        raise refusal("reasoning", f"reasoning.summary is one of {', '.join(_SUMMARIES)}.")
    if effort is not None:
        settings["reasoning"] = Reason(effort=effort)
    return {"effort": effort, "summary": summary}


def _read_text(
    body: JsonObject, settings: JsonObject, wire: str | None, dropped: list[str]
) -> tuple[JsonObject, JsonObject | None]:
    """Return the parameter as the response shows it, and the schema of the answer."""
    fields = _read_fields(body, "text", dropped, "format", "verbosity")
    repeated: JsonObject = {"format": {"type": "text"}}
    verbosity = fields.get("verbosity")
    if verbosity not in (None, *_VERBOSITIES):
        raise refusal("text", f"text.verbosity is one of {', '.join(_VERBOSITIES)}.")
    if verbosity not in (None, "medium") and wire not in (None, "responses"):
        dropped.append("text.verbosity")
    elif verbosity is not None:
        settings["extra"] = {"text": {"verbosity": verbosity}} if verbosity != "medium" else {}
        repeated["verbosity"] = verbosity
    shape = as_object(fields.get("format"))
    match shape.get("type"):
        case None | "text" if not shape or shape.get("type") == "text":
            return repeated, None
        case "json_object":
            return repeated | {"format": {"type": "json_object"}}, {"type": "object"}
        case "json_schema" if isinstance(shape.get("schema"), dict):
            names = ("type", "name", "description", "strict", "schema")
            return repeated | {"format": {name: shape.get(name) for name in names}}, as_object(shape["schema"])
        case _:
            raise refusal("text", "text.format is text, json_object, or json_schema with a schema.")


def _check_others(body: JsonObject) -> None:
    include = body.get("include")
    if include is not None and not isinstance(include, list):
        raise refusal("include", "include is a list of names.")
    for name in as_list(include):
        if name in _NOT_INCLUDED:
            raise refusal("include", f"{str(name)[:80]!r} cannot be included here; leave it out.")
    if body.get("truncation") not in (None, "auto", "disabled"):
        raise refusal("truncation", "truncation is auto or disabled.")
    for name in ("user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"):
        _text(body, name, _MAX_VALUE)
    metadata = body.get("metadata")
    pairs = as_object(metadata)
    is_valid = metadata is None or (isinstance(metadata, dict) and len(pairs) <= _MAX_PAIRS)
    if not is_valid or not all(
        len(key) <= _MAX_KEY and isinstance(value, str) and len(value) <= _MAX_VALUE for key, value in pairs.items()
    ):
        raise refusal(
            "metadata",
            f"metadata has at most {_MAX_PAIRS} texts of at most {_MAX_VALUE} characters, by names of at most "
            f"{_MAX_KEY} characters.",
        )
