"""Reads the parameters of a request for a response. A parameter that cannot be honoured is refused, never ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.agent.engine import ModelLike
from weft.agent.result import SchemaShape
from weft.core.json import JsonObject, as_list, as_object, as_objects
from weft.core.messages import ToolDefinition
from weft.core.turn import Reason
from weft.providers.model import Model
from weft.server.client_bodies import read_tools
from weft.server.openai_request import (
    EFFORTS,
    WITHOUT_EFFECT,
    check_parameters,
    compile_output,
    read_flag,
    read_numbers,
    refusal,
)

LABEL = "weft"
"""The label under which a request lists the tools of the server."""
_READ = frozenset(
    {
        "model",
        "input",
        "instructions",
        "stream",
        "stream_options",
        "store",
        "background",
        "previous_response_id",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "max_output_tokens",
        "text",
        "reasoning",
        "include",
        "metadata",
        "truncation",
        "show_tools",
    }
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
_WITHOUT_EFFECT = WITHOUT_EFFECT | {"prompt_cache_options"}
_DEFAULTS: Mapping[str, tuple[Any, ...]] = {"top_logprobs": (0,), "context_management": ([],)}
"""Values of parameters that are not honoured which ask for nothing."""
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
    check_parameters(body, _READ | _WITHOUT_EFFECT, _DEFAULTS)
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_output_tokens",))
    tools, shown = _read_tools(body)
    _read_tool_choice(body, settings, tools)
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
        parameters={**repeated, "tools": shown, "reasoning": reasoning, "text": text}
        | ({"show_tools": True} if read_flag(body, "show_tools") else {}),
    )


def _text(body: JsonObject, name: str, limit: int) -> str | None:
    value = body.get(name)
    if value is None or (isinstance(value, str) and len(value) <= limit):
        return value or None
    raise refusal(name, f"{name} is a text of at most {limit:,} characters.")


# --- tools -----------------------------------------------------------------------------------------------------------


def _read_tools(body: JsonObject) -> tuple[list[ToolDefinition], list[JsonObject]]:
    """Return the client's tools, and all tools as the response shows them."""
    given = body.get("tools")
    if given is not None and (not isinstance(given, list) or len(as_objects(given)) != len(as_list(given))):
        raise refusal("tools", "tools is a list of tools.")
    own: list[JsonObject] = []
    for tool in as_objects(given):
        if tool.get("type") == "function":
            own.append(tool)
        elif tool.get("type") == "mcp" and tool.get("server_label") == LABEL:
            _check_label(tool)
        else:
            raise refusal(
                "tools",
                f"Tools of the type {str(tool.get('type'))[:40]!r} are not supported here; there are function and, for "
                f"the tools of this server, mcp with the server_label {LABEL!r}.",
            )
        if tool.get("async") or tool.get("defer_loading"):
            raise refusal("tools", "async and defer_loading of a tool are not supported here; leave them out.")
    definitions = read_tools({"tools": own}) or []
    by_name = {definition.name: definition for definition in definitions}
    return definitions, [_shown(tool, by_name) for tool in as_objects(given)]


def _check_label(tool: JsonObject) -> None:
    if tool.get("require_approval") not in (None, "always", "never"):
        raise refusal("tools", "require_approval of the tools of this server is always or never.")
    if tool.get("allowed_tools") is not None:
        raise refusal("tools", "allowed_tools is not supported for the tools of this server; leave it out.")


def _shown(tool: JsonObject, definitions: Mapping[str, ToolDefinition]) -> JsonObject:
    if tool.get("type") == "mcp":  # without what may be secret
        return {"type": "mcp", "server_label": LABEL, "require_approval": tool.get("require_approval") or "always"}
    definition = definitions[str(tool.get("name"))]
    strict = tool.get("strict")
    return {
        "type": "function",
        "name": definition.name,
        "description": definition.description,
        "parameters": definition.input_schema,
        "strict": strict if isinstance(strict, bool) else None,
    }


def tool_label(parameters: JsonObject) -> str | None:
    """The label under which the tools of the server are shown; None: they are hidden."""
    return LABEL if parameters.get("show_tools") is True or _mcp_tools(parameters) else None


def has_approvals(parameters: JsonObject) -> bool:
    """Whether the client answers approvals."""
    return any(tool.get("require_approval") == "always" for tool in _mcp_tools(parameters))


def _mcp_tools(parameters: JsonObject) -> list[JsonObject]:
    return [tool for tool in as_objects(parameters.get("tools")) if tool.get("type") == "mcp"]


def _read_tool_choice(body: JsonObject, settings: JsonObject, tools: list[ToolDefinition]) -> None:
    choice = body.get("tool_choice")
    named = as_object(choice)
    if choice is None or choice == "auto":
        return
    if choice == "none" or (choice == "required" and tools):
        settings["tool_choice"] = choice
    elif named.get("type") == "function" and any(tool.name == named.get("name") for tool in tools):
        settings["tool_choice"] = named["name"]
    else:
        raise refusal("tool_choice", "tool_choice is auto, none, required, or one of the functions of this request.")


# --- text, reasoning and the rest ------------------------------------------------------------------------------------


def _read_reasoning(body: JsonObject, settings: JsonObject) -> JsonObject:
    given = body.get("reasoning")
    fields = as_object(given)
    if given is not None and not isinstance(given, dict):
        raise refusal("reasoning", "reasoning is an object with effort and summary.")
    for name in fields:
        if fields[name] is not None and name not in ("effort", "summary", "generate_summary"):
            raise refusal("reasoning", f"reasoning.{name[:40]} is not supported here; leave it out.")
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
    given = body.get("text")
    fields = as_object(given)
    if given is not None and not isinstance(given, dict):
        raise refusal("text", "text is an object with format and verbosity.")
    for name in fields:
        if fields[name] is not None and name not in ("format", "verbosity"):
            raise refusal("text", f"text.{name[:40]} is not supported here; leave it out.")
    shown: JsonObject = {"format": {"type": "text"}}
    verbosity = fields.get("verbosity")
    if verbosity not in (None, *_VERBOSITIES):
        raise refusal("text", f"text.verbosity is one of {', '.join(_VERBOSITIES)}.")
    if verbosity is not None:
        if verbosity != "medium" and wire not in (None, "responses"):
            raise refusal("text", "The API of this model has no verbosity; leave it out.")
        settings["extra"] = {"text": {"verbosity": verbosity}} if verbosity != "medium" else {}
        shown["verbosity"] = verbosity
    shape = as_object(fields.get("format"))
    match shape.get("type"):
        case None | "text" if not shape or shape.get("type") == "text":
            return shown, None
        case "json_object":
            return shown | {"format": {"type": "json_object"}}, {"type": "object"}
        case "json_schema" if isinstance(shape.get("schema"), dict):
            names = ("type", "name", "description", "strict", "schema")
            return shown | {"format": {name: shape.get(name) for name in names}}, as_object(shape["schema"])
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
