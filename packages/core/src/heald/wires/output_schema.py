"""Writes the schema of a typed answer in the form that each API accepts, and decides how it is requested.

OpenAI and Anthropic compile a schema to a grammar. They refuse open objects, and keywords that a grammar cannot hold;
such a keyword becomes a part of the description. Other servers forbid tool calls while a schema is in force: there the
schema stands in the instructions as long as tools are offered. The answer is validated in either case.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

from heald.core.json import JsonObject, as_object, encode_text
from heald.wires.request import TurnRequest

OutputMode = Literal["with_tools", "without_tools", "json_object", "prompt"]
_CLAUDE_WIRES = ("messages", "bedrock-messages", "vertex-messages", "converse")
_BY_WIRE: Mapping[str, OutputMode] = dict.fromkeys(("responses", *_CLAUDE_WIRES), "with_tools")
_NO_CALLS_WITH_SCHEMA = ("gemini-1", "gemini-2")
"""Prefixes of Gemini models that refuse a schema beside function declarations."""
EMPTY_OBJECT: JsonObject = {"type": "object", "properties": {}}
WRAPPED = "value"
"""The key of an answer that is not an object: the APIs want an object as root."""


def output_mode(request: TurnRequest, wire: str) -> OutputMode:
    """Return how the endpoint accepts a schema."""
    mode = request.quirks.typed_output
    if mode != "auto":
        return mode
    if wire == "gemini":
        return "without_tools" if request.model.startswith(_NO_CALLS_WITH_SCHEMA) else "with_tools"
    return _BY_WIRE.get(wire, "without_tools")


def plan_output(request: TurnRequest, wire: str) -> TurnRequest:
    """Return the request as the endpoint accepts it: with the schema, or with the schema in the instructions.

    With `tool_choice` "none" the model answers at once; an endpoint that accepts no schema beside tools then gets
    the schema and no tools.
    """
    settings = request.settings
    schema = settings.output_schema
    if schema is None:
        return request
    mode = output_mode(request, wire)
    if mode == "without_tools" and settings.tool_choice == "none":
        request = msgspec.structs.replace(request, tools=[])
    is_enforced = mode == "with_tools" or (mode != "prompt" and not request.tools)
    if is_enforced and wire in _CLAUDE_WIRES and anthropic_schema(schema) is None:
        is_enforced = False
    if is_enforced and mode != "json_object":
        return request
    note = f"Your final answer is nothing but JSON that fits this JSON Schema: {encode_text(schema)}"
    settings = msgspec.structs.replace(
        settings,
        system=f"{settings.system}\n\n{note}" if settings.system else note,
        output_schema=schema if is_enforced else None,
    )
    return msgspec.structs.replace(request, settings=settings)


class _Rules(msgspec.Struct, frozen=True):
    keywords: Mapping[str, frozenset[str]]
    """The keywords that the API accepts, by type."""
    formats: frozenset[str]
    all_required: bool
    """Every property is required; an optional one may be null."""
    recursion: bool
    type_lists: bool


_FORMATS = frozenset(("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"))
_NUMBER = frozenset(("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"))
_OPENAI = _Rules(
    keywords={
        "string": frozenset(("pattern", "format")),
        "number": _NUMBER,
        "integer": _NUMBER,
        "array": frozenset(("minItems", "maxItems")),
    },
    formats=_FORMATS,
    all_required=True,
    recursion=True,
    type_lists=True,
)
_ANTHROPIC = _Rules(
    keywords={"string": frozenset(("format",)), "array": frozenset(("minItems",))},
    formats=_FORMATS | {"uri"},
    all_required=False,
    recursion=False,
    type_lists=False,
)
_COMMON = frozenset(
    ("type", "enum", "const", "anyOf", "$ref", "description", "title", "properties", "required", "items")
)
_DROPPED = frozenset(("default", "examples", "additionalProperties", "$defs", "$schema", "$id", "discriminator"))
_IMPOSSIBLE = frozenset(("not", "if", "then", "else", "patternProperties", "prefixItems", "dependentSchemas"))


class _NoGrammar(Exception):
    """The schema cannot be written with the rules of the API."""


def openai_schema(schema: JsonObject) -> tuple[JsonObject, bool]:
    """Return the schema for OpenAI's APIs and whether it is strict. A schema with open objects cannot be strict."""
    try:
        return _write_root(schema, _OPENAI), True
    except _NoGrammar:
        return (schema if _is_object(schema) else _wrap(schema)), False


def strict_tool_schema(schema: JsonObject) -> JsonObject | None:
    """Return the schema of a strict tool for OpenAI's APIs; None if it cannot be strict."""
    written, is_strict = openai_schema(EMPTY_OBJECT | schema)
    return written if is_strict else None


