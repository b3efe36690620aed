"""The published schema of events: well formed, and true of what is really written."""

import json
from typing import Any, cast

import pytest
from core_values import event, payload_kinds, payloads_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heald.core.envelope import PAYLOADS, event_schema
from heald.core.json import encode
from heald.core.payload import Payload

Schema = dict[str, Any]
SCHEMA = event_schema()
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KNOWN = {
    "$ref", "$schema", "$defs", "title", "description", "default", "type", "properties", "required", "items", "enum",
    "const", "anyOf", "oneOf", "discriminator", "additionalProperties",
}  # fmt: skip


def matches(value: Any, schema: Schema) -> bool:
    """Whether a value satisfies a schema, for the keywords that ours uses."""
    assert set(schema) <= KNOWN, f"teach this test about {set(schema) - KNOWN}"
    if "$ref" in schema:
        return matches(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "type" in schema and not _is_of_type(value, schema["type"]):
        return False
    if "anyOf" in schema and not any(matches(value, option) for option in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(matches(value, option) for option in schema["oneOf"]) != 1:
        return False
    if isinstance(value, list):
        return all(matches(item, schema.get("items", {})) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        return _object_matches(cast(Schema, value), schema)
    return True


def _is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _object_matches(value: Schema, schema: Schema) -> bool:
    properties = schema.get("properties", {})
    are_valid = all(matches(value[name], subschema) for name, subschema in properties.items() if name in value)
    return are_valid and all(name in value for name in schema.get("required", ()))


def test_the_schema_is_json_and_names_every_type_once() -> None:
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    names = [variant["properties"]["type"]["const"] for variant in SCHEMA["oneOf"]]
    assert sorted(names) == sorted(PAYLOADS)


def test_every_reference_is_defined() -> None:
    pending: list[Any] = [SCHEMA]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            node = cast(Schema, node)
            if isinstance(target := node.get("$ref"), str):
                assert target.removeprefix("#/$defs/") in SCHEMA["$defs"]
            pending += node.values()
        elif isinstance(node, list):
            pending += cast("list[Any]", node)


@pytest.mark.parametrize(("name", "kind"), payload_kinds)
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_written_event_matches_the_schema(name: str, kind: type[Payload], data: st.DataObject) -> None:
    written: Any = json.loads(encode(event(data.draw(payloads_of(kind)))))
    assert matches(written, SCHEMA)
    assert not matches(written | {"layer": "elsewhere"}, SCHEMA)
    assert not matches({key: value for key, value in written.items() if key != "seq"}, SCHEMA)
