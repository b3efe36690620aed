"""Schemas and values that mean harm: every check ends, in a sentence if need be. Time limits are generous."""

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from heald.tools.json_schema import JsonSchema
from heald.tools.schema_fault import SchemaFault


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < 60


def nested(levels: int, inner: Any = 1) -> Any:
    value = inner
    for _ in range(levels):
        value = [value]
    return value


def nest_of_references(keyword: str, levels: int) -> Any:
    names = {f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**names, f"a{levels}": {"required": ["a", "b"]}}}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_nest_of_references_with_2_to_the_60_paths_is_refused(keyword: str) -> None:
    with pytest.raises(SchemaFault, match="too large once its references are followed"):
        JsonSchema(nest_of_references(keyword, 60))


def test_a_small_nest_of_references_is_explained_once() -> None:
    schema = JsonSchema(nest_of_references("allOf", 5))
    assert [problem.message for problem in schema.problems({})] == ['"a" is required', '"b" is required']


def test_a_schema_that_holds_itself_twice_and_a_deep_value() -> None:
    twice = {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "b": {"type": "string"}}}
    value: Any = {"b": 1}
    for _ in range(100):
        value = {"a": value}
    assert not JsonSchema(twice).is_valid(value)
    assert JsonSchema(twice).problems(value)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_nest_of_unevaluated(keyword: str) -> None:
    """Each level doubles the work of jsonschema-rs."""

    def nest(levels: int) -> Any:
        schema: Any = {"properties": {"a": {}}}
        for _ in range(levels):
            schema = {keyword: [schema], "unevaluatedProperties": False}
        return schema

    assert JsonSchema(nest(5)).is_valid({"a": 1})
    assert not JsonSchema(nest(5)).is_valid({"b": 1})
    with pytest.raises(SchemaFault, match="too large"):
        JsonSchema(nest(50))


def test_a_nest_of_contains() -> None:
    def nest(levels: int) -> Any:
        schema: Any = {"const": 1}
        for _ in range(levels):
            schema = {"contains": schema, "unevaluatedItems": False}
        return schema

    assert JsonSchema(nest(5)).is_valid(nested(5))
    assert not JsonSchema(nest(5)).is_valid(nested(5, 2))
    with pytest.raises(SchemaFault, match="too large"):
        JsonSchema(nest(30))


def test_resources_that_refer_to_each_other_in_every_order() -> None:
    """jsonschema-rs compiles them in factorial time."""

    def resource(number: int) -> Any:
        others = [{"$ref": f"r{other}"} for other in range(9) if other != number]
        return {"$id": f"r{number}", "anyOf": [*others, {"required": ["z"]}]}

    with pytest.raises(SchemaFault, match="too many parts with an"):
        JsonSchema({"$id": "http://a.test/", "$ref": "r0", "$defs": {f"r{n}": resource(n) for n in range(9)}})


def test_definitions_that_refer_to_each_other_in_every_order() -> None:
    names = {f"r{n}": {"anyOf": [{"$ref": f"#/$defs/r{m}"} for m in range(9) if m != n]} for n in range(9)}
    with pytest.raises(SchemaFault, match="circles"):
        JsonSchema({"$ref": "#/$defs/r0", "$defs": names})


def test_a_schema_nested_too_deeply() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(SchemaFault, match="nested too deeply"):
        JsonSchema(schema)
    for keyword in ("const", "default"):
        try:
            assert not JsonSchema({keyword: nested(100_000), "type": "string"}).is_valid(1)
        except SchemaFault as fault:
            assert "nested too deeply" in str(fault)  # noqa: PT017 - either will do


def test_a_schema_with_very_many_parts() -> None:
    with pytest.raises(SchemaFault, match="too large"):
        JsonSchema({"allOf": [{}] * 60_000})


def test_a_long_chain_of_references() -> None:
    names = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(3_000)}
    with pytest.raises(SchemaFault, match="nested too deeply"):
        JsonSchema({"$ref": "#/$defs/a0", "$defs": {**names, "a3000": {}}})


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
    assert not JsonSchema(schema).is_valid(deep)
    assert JsonSchema(schema).problems(deep)


def test_a_value_as_deep_as_arguments_may_be_can_be_checked() -> None:
    """The strict parser lets 200 levels through."""
    schema = JsonSchema({"type": ["array", "integer"], "items": {"$ref": "#"}})
    assert schema.is_valid(nested(200))
    assert not schema.is_valid(nested(200, "x"))


def test_the_limit_of_the_interpreter_is_not_reached_twice() -> None:
    """A check that ran into it leaves everything as it was."""
    schema = JsonSchema({"items": {"$ref": "#"}})
    limit = sys.getrecursionlimit()
    for _ in range(3):
        assert not schema.is_valid(nested(50_000))
        assert schema.is_valid(nested(50))
    assert sys.getrecursionlimit() == limit


def test_very_many_patterns_and_very_many_names() -> None:
    schema = JsonSchema({"patternProperties": {f"^{n}x": {"type": "string"} for n in range(500)}})
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
    schema = JsonSchema({"items": rules})
    assert not schema.is_valid([{}] * 20_000)
    assert "too much" in schema.problems([{}] * 20_000)[0].message
    assert schema.is_valid([{}] * 500)


def test_many_items_of_the_usual_kind_are_not_too_much() -> None:
    schema = JsonSchema({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "object", "required": ["a"]}}})
    assert schema.is_valid([{"a": n} for n in range(100_000)])


def test_very_many_unknown_names_beside_very_many_known() -> None:
    schema = JsonSchema({"properties": {f"property_{n}": {} for n in range(5000)}, "additionalProperties": False})
    assert 1 <= len(schema.problems({f"proparty_{n}" + "x" * 1000: 1 for n in range(5000)})) <= 10


def test_numbers_without_an_end() -> None:
    huge = 10**4000
    assert JsonSchema({"multipleOf": 1e-300, "minimum": 1e308}).is_valid(huge)
    assert not JsonSchema({"maximum": 1e308}).is_valid(huge)
    assert not JsonSchema({"multipleOf": 0.7}).is_valid(huge)
    for odd in (float("nan"), float("inf")):
        assert JsonSchema({"multipleOf": 0.1, "type": "integer"}).is_valid(odd) is False


def test_a_flat_object_with_too_many_members_is_refused() -> None:
    schema = JsonSchema({"type": "object", "additionalProperties": {"anyOf": [{"const": n} for n in range(1_000)]}})
    assert schema.is_valid({"a": 1})
    assert "too much" in schema.problems({str(n): 1 for n in range(30_000)})[0].message