def anthropic_schema(schema: JsonObject) -> JsonObject | None:
    """Return the schema for Anthropic's API; None if the API cannot enforce it."""
    try:
        return _write_root(schema, _ANTHROPIC)
    except _NoGrammar:
        return None


def _is_object(schema: JsonObject) -> bool:
    return schema.get("type") == "object" and "anyOf" not in schema and "oneOf" not in schema


def _wrap(schema: JsonObject) -> JsonObject:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    root: JsonObject = {
        "type": "object",
        "properties": {WRAPPED: inner},
        "required": [WRAPPED],
        "additionalProperties": False,
    }
    return root | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


def _write_root(schema: JsonObject, rules: _Rules) -> JsonObject:
    root = schema if _is_object(schema) else _wrap(schema)
    definitions = as_object(root.get("$defs"))
    if definitions and not rules.recursion:  # references that are not recursive are inlined before
        raise _NoGrammar
    written = _write_node(root, rules)
    if not definitions:
        return written
    return written | {"$defs": {name: _write_node(as_object(node), rules) for name, node in definitions.items()}}


def _write_node(node: JsonObject, rules: _Rules) -> JsonObject:
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    if "allOf" in node and len(node["allOf"]) == 1:
        rest = {key: value for key, value in node.items() if key != "allOf"}
        node = as_object(node["allOf"][0]) | rest
    if _IMPOSSIBLE & node.keys() or "allOf" in node:
        raise _NoGrammar
    kinds = node.get("type")
    if isinstance(kinds, list) and not (rules.type_lists and set(cast("list[str]", kinds)) <= {"string", "null"}):
        return _write_node(_split_types(node, cast("list[str]", kinds)), rules)
    options = node.get("anyOf") or node.get("oneOf")
    if options:
        rest = {key: node[key] for key in ("description", "title") if key in node}
        return {"anyOf": [_write_node(as_object(option), rules) for option in options]} | rest
    if "enum" not in node and "const" not in node and not isinstance(kinds, str | list):
        raise _NoGrammar  # any value
    written = _with_notes(node, kinds if isinstance(kinds, str) else "", rules)
    if kinds == "object":
        written |= _write_object(node, rules)
    if kinds == "array":
        if "items" not in node:
            raise _NoGrammar
        written["items"] = _write_node(as_object(node["items"]), rules)
    return written


def _split_types(node: JsonObject, kinds: list[str]) -> JsonObject:
    about = {key: node[key] for key in ("description", "title") if key in node}
    rest = {key: value for key, value in node.items() if key not in ("type", "description", "title")}
    options = [{"type": kind} if kind == "null" else {"type": kind} | rest for kind in kinds]
    return {"anyOf": options} | about


def _with_notes(node: JsonObject, kind: str, rules: _Rules) -> JsonObject:
    """Return the node without its children. Keywords that the API refuses become a part of the description."""
    supported = rules.keywords.get(kind, frozenset())
    written: JsonObject = {}
    notes: list[str] = []
    for key, value in node.items():
        is_known_format = key != "format" or value in rules.formats
        is_known_count = rules.type_lists or key != "minItems" or value in (0, 1)
        if key in _COMMON or (key in supported and is_known_format and is_known_count):
            written[key] = value
        elif key not in _DROPPED:
            notes.append(f"{key}: {encode_text(value)}")
    if notes:
        about = written.get("description")
        written["description"] = "\n".join([*([about] if about else []), f"({', '.join(notes)})"])
    return written


def _write_object(node: JsonObject, rules: _Rules) -> JsonObject:
    properties = as_object(node.get("properties"))
    is_open = node.get("additionalProperties", "properties" not in node) is not False
    if is_open and ("properties" not in node or isinstance(node.get("additionalProperties"), dict)):
        raise _NoGrammar
    required = cast("list[str]", node.get("required") or [])
    written: JsonObject = {}
    for name, inner in properties.items():
        child = _write_node(as_object(inner), rules)
        is_optional = rules.all_required and name not in required
        written[name] = {"anyOf": [child, {"type": "null"}]} if is_optional and not accepts_null(inner) else child
    names = list(properties) if rules.all_required else required
    return {"properties": written, "required": names, "additionalProperties": False}


def accepts_null(node: Any) -> bool:
    """Return whether a schema accepts null, as far as its own keywords show."""
    schema = as_object(node)
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    if None in (schema.get("enum") or ()) or ("const" in schema and schema["const"] is None):
        return True
    return any(accepts_null(option) for key in ("anyOf", "oneOf") for option in schema.get(key) or ())
