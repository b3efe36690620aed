"""Reads a request for a response: its parameters, and its input with messages, calls, results and approvals as items.

A parameter that cannot be honoured is refused, never ignored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.agent.engine import ModelLike
from weft.agent.result import SchemaShape
from weft.core.json import JsonObject, as_list, as_object, as_objects
from weft.core.messages import ToolDefinition
from weft.core.turn import Reason
from weft.dialects.response_items import call_error_text
from weft.dialects.ui_messages import ClientDecision
from weft.providers.model import Model
from weft.server.client_bodies import objects_in, read_tools
from weft.server.guest_shapes import ResponseBody
from weft.server.openai_request import (
    EFFORTS,
    check_parameters,
    compile_output,
    read_flag,
    read_numbers,
    refusal,
)

LABEL = "weft"
"""The label under which a request lists the tools of the server."""
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
    given = objects_in(body["tools"]) if body.get("tools") is not None else []
    if given is None:
        raise refusal("tools", "tools is a list of tools.")
    own: list[JsonObject] = []
    for tool in given:
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
    return definitions, [_shown(tool, by_name) for tool in given]


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


def _read_fields(body: JsonObject, param: str, *known: str) -> JsonObject:
    """Read a parameter that is an object. Another field than the known ones is refused, unless it is null."""
    fields = body.get(param)
    if fields is not None and not isinstance(fields, dict):
        raise refusal(param, f"{param} is an object with {known[0]} and {known[1]}.")
    for name, value in as_object(fields).items():
        if value is not None and name not in known:
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


# --- input -----------------------------------------------------------------------------------------------------------

_SYSTEM = ("system", "developer")
_DROPPED = ("mcp_list_tools", "mcp_approval_request")
"""Items of our own responses that add nothing to a conversation."""
_ITEMS = (
    "message, reasoning, function_call, function_call_output, mcp_call, mcp_approval_request, mcp_approval_response "
    "and item_reference"
)


@dataclass(frozen=True, slots=True)
class ResponseInput:
    """The items of a request as a conversation."""

    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    """In the form that `weft.core.message_forms` reads."""
    system: list[str] = field(default_factory=list[str])
    decisions: dict[str, ClientDecision] = field(default_factory=dict[str, ClientDecision])
    """The client's answers to approvals, by the ids of their requests."""


