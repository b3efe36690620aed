"""Schemas and values that mean harm: every check ends, in a sentence if need be. Time limits are generous."""

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from weft.schema import Schema, SchemaFault


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 60


def nested(levels: int, inner: Any = 1) -> Any:
    value = inner
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_nest_of_references_with_2_to_the_60_ways(keyword: str) -> None:
    names = {f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(60)}
    schema = Schema({"$ref": "#/$defs/a0", "$defs": {**names, "a60": {"type": "integer"}}})
    assert schema.is_valid(1) == (keyword != "oneOf")
    assert not schema.is_valid("x")
    assert schema.problems("x")


def test_a_nest_of_references_is_explained_once() -> None:
    names = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(60)}
    schema = Schema({"$ref": "#/$defs/a0", "$defs": {**names, "a60": {"required": ["a", "b"]}}})
    assert [problem.message for problem in schema.problems({})] == ['"a" is required', '"b" is required']


def test_a_schema_that_holds_itself_twice_and_a_deep_value() -> None:
    twice = {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "b": {"type": "string"}}}
    value: Any = {"b": 1}
    for _ in range(100):
        value = {"a": value}
    assert not Schema(twice).is_valid(value)
    assert Schema(twice).problems(value)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_nest_of_unevaluated(keyword: str) -> None:
    schema: Any = {"properties": {"a": {}}}
    for _ in range(50):
        schema = {keyword: [schema], "unevaluatedProperties": False}
    assert Schema(schema).is_valid({"a": 1})
    assert not Schema(schema).is_valid({"b": 1})


def test_a_nest_of_contains() -> None:
    schema: Any = {"const": 1}
    for _ in range(30):
        schema = {"contains": schema, "unevaluatedItems": False}
    assert Schema(schema).is_valid(nested(30))
    assert not Schema(schema).is_valid(nested(30, 2))


def test_resources_that_refer_to_each_other_in_every_order() -> None:
    def resource(number: int) -> Any:
        others = [{"$ref": f"r{other}"} for other in range(9) if other != number]
        return {
            "$id": f"r{number}",
            "$dynamicAnchor": "n",
            "anyOf": [*others, {"properties": {"a": {"$dynamicRef": "#n"}}, "required": ["z"]}],
        }

    schema = Schema({"$id": "http://a.test/", "$ref": "r0", "$defs": {f"r{n}": resource(n) for n in range(9)}})
    assert schema.is_valid({"a": {"a": 1}}) in (True, False)
    schema.problems({"a": {"a": 1}})


def test_a_schema_nested_too_deeply() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(SchemaFault, match="nested too deeply"):
        Schema(schema)
    for keyword in ("const", "default"):
        try:
            assert not Schema({keyword: nested(100_000), "type": "string"}).is_valid(1)
        except SchemaFault as fault:
            assert "nested too deeply" in str(fault)  # noqa: PT017 - either will do


def test_a_schema_with_very_many_parts() -> None:
    with pytest.raises(SchemaFault, match="too large"):
        Schema({"allOf": [{}] * 60_000})


def test_a_long_chain_of_references() -> None:
    names = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(3_000)}
    schema = Schema({"$ref": "#/$defs/a0", "$defs": {**names, "a3000": {}}})
    assert not schema.is_valid(1)
    assert "nested too deeply" in schema.problems(1)[0].message


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"$ref": "#"}},
        {"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        {"enum": [[1]]},
        {"uniqueItems": True, "type": "string"},
        {"const": 1},
        {"contains": {"$ref": "#"}, "unevaluatedItems": False},
        {"type": "string"},
    ],
)
def test_a_value_nested_too_deeply(schema: Any) -> None:
    deep = nested(100_000)
    assert not Schema(schema).is_valid(deep)
    assert Schema(schema).problems(deep)


def test_a_value_as_deep_as_arguments_may_be_can_be_checked() -> None:
    """The strict parser lets 200 levels through."""
    schema = Schema({"type": ["array", "integer"], "items": {"$ref": "#"}})
    assert schema.is_valid(nested(200))
    assert not schema.is_valid(nested(200, "x"))


def test_the_limit_of_the_interpreter_is_not_reached_twice() -> None:
    """A check that ran into it leaves everything as it was."""
    schema = Schema({"items": {"$ref": "#"}})
    limit = sys.getrecursionlimit()
    for _ in range(3):
        assert not schema.is_valid(nested(50_000))
        assert schema.is_valid(nested(50))
    assert sys.getrecursionlimit() == limit


def test_very_many_patterns_and_very_many_names() -> None:
    schema = Schema({"patternProperties": {f"^{n}x": {"type": "string"} for n in range(500)}})
    names = {f"k{n}": 1 for n in range(20_000)}
    assert not schema.is_valid(names)
    assert "too much" in schema.problems(names)[0].message


@pytest.mark.parametrize(
    "rules",
    [
        {"allOf": [{"minimum": 0}] * 2000},
        {"anyOf": [{"type": "string"}] * 2000 + [{}]},
        {"oneOf": [{"type": "string"}] * 2000 + [{}]},
        {"dependentRequired": {str(n): ["x"] for n in range(2000)}},
        {"dependentSchemas": {str(n): {"type": "object"} for n in range(2000)}},
    ],
)
def test_very_many_rules_and_very_many_items(rules: Any) -> None:
    schema = Schema({"items": rules})
    assert not schema.is_valid([{}] * 20_000)
    assert "too much" in schema.problems([{}] * 20_000)[0].message
    assert schema.is_valid([{}] * 500)


def test_many_items_of_the_usual_kind_are_not_too_much() -> None:
    schema = Schema({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "object", "required": ["a"]}}})
    assert schema.is_valid([{"a": n} for n in range(100_000)])


def test_very_many_unknown_names_beside_very_many_known() -> None:
    schema = Schema({"properties": {f"property_{n}": {} for n in range(5000)}, "additionalProperties": False})
    assert len(schema.problems({f"proparty_{n}" + "x" * 1000: 1 for n in range(5000)})) == 10


def test_numbers_without_an_end() -> None:
    huge = 10**4000
    assert Schema({"multipleOf": 1e-300, "minimum": 1e308}).is_valid(huge)
    assert not Schema({"maximum": 1e308}).is_valid(huge)
    assert not Schema({"multipleOf": 0.7}).is_valid(huge)
    for odd in (float("nan"), float("inf")):
        assert Schema({"multipleOf": 0.1, "type": "integer"}).is_valid(odd) is False
