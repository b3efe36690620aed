"""Writes the TypeScript types of events from docs/events.schema.json, for clients/typescript and the page.

`make docs` runs it; a test checks that the file is up to date.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs" / "events.schema.json"
TYPES = ROOT / "clients" / "typescript" / "src" / "events.generated.ts"

_HEAD = """/** The payloads of events. Made from docs/events.schema.json by scripts/make_event_types.py. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
"""
_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types_text() -> str:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    definitions = [interface_text(name, kind) for name, kind in sorted(schema["$defs"].items())]
    events = {event["properties"]["type"]["const"]: event["properties"] for event in schema["oneOf"]}
    layers = " | ".join(
        f'"{layer}"'
        for layer in dict.fromkeys(properties_of_event["layer"]["const"] for properties_of_event in events.values())
    )
    payloads = [f"  {name}: {_type(properties['data'])};" for name, properties in events.items()]
    return "\n".join(
        [
            _HEAD,
            *definitions,
            f"export type Layer = {layers};\n",
            "/** The payload of each type of event. */",
            *("export interface Payloads {", *payloads, "}", ""),
        ]
    )


def interface_text(name: str, kind: dict[str, Any]) -> str:
    required = set(kind.get("required", ()))
    fields = kind.get("properties", {})
    if not fields:
        return f"export type {name} = JsonObject;\n"
    lines = [
        f"  {field}{'' if field in required else '?'}: {_type(field_schema)};" for field, field_schema in fields.items()
    ]
    return "\n".join([f"export interface {name} {{", *lines, "}", ""])


def _type(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of a schema; what a schema leaves open is any JSON."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_type(option) for option in schema[key]))
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    match schema.get("type"):
        case "array" if "minItems" in schema and schema["minItems"] == schema.get("maxItems"):
            return f"[{', '.join([_type(schema['items'])] * schema['minItems'])}]"
        case "array":
            item = _type(schema.get("items", {}))
            return f"({item})[]" if "|" in item else f"{item}[]"
        case "object":
            values = schema.get("additionalProperties")
            return f"Record<string, {_type(values)}>" if isinstance(values, dict) and values else "JsonObject"
        case str(name):
            return _SIMPLE[name]
        case _:
            return "Json"


def main() -> None:
    TYPES.write_text(types_text(), "utf-8")


if __name__ == "__main__":
    main()