def list_items(given: Any) -> list[JsonObject]:
    """The input of a body as a list of items."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": given}]}]
    items = objects_in(given)
    if items is None:
        raise refusal("input", "input is a text, or a list of items.")
    return items


def read_input(items: Sequence[JsonObject]) -> ResponseInput:
    """Convert items. Those of one turn of the assistant become one message."""
    read = ResponseInput()
    for number, item in enumerate(items):
        kind = item.get("type") or ("message" if "role" in item else None)
        match kind:
            case "message":
                _read_message(read, item, number)
            case "reasoning":
                texts = [str(part.get("text", "")) for part in as_objects(item.get("summary"))]
                _add_to_assistant(read, {"type": "reasoning", "text": "\n\n".join(texts)})
            case "function_call":
                _add_call(read, item, _required(item, "call_id", number))
            case "function_call_output":
                _add_result(read, _required(item, "call_id", number), _output(item, number))
            case "mcp_call":
                name = _required(item, "id", number)
                _add_call(read, item, name)
                error = item.get("error")
                _add_result(
                    read, name, call_error_text(error) if error else item.get("output") or "", failed=bool(error)
                )
            case "mcp_approval_response":
                _read_decision(read, item, number)
            case str() if kind in _DROPPED:
                continue
            case _:
                raise refusal(
                    "input", f"Item {number} of the type {str(kind)[:40]!r} cannot be read; there are {_ITEMS}."
                )
    return read


def _required(item: JsonObject, name: str, number: int) -> str:
    value = item.get(name)
    if isinstance(value, str) and value:
        return value
    raise refusal("input", f"Item {number} has no {name}; give it as a text.")


def _read_message(read: ResponseInput, item: JsonObject, number: int) -> None:
    role = item.get("role")
    if role not in (*_SYSTEM, "user", "assistant"):
        raise refusal(
            "input", f"Item {number} has the role {str(role)[:40]!r}; there are user, assistant and developer."
        )
    parts = _parts(item.get("content"), number)
    if role in _SYSTEM:
        if any(part["type"] != "text" for part in parts):
            raise refusal("input", f"Item {number} has the role {role!r} and holds more than text.")
        read.system.append("\n".join(part["text"] for part in parts))
    elif role == "user":
        read.messages.append({"role": "user", "content": parts})
    else:
        for part in parts:
            _add_to_assistant(read, part)


def _add_to_assistant(read: ResponseInput, part: JsonObject) -> None:
    if not read.messages or read.messages[-1]["role"] != "assistant" or "tool_calls" in read.messages[-1]:
        read.messages.append({"role": "assistant", "content": []})
    read.messages[-1]["content"].append(part)


def _add_call(read: ResponseInput, item: JsonObject, name: str) -> None:
    if not read.messages or read.messages[-1]["role"] != "assistant":
        read.messages.append({"role": "assistant", "content": []})
    function = {"name": str(item.get("name", "")), "arguments": item.get("arguments") or "{}"}
    read.messages[-1].setdefault("tool_calls", []).append({"id": name, "type": "function", "function": function})


def _add_result(read: ResponseInput, call: str, output: Any, *, failed: bool = False) -> None:
    result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
    if read.messages and read.messages[-1]["role"] == "tool":
        read.messages[-1]["content"].append(result)
    else:
        read.messages.append({"role": "tool", "content": [result]})


def _read_decision(read: ResponseInput, item: JsonObject, number: int) -> None:
    approve, reason = item.get("approve"), item.get("reason") or ""
    if not isinstance(approve, bool) or not isinstance(reason, str):
        raise refusal("input", f"Item {number} needs approve, which is true or false.")
    read.decisions[_required(item, "approval_request_id", number)] = ClientDecision(approve, reason[:2000])


def _output(item: JsonObject, number: int) -> str | list[JsonObject]:
    output = item.get("output")
    return output if isinstance(output, str) else _parts(output, number)


def _parts(content: Any, number: int) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts = objects_in(content)
    if parts is None:
        raise refusal("input", f"The content of item {number} is neither a text nor a list of parts.")
    return [_part(part, number) for part in parts]


def _part(part: Mapping[str, Any], number: int) -> JsonObject:
    match part.get("type"):
        case "input_text" | "output_text" | "text" if isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        case "refusal" if isinstance(part.get("refusal"), str):
            return {"type": "text", "text": part["refusal"]}
        case "input_image" if isinstance(part.get("image_url"), str):
            return {"type": "image_url", "image_url": {"url": part["image_url"]}}
        case "input_file" if isinstance(part.get("file_url"), str):
            return {"type": "file", "url": part["file_url"], "media_type": _media_type(part["file_url"])}
        case "input_file" if isinstance(part.get("file_data"), str):
            return {"type": "file", "file": {"file_data": part["file_data"], "filename": part.get("filename")}}
        case "input_audio" if as_object(part.get("input_audio")).get("data"):
            return dict(part)
        case "input_image" | "input_file":
            raise refusal(
                "input",
                f"A file of item {number} must be sent along as data or as an address: files are not kept here.",
            )
        case kind:
            raise refusal("input", f"Item {number} has a part of the type {str(kind)[:40]!r} that cannot be read.")


def _media_type(url: str) -> str:
    path = url.partition("?")[0].partition("#")[0].lower()
    return "application/pdf" if path.endswith(".pdf") else "application/octet-stream"


# --- listing ---------------------------------------------------------------------------------------------------------

_INPUT_IDS = {"message": "msg", "function_call_output": "fco", "function_call": "fc", "reasoning": "rs"}


def listed_item(item: JsonObject, response: str, number: int) -> JsonObject:
    """An input item in the form in which the API lists it: with an id, a status, and parts instead of a text."""
    kind = str(item.get("type") or "message")
    prefix = _INPUT_IDS.get(kind, "item")
    named = {"id": f"{prefix}_{response.removeprefix('resp_')}i{number}", "type": kind, "status": "completed"}
    shown = named | {name: value for name, value in item.items() if value is not None}
    if kind != "message" or not isinstance(shown.get("content"), str):
        return shown
    if shown.get("role") == "assistant":
        return shown | {"content": [{"type": "output_text", "text": shown["content"], "annotations": []}]}
    return shown | {"content": [{"type": "input_text", "text": shown["content"]}]}
