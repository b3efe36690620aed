"""Reads the parameters of a request for a response.

A parameter that cannot be honoured is refused, never ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heald.agent.model_chain import ModelLike
from heald.agent.typed_output import SchemaShape
from heald.core.json import JsonObject, as_list, as_object
from heald.core.messages import ToolDefinition
from heald.core.turn import Reason
from heald.providers.model import Model
from heald_server.protocols.responses.shapes import ResponseBody
from heald_server.protocols.responses.tool_parameters import read_response_tools, read_tool_choice
from heald_server.protocols.shared.v1_parameters import (
    EFFORTS,
    check_parameters,
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
_DEFAULTS: Mapping[str, tuple[Any, ...]] = {"top_logprobs": (0,), "context_management": ([],)}
"""Values of parameters that are not honoured which ask for nothing."""
_KNOWN = frozenset(ResponseBody.__struct_fields__) - _DEFAULTS.keys()
_INCLUDED = ("reasoning.encrypted_content",)
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
    tools: list[ToolDefinition]
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
    check_parameters(body, _KNOWN, _DEFAULTS)
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_output_tokens",))
    tools, listed_tools = read_response_tools(body)
    read_tool_choice(body, settings, tools)
    reasoning = _read_reasoning(body, settings)
    text, output = _read_text(body, settings, model.endpoint.wire if isinstance(model, Model) else None)
    _check_others(body)
    store, background = read_flag(body, "store"), read_flag(body, "background") or False
    if background and store is False:
        raise refusal("background", "A response in the background must be stored; leave store out.")
    repeated = {name: body[name] for name in _REPEATED if body.get(name) is not None}
    return ResponseRequest(
        streams=read_flag(body, "stream") or False,
        is_stored=store is not False,
        in_background=background,
        previous=_text(body, "previous_response_id", 200),
        instructions=_text(body, "instructions", _MAX_INSTRUCTIONS),
        tools=tools,
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


def _read_fields(body: JsonObject, param: str, *names: str) -> JsonObject:
    """Read a parameter that is an object. Another field than the known ones is refused, unless it is null."""
    fields = body.get(param)
    if fields is not None and not isinstance(fields, dict):
        raise refusal(param, f"{param} is an object with {names[0]} and {names[1]}.")
    for name, value in as_object(fields).items():
        if value is not None and name not in names:
            raise refusal(param, f"{param}.{name[:40]} is not supported here; leave it out.")
    return as_object(fields)


def _read_reasoning(body: JsonObject, settings: JsonObject) -> JsonObject:
    fields = _read_fields(body, "reasoning", "effort", "summary", "generate_summary")
    effort, summary = fields.get("effort"), fields.get("summary") or fields.get("generate_summary")
    if effort not in (None, *EFFORTS):
        raise refusal("reasoning", f"reasoning.effort is one of {', '.join(EFFORTS)}.")
    if summary not in (None, *_SUMMARIES):
        raise refusal("reasoning", f"reasoning.summary is one of {', '.join(_SUMMARIES)}.")
    if effort is not None:
        settings["reasoning"] = Reason(effort=effort)
    return {"effort": effort, "summary": summary}


def _read_text(body: JsonObject, settings: JsonObject, wire: str | None) -> tuple[JsonObject, JsonObject | None]:
    """Return the parameter as the response shows it, and the schema of the answer."""
    fields = _read_fields(body, "text", "format", "verbosity")
    repeated: JsonObject = {"format": {"type": "text"}}
    verbosity = fields.get("verbosity")
    if verbosity not in (None, *_VERBOSITIES):
        raise refusal("text", f"text.verbosity is one of {', '.join(_VERBOSITIES)}.")
    if verbosity is not None:
        if verbosity != "medium" and wire not in (None, "responses"):
            raise refusal("text", "The API of this model has no verbosity; leave it out.")
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
    if as_object(body.get("stream_options")).get("include_obfuscation") is True:
        raise refusal("stream_options", "include_obfuscation is not supported here; set it to false.")
    include = body.get("include")
    if include is not None and not isinstance(include, list):
        raise refusal("include", "include is a list of names.")
    for name in as_list(include):
        if name not in _INCLUDED:
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
