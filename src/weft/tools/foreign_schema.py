"""Checks the input schemas of tools that others define: MCP servers and clients. They are untrusted."""

from typing import Any

from weft.core.json import as_list, as_object, depth_of, encode
from weft.tools.json_schema import compile_schema
from weft.tools.schema_budget import SchemaFault

MAX_SCHEMA = 64 * 1024
"""Maximum bytes of a schema as JSON."""
_MAX_DEPTH = 60
_MAX_FAULT = 200


def find_schema_problem(schema: Any) -> str:
    """Return why a schema cannot be used, as the end of a sentence about its tool; empty if it can be."""
    if as_object(schema).get("type") != "object":
        return "has an input schema that is not of type object"
    if depth_of(schema) > _MAX_DEPTH or len(encode(schema)) > MAX_SCHEMA:
        return "has an input schema that is too large"
    if _refers_outside(schema):
        return "has an input schema that refers to another document"
    try:
        compile_schema(schema)
    except SchemaFault as fault:
        text = " ".join(str(fault).rstrip(".").split())
        return f"has an input schema that is not valid ({text if len(text) <= _MAX_FAULT else text[:_MAX_FAULT] + '…'})"
    return ""


def _refers_outside(schema: Any) -> bool:
    pending = [schema]
    while pending:
        item = pending.pop()
        for key, value in as_object(item).items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str) and value[:1] != "#":
                return True
        pending += [*as_object(item).values(), *as_list(item)]
    return False
