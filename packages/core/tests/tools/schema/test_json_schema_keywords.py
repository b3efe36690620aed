"""Each keyword by hand: what it takes and what it refuses, in the drafts where that differs."""

from typing import Any

import pytest

from heald.tools.json_schema import JsonSchema

DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_6 = {"$schema": "http://json-schema.org/draft-06/schema#"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}


CASES: list[tuple[Any, list[Any], list[Any]]] = [
    (True, [1, None, {}], []),
    (False, [], [1, None, {}]),
    ({}, [1, None, {}], []),
    ({"type": "string"}, ["", "a"], [1, None, [], {}, True]),
    ({"type": "integer"}, [0, -1, 1.0, 1e20, 10**40], [0.5, True, "1", None]),
    ({"type": "number"}, [0, 0.5, 10**40], [True, "1", None]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": "null"}, [None], [0, False, ""]),
    ({"type": "array"}, [[]], [{}, "[]"]),
    ({"type": "object"}, [{}], [[], "{}"]),
    ({"type": ["string", "null"]}, ["", None], [1, []]),
    ({"enum": ["a", 1, None, [True]]}, ["a", 1, 1.0, None, [True]], ["b", True, [1], 2]),
    ({"enum": ["a", "b"]}, ["a"], ["c", 1, None, ["a"], {}]),
    ({"enum": []}, [], [1]),
    ({"const": 1}, [1, 1.0], [True, "1", 2]),
    ({"const": True}, [True], [1, 1.0]),
    ({"const": {"a": [1, {"b": 2}]}}, [{"a": [1.0, {"b": 2}]}], [{"a": [1, {"b": True}]}, {"a": [1]}, {}]),
    ({"const": 2**53 + 1}, [2**53 + 1], [2**53, float(2**53)]),
    ({"multipleOf": 2}, [0, 4, -2, 4.0, "x", True], [1, 3.0, 2.5]),
    ({"multipleOf": 0.1}, [0.3, 1.1, 0.7, 1, 10**30, 1e20], [0.25, 1.05]),
    ({"multipleOf": 0.01}, [19.99, 4.35, 8.61], [1.005]),
    ({"multipleOf": 1e-300}, [1e300, 5], []),
    ({"multipleOf": 0.123456789}, [], [1e308]),
    ({"minimum": 2}, [2, 2.5, "x", True, 10**400], [1, 1.9, -(10**400)]),
    ({"maximum": 2}, [2, 1.5, "x", True], [3, 2.1, 10**400]),
    ({"maximum": 2**53}, [2**53], [2**53 + 1]),
    ({"exclusiveMinimum": 2}, [3, 2.1], [2, 2.0]),
    ({"exclusiveMaximum": 2}, [1, 1.9], [2, 2.0]),
    ({"minLength": 2}, ["ab", "😀é", 1], ["", "a", "😀"]),
    ({"maxLength": 2.0}, ["ab", "😀😀", []], ["abc"]),
    ({"pattern": "b"}, ["abc", 1], ["ac", ""]),
    ({"items": {"type": "integer"}}, [[], [1, 2], "x"], [["a"], [1, "a"]]),
    ({"items": False}, [[]], [[1]]),
    ({"prefixItems": [{"type": "string"}, {}]}, [[], ["a"], ["a", 1, 2]], [[1]]),
    ({"prefixItems": [{}], "items": {"type": "string"}}, [[1], [1, "a"]], [[1, 2]]),
    ({"prefixItems": [{}], "items": False}, [[1]], [[1, 2]]),
    ({"additionalItems": False, "prefixItems": [{}]}, [[1, 2]], []),
    ({"contains": {"const": 1}}, [[1], [0, 1], "x"], [[], [0]]),
    ({"contains": {"const": 1}, "minContains": 2}, [[1, 1]], [[1], []]),
    ({"contains": {"const": 1}, "minContains": 0}, [[], [2]], []),
    ({"contains": {"const": 1}, "maxContains": 1}, [[1, 2]], [[1, 1], []]),
    ({"minContains": 2, "maxContains": 1}, [[1]], []),
    ({"uniqueItems": True}, [[], [1, 2], [1, True], [0, False], [[1], [True]], "aa"], [[1, 1.0], [[], []]]),
    ({"uniqueItems": True}, [[{"a": 1}, {"a": 2}]], [[{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"minItems": 1}, [[1], "x"], [[]]),
    ({"maxItems": 1}, [[1], []], [[1, 2]]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x"}, {"b": 1}, 1], [{"a": 1}]),
    ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
    ({"patternProperties": {"^a": {"type": "string"}}}, [{"b": 1}, {"ab": "x"}], [{"ab": 1}]),
    ({"additionalProperties": False, "properties": {"a": {}}}, [{}, {"a": 1}], [{"b": 1}, {"a": 1, "b": 1}]),
    ({"additionalProperties": False, "patternProperties": {"^a": {}}}, [{"ab": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "integer"}, "properties": {"a": {}}}, [{"a": "x", "b": 1}], [{"b": "x"}]),
    ({"properties": {"a": {"minimum": 2}}, "patternProperties": {"a": {"maximum": 3}}}, [{"a": 2}], [{"a": 1}]),
    ({"properties": {"a": {"minimum": 2}}, "patternProperties": {"a": {"maximum": 3}}}, [{"a": 3}], [{"a": 4}]),
    ({"propertyNames": {"maxLength": 1}}, [{}, {"a": 1}], [{"ab": 1}]),
    ({"propertyNames": False}, [{}], [{"a": 1}]),
    ({"required": ["a", "b"]}, [{"a": None, "b": 1}, "x"], [{}, {"a": 1}]),
    ({"minProperties": 1}, [{"a": 1}, []], [{}]),
    ({"maxProperties": 1}, [{"a": 1}, {}], [{"a": 1, "b": 2}]),
    ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}, 1], [{"a": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{}, {"a": 1, "b": 1}, 1], [{"a": 1}]),
    ({"dependencies": {"a": ["b"]}}, [{}, {"c": 1}, {"a": 1, "b": 1}], [{"a": 1}, {"a": 1, "c": 1}]),
    ({"dependencies": {"c": {"maxProperties": 1}}}, [{}, {"c": 1}, {"d": 1, "e": 1}], [{"c": 1, "d": 1}]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, ["x", 2], [1]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5], [3, 1.5]),
    ({"not": {"type": "string"}}, [1], ["x"]),
    ({"if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"multipleOf": 2}}, [2, 20], [3, 12]),
    ({"if": {"minimum": 10}, "then": {"multipleOf": 10}}, [3, 20], [12]),
    ({"then": False, "else": False}, [1], []),
    ({"format": "email", "contentEncoding": "base64", "contentMediaType": "application/json"}, ["no", 1], []),
    ({"nullable": True, "example": 5, "x-mine": [], "type": "string"}, ["a"], [None]),
    ({"$schema": "https://example.com/mine", "prefixItems": [{"type": "string"}]}, [["a"]], [[1]]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES)
def test_2020_12(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    _hold(schema, valid, invalid)


OTHERS: list[tuple[Any, list[Any], list[Any]]] = [
    (DRAFT_4 | {"type": "integer"}, [1], [1.0, True]),
    (DRAFT_4 | {"minimum": 2, "exclusiveMinimum": True}, [3], [2, 1]),
    (DRAFT_4 | {"minimum": 2, "exclusiveMinimum": False}, [2], [1]),
    (DRAFT_4 | {"maximum": 2, "exclusiveMaximum": True}, [1], [2]),
    (DRAFT_4 | {"const": 1, "contains": {"type": "string"}, "propertyNames": False}, [2, [1], {"a": 1}], []),
    (DRAFT_4 | {"items": [{"type": "string"}], "additionalItems": False}, [["a"], []], [[1], ["a", 1]]),
    (DRAFT_4 | {"additionalProperties": False}, [{}], [{"a": 1}]),
    (DRAFT_6 | {"const": 1, "if": True, "then": False}, [1], [2]),
    (DRAFT_7 | {"items": [{"type": "string"}], "additionalItems": {"type": "null"}}, [["a", None]], [["a", 1]]),
    (DRAFT_7 | {"items": {"type": "string"}, "additionalItems": False}, [["a", "b"]], [[1]]),
    (DRAFT_7 | {"prefixItems": [False], "dependentRequired": {"a": ["b"]}}, [[1], {"a": 1}], []),
    (DRAFT_7 | {"contains": {"const": 1}, "minContains": 0}, [[1]], [[]]),
    (DRAFT_7 | {"dependencies": {"a": ["b"]}}, [{"a": 1, "b": 1}], [{"a": 1}]),
    (DRAFT_7 | {"unevaluatedProperties": False}, [{"a": 1}], []),
    (DRAFT_7 | {"format": "date"}, ["tomorrow"], []),
    (DRAFT_2019 | {"items": [{"type": "string"}], "additionalItems": False}, [["a"]], [["a", 1]]),
    (DRAFT_2019 | {"contains": {"const": 1}, "minContains": 2}, [[1, 1]], [[1]]),
    (DRAFT_2019 | {"prefixItems": [False]}, [[1]], []),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), OTHERS)
def test_other_drafts(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    _hold(schema, valid, invalid)


def test_a_schema_may_state_which_draft_its_parts_are_in() -> None:
    old = {"$id": "http://example.com/old", **DRAFT_7, "items": [{"type": "string"}]}
    _hold(
        {"properties": {"a": old, "b": {"prefixItems": [{"type": "null"}]}}}, [{"a": ["x"], "b": [None]}], [{"a": [1]}]
    )


def _hold(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    compiled = JsonSchema(schema)
    for value in valid:
        assert compiled.is_valid(value), value
        assert compiled.problems(value) == []
    for value in invalid:
        assert not compiled.is_valid(value), value
        assert compiled.problems(value), value
