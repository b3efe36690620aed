"""Schemas that are none: refused in a sentence that says where."""

from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.tools.json_schema import JsonSchema
from heald.tools.schema_fault import SchemaFault

DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}

CASES: list[tuple[Any, str]] = [
    (5, "5 is not a schema; give an object."),
    ([], "[] is not a schema; give an object."),
    ("x", '"x" is not a schema; give an object.'),
    (None, "Null is not a schema; give an object."),
    ({"properties": {"a": {"type": "strin"}}}, 'properties.a.type: "strin" is not a JSON type; the types are string, '
     "integer, number, boolean, null, array, object."),
    ({"type": []}, "type: [] is not a JSON type; the types are string, integer, number, boolean, null, array, object."),
    ({"type": ["string", "string"]}, 'type: ["string","string"] is not a JSON type; the types are string, integer, '
     "number, boolean, null, array, object."),
    ({"properties": []}, "properties: [] is not an object."),
    ({"properties": {"a": 5}}, "properties.a: 5 is not a schema; give an object."),
    ({"required": "a"}, 'required: "a" is not an array.'),
    ({"required": [1]}, "required[0]: 1 is not a string."),
    ({"required": ["a", "a"]}, "required: holds a value twice."),
    ({"enum": "a"}, 'enum: "a" is not an array.'),
    ({"minLength": -1}, "minLength: -1 is less than 0."),
    ({"maxItems": 1.5}, "maxItems: 1.5 is not an integer."),
    ({"maxItems": True}, "maxItems: true is not an integer."),
    ({"minimum": "3"}, 'minimum: "3" is not a number.'),
    ({"exclusiveMinimum": True}, "exclusiveMinimum: true is not a number."),
    ({"multipleOf": 0}, "multipleOf: 0 is not greater than 0."),
    ({"uniqueItems": 1}, "uniqueItems: 1 is not true or false."),
    ({"pattern": 5}, "pattern: 5 is not a string."),
    ({"pattern": "["}, 'pattern: "[" is not a regular expression.'),
    ({"items": [{}]}, "items: [{}] is not a schema; give an object."),
    ({"prefixItems": {}}, "prefixItems: {} is not an array."),
    ({"allOf": []}, "allOf: 0 items, the least is 1."),
    ({"anyOf": [{}, 5]}, "anyOf[1]: 5 is not a schema; give an object."),
    ({"not": "x"}, 'not: "x" is not a schema; give an object.'),
    ({"dependentRequired": {"a": [1]}}, "dependentRequired.a[0]: 1 is not a string."),
    ({"dependencies": {"a": 5}}, "dependencies.a: 5 is not a schema; give an object."),
    ({"$defs": {"never used": {"type": 5}}}, "$defs.never used.type: 5 is not a JSON type; the types are string, "
     "integer, number, boolean, null, array, object."),
    ({"$ref": 5}, "$ref: 5 is not a string."),
    ({"$id": "a#b"}, '$id: "a#b" does not match the pattern "^[^#]*#?$".'),
    ({"$anchor": "a b"}, '$anchor: "a b" does not match the pattern "^[A-Za-z_][-A-Za-z0-9._]*$".'),
    ({"$vocabulary": {"a": 1}}, "$vocabulary.a: 1 is not true or false."),
    ({"$schema": 5}, "$schema: 5 is not a string."),
    ({"title": 5}, "title: 5 is not a string."),
    ({"examples": {}}, "examples: {} is not an array."),
    (DRAFT_4 | {"properties": {"a": True}}, "properties.a: true is not an object."),
    (DRAFT_4 | {"required": []}, "required: 0 items, the least is 1."),
    (DRAFT_4 | {"exclusiveMinimum": True}, '"minimum" is required.'),
    (DRAFT_4 | {"minLength": 1.0}, "minLength: 1.0 is not an integer."),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "reason"), CASES)
def test_refused_with_place_and_reason(schema: Any, reason: str) -> None:
    with pytest.raises(SchemaFault) as caught:
        JsonSchema(schema)
    assert str(caught.value) == reason


def test_what_a_stranger_wrote_is_shown_without_its_controls() -> None:
    with pytest.raises(SchemaFault) as caught:
        JsonSchema({"properties": {"a\x1b[31m\u202e": {"type": "x\x9b\u2028"}}})
    assert str(caught.value).isprintable()


def test_what_a_stranger_wrote_is_cut() -> None:
    with pytest.raises(SchemaFault) as caught:
        JsonSchema({"properties": {"a" * 10_000: {"type": "b" * 10_000}}})
    assert len(str(caught.value)) < 500


class Unit(StrEnum):
    C = "C"


def test_a_schema_may_be_written_in_python() -> None:
    """Tuples and enums are written to JSON as lists and texts, so they are taken as such."""
    schema: Any = {"properties": {"unit": {"enum": (Unit.C, "F")}}, "required": ("unit",)}
    assert JsonSchema(schema).is_valid({"unit": "C"})
    assert not JsonSchema(schema).is_valid({"unit": "K"})
    with pytest.raises(SchemaFault, match="that JSON does not have"):
        JsonSchema({"enum": [object()]})


def test_a_schema_is_what_it_was() -> None:
    schema: dict[str, Any] = {"enum": ["a"], "properties": {}}
    compiled = JsonSchema(schema)
    schema["enum"].append("b")
    assert not compiled.is_valid("b")


KEYWORDS = st.sampled_from(
    ["type", "enum", "const", "properties", "items", "prefixItems", "allOf", "not", "if", "then", "$ref", "$id",
     "$defs", "#", "$anchor", "$dynamicRef", "$dynamicAnchor", "required", "pattern", "patternProperties",
     "unevaluatedItems", "$schema", "minContains", "contains", "multipleOf", "additionalProperties", "x"]
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=scaled(500), deadline=None)
@given(JUNK, JUNK)
def test_whatever_it_is(schema: Any, value: Any) -> None:
    """It is refused in a sentence, or it can be used."""
    try:
        compiled = JsonSchema(schema)
    except SchemaFault:
        return
    assert compiled.is_valid(value) == (not compiled.problems(value))
