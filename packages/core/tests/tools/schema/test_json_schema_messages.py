"""What a model is told: short, exact, and how to mend it."""

from typing import Any

import pytest

from heald.tools.json_schema import JsonSchema
from heald.tools.schema_problem import Problem

SHAPES = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "required": ["kind", "radius"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "box"}, "sides": {"type": "array", "items": {"type": "number"}}},
            "required": ["kind", "sides"],
        },
    ]
}
KNOWN: dict[str, Any] = {"properties": {"path": {}, "content": {}}, "additionalProperties": False}

CASES: list[tuple[Any, Any, list[str]]] = [
    ({"type": "string"}, 42, ["42 is not a string"]),
    ({"type": "boolean"}, "yes", ['"yes" is not true or false']),
    ({"type": ["string", "null", "array"]}, 1, ["1 is not a string, null or an array"]),
    ({"enum": ["a", "b"]}, "x", ['"x" is not one of "a", "b"']),
    ({"const": "a"}, "x", ['"x" is not "a"']),
    ({"required": ["path", "content"]}, {}, ['"path" is required', '"content" is required']),
    (KNOWN, {"pth": 1}, ['"pth" is not known here, perhaps you mean "path"']),
    (KNOWN, {"Path": 1}, ['"Path" is not known here, perhaps you mean "path"']),
    (KNOWN, {"zz": 1}, ['"zz" is not known here, the properties are "path", "content"']),
    ({"additionalProperties": False}, {"a": 1}, ['"a" is not known here, no property is']),
    ({"properties": {"a": False}}, {"a": 1}, ["a: 1 is not allowed here"]),
    ({"properties": {"a": {"items": {"type": "null"}}}}, {"a": [None, 1]}, ["a[1]: 1 is not null"]),
    ({"minimum": 3}, 2, ["2 is less than 3"]),
    ({"maximum": 3}, 4, ["4 is greater than 3"]),
    ({"exclusiveMinimum": 3}, 3, ["3 is not greater than 3"]),
    ({"exclusiveMaximum": 3}, 3.5, ["3.5 is not less than 3"]),
    ({"multipleOf": 0.1}, 0.25, ["0.25 is not a multiple of 0.1"]),
    ({"minLength": 3}, "ab", ['"ab" has 2 characters, the least is 3']),
    ({"maxLength": 0}, "a", ['"a" has 1 character, the most is 0']),
    ({"pattern": "^a"}, "b", ['"b" does not match the pattern "^a"']),
    ({"minItems": 2}, [1], ["1 item, the least is 2"]),
    ({"maxItems": 1}, [1, 2], ["2 items, the most is 1"]),
    ({"uniqueItems": True}, ["a", "b", "a"], ['[2]: "a" is there already; each item may be there once']),
    ({"contains": {"const": 1}}, [2], ["0 items are of the kind it must contain, the least is 1"]),
    ({"contains": {"const": 1}, "maxContains": 1}, [1, 1], ["2 items are of the kind it must contain, the most is 1"]),
    ({"minProperties": 1}, {}, ["0 properties, the least is 1"]),
    ({"maxProperties": 0}, {"a": 1}, ["1 property, the most is 0"]),
    ({"propertyNames": {"const": "x"}}, {"a": 1}, ['as the name of a property, "a" is not "x"']),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ['"b" is required beside "a"']),
    ({"dependentRequired": {"a": ["b", "c"]}}, {"a": 1}, ['"b", "c" are required beside "a"']),
    ({"not": {"type": "string"}}, "x", ['"x" must not be a string']),
    ({"not": {"const": 1}}, 1, ["1 is what the schema rules out here"]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, ['"b" is required']),
    ({"allOf": [{"required": ["a"]}, {"required": ["a"]}]}, {}, ['"a" is required']),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", ['"x" is not an integer or null']),
    ({"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}]}, "x", ['"x" is not one of "a", "b", "c"']),
    ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "x", ['"x" is not one of "a", "b" or null']),
    ({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}, "x", ['"x" has 1 character, the least is 2']),
    ({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}], "$defs": {"n": {"type": "integer"}}}, "x",
     ['"x" is not an integer or null']),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3, ["3 fits the options 1, 2 of 2, exactly one must fit"]),
    (SHAPES, {"kind": "box"}, ['"sides" is required (the nearest of 2 options)']),
    (SHAPES, {"kind": "box", "sides": [1, "2"]}, ['sides[1]: "2" is not a number (the nearest of 2 options)']),
    (SHAPES, {"kind": "star"}, ['kind: "star" is not one of "circle", "box"']),
    (SHAPES, 5, ["5 is not an object"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), CASES)
def test_messages(schema: Any, value: Any, expected: list[str]) -> None:
    problems = JsonSchema(schema).problems(value)
    assert [
        f"{problem.where}: {problem.message}" if problem.where else problem.message for problem in problems
    ] == expected


@pytest.mark.parametrize("value", ["x" * 100_000, ["x" * 50] * 10_000, {"x" * 50_000: 1}, 10**4000, -(10**300)])
def test_a_large_value_is_cut(value: Any) -> None:
    (problem,) = JsonSchema({"type": "null"}).problems(value)
    assert len(problem.message) < 150
    assert problem.message.endswith("is not null")


def test_many_choices_are_cut() -> None:
    (problem,) = JsonSchema({"enum": list(range(10_000))}).problems("x")
    assert len(problem.message) < 300


def test_no_more_than_were_asked_for() -> None:
    schema = JsonSchema({"items": {"type": "string"}, "contains": {"const": "a"}})
    assert len(schema.problems([1] * 1000, limit=3)) == 3
    assert len(JsonSchema({"allOf": [{"required": [str(n)]} for n in range(50)]}).problems({}, limit=4)) == 4


def test_what_cannot_be_seen_is_escaped() -> None:
    (problem,) = JsonSchema({"additionalProperties": {"type": "null"}}).problems({"a\u202eb": "c\x1b\u2028\ud800d"})
    assert problem.where == "a\\u202eb"
    assert problem.message == '"c\\u001b\\u2028\\ud800d" is not null'


def test_a_problem_has_its_path() -> None:
    schema = JsonSchema({"properties": {"a": {"items": {"required": ["b"]}}}})
    assert schema.problems({"a": [{}]}) == [Problem(("a", 0), '"b" is required', value={})]
    assert schema.problems({"a": [{}]})[0].where == "a[0]"
