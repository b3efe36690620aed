"""unevaluatedProperties and unevaluatedItems: what the other keywords looked at, through whatever they are put in."""

from typing import Any

import pytest

from heald.tools.json_schema import JsonSchema

A: dict[str, Any] = {"properties": {"a": {}}}
DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}

PROPERTIES: list[tuple[Any, list[Any], list[Any]]] = [
    (A, [{"a": 1}, {}, 5], [{"b": 1}, {"a": 1, "b": 1}]),
    ({"patternProperties": {"^a": {}}}, [{"ab": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{"b": 1}], [{"b": "x"}]),
    ({"allOf": [A, {"properties": {"b": {}}}]}, [{"a": 1, "b": 1}], [{"c": 1}]),
    ({"anyOf": [A, {"properties": {"b": {"type": "null"}}}]}, [{"a": 1, "b": None}, {"a": 1}], [{"a": 1, "b": 1}]),
    ({"oneOf": [{**A, "required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}], [{"a": 1, "c": 1}, {"b": 1}]),
    ({"not": {"not": A}}, [{}], [{"a": 1}]),
    ({"if": {**A, "required": ["a"]}, "then": {"properties": {"b": {}}}, "else": {"properties": {"c": {}}}},
     [{"a": 1, "b": 1}, {"c": 1}], [{"b": 1}, {"a": 1, "c": 1}]),
    ({"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}}, [{"a": 1, "b": 1}], [{"b": 1}]),
    ({"$ref": "#/$defs/x", "$defs": {"x": A}}, [{"a": 1}], [{"b": 1}]),
    ({"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", **A}}}, [{"a": 1}], [{"b": 1}]),
    ({"allOf": [{"unevaluatedProperties": True}]}, [{"a": 1}], []),
    ({"anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"allOf": [{"if": True, "then": A}]}}}, [{"a": 1}], [{"b": 1}]),
    ({"propertyNames": {"minLength": 1}, "required": ["a"]}, [], [{"a": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), PROPERTIES)
def test_properties(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    _hold({**schema, "unevaluatedProperties": False}, valid, invalid)


ITEMS: list[tuple[Any, list[Any], list[Any]]] = [
    ({}, [[], "x"], [[1]]),
    ({"prefixItems": [{}]}, [[1]], [[1, 2]]),
    ({"items": {"type": "integer"}}, [[1, 2]], [["x"]]),
    ({"contains": {"type": "string"}}, [["a", "b"]], [["a", 1]]),
    ({"contains": {"type": "string"}, "prefixItems": [{}]}, [[1, "a"]], [["a", 1]]),
    ({"allOf": [{"prefixItems": [{}, {}]}, {"prefixItems": [{}]}]}, [[1, 2]], [[1, 2, 3]]),
    ({"anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [{}, {"const": 2}]}]}, [[1], [0, 2]], [[1, 3]]),
    ({"if": {"prefixItems": [{"const": 1}]}, "then": {"prefixItems": [{}, {}]}}, [[1, 2]], [[2], [2, 2]]),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"prefixItems": [{}]}}}, [[1]], [[1, 2]]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), ITEMS)
def test_items(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    _hold({**schema, "unevaluatedItems": False}, valid, invalid)


def test_in_2019() -> None:
    """jsonschema-rs counts what `contains` found as evaluated in 2019-09 too, which came with 2020-12."""
    _hold({**DRAFT_2019, "contains": {"type": "string"}, "unevaluatedItems": False}, [["a"]], [["a", 1]])
    _hold({**DRAFT_2019, "items": [{}], "unevaluatedItems": False}, [["a"]], [["a", "b"]])
    _hold({**DRAFT_2019, "items": [{}], "additionalItems": {}, "unevaluatedItems": False}, [["a", "b"]], [])


def test_what_is_left_may_have_a_schema_of_its_own() -> None:
    schema = JsonSchema({**A, "unevaluatedProperties": {"type": "integer"}})
    assert schema.is_valid({"a": "x", "b": 1})
    assert [(problem.where, problem.message) for problem in schema.problems({"b": "x"})] == [
        ("b", '"x" is not an integer')
    ]


def test_what_is_left_is_reported_only_when_all_else_is_right() -> None:
    schema = JsonSchema({"properties": {"a": {"type": "integer"}}, "required": ["c"], "unevaluatedProperties": False})
    assert [problem.message for problem in schema.problems({"a": 1, "b": 1})] == ['"c" is required']
    assert [problem.message for problem in schema.problems({"a": 1, "c": 1})] == ['"c" is not known here']
    assert [problem.message for problem in JsonSchema({"unevaluatedItems": False}).problems([1])] == [
        "1 is one item too many"
    ]


def _hold(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    compiled = JsonSchema(schema)
    for value in valid:
        assert compiled.is_valid(value), value
        assert compiled.problems(value) == []
    for value in invalid:
        assert not compiled.is_valid(value), value
        assert compiled.problems(value), value
