"""Arguments: valid as they are, made valid without loss, or refused with path and reason."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.errors import ConfigurationError
from heald.tools.validation import Validator


def check(arguments: dict[str, Any], **properties: Any) -> tuple[dict[str, Any], str | None]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name, of in properties.items() if "default" not in of],
        "additionalProperties": False,
    }
    return Validator("t", schema).check(arguments)


INT = {"type": "integer"}
NUM = {"type": "number"}
STR = {"type": "string"}
BOOL = {"type": "boolean"}
LIST = {"type": "array", "items": INT}


@pytest.mark.parametrize(
    ("value", "schema", "meant"),
    [
        (5.0, INT, 5),
        ("5", INT, 5),
        ("-3", INT, -3),
        ("2.5", NUM, 2.5),
        ("true", BOOL, True),
        (5, STR, "5"),
        (2.5, STR, "2.5"),
        ("[1, 2]", LIST, [1, 2]),
        (["1", 2.0], LIST, [1, 2]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("5", {"anyOf": [INT, {"type": "null"}]}, 5),
    ],
)
def test_what_is_plainly_meant(value: Any, schema: Any, meant: Any) -> None:
    assert check({"x": value}, x=schema) == ({"x": meant}, None)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (5.5, INT),
        ("5.5", INT),
        ("05", INT),
        ("five", INT),
        ("1e3", INT),
        (True, INT),
        (1, BOOL),
        ("yes", BOOL),
        (True, STR),
        ("a, b", LIST),
        (None, STR),
        ({"a": 1}, STR),
    ],
)
def test_what_would_lose_something(value: Any, schema: Any) -> None:
    _, problem = check({"x": value}, x=schema)
    assert problem is not None
    assert problem.startswith("x: ")


def test_null_for_what_may_be_left_out() -> None:
    assert check({"x": None, "y": 1}, x={**INT, "default": 3}, y=INT) == ({"y": 1}, None)
    nullable = {"anyOf": [INT, {"type": "null"}], "default": 3}
    assert check({"x": None}, x=nullable) == ({"x": None}, None)


def test_every_problem_has_its_path() -> None:
    _, problem = check({"x": ["a", 1, "b"], "z": 1}, x=LIST, y=STR)
    assert problem is not None
    assert "x[0]: " in problem
    assert "x[2]: " in problem
    assert 'arguments: "z" is not known here' in problem
    assert 'arguments: "y" is required' in problem


def test_many_problems_are_reported_in_few_words() -> None:
    _, problem = check({"x": ["a"] * 1000}, x=LIST)
    assert problem is not None
    assert problem.endswith("and more")
    assert len(problem) < 1000


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists))
def test_a_valid_value_is_never_changed(value: Any) -> None:
    anything: dict[str, Any] = {"x": value}
    got, problem = check(anything, x={})
    assert problem is None
    assert got is anything


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "object", "properties": {"a": {"type": 5}}}])
def test_a_schema_that_is_none(schema: Any) -> None:
    with pytest.raises(ConfigurationError, match="schema of the tool 't'"):
        Validator("t", schema)


def test_a_schema_that_is_none_is_reported_with_its_place() -> None:
    with pytest.raises(ConfigurationError, match=r"JSON Schema: properties\.a\.type: \"strin\" is not a JSON type"):
        Validator("t", {"type": "object", "properties": {"a": {"type": "strin"}}})


def test_a_schema_that_goes_in_circles_repairs_nothing_and_ends() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}}
    assert Validator("t", schema).check({"a": "1"}) == ({"a": "1"}, None)
    arguments = {"a": "1", "b": 5}
    got, problem = Validator("t", {**schema, "required": ["c"]}).check(arguments)
    assert got == arguments
    assert problem == 'arguments: "c" is required'


def test_arguments_too_deep_to_be_checked_are_refused() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"items": {"$ref": "#/$defs/x"}}},
    }
    _, problem = Validator("t", schema).check({"a": deep})
    assert problem is not None
    assert "nested too deeply" in problem


def test_a_schema_is_not_fetched() -> None:
    with pytest.raises(ConfigurationError, match="another document"):
        Validator("t", {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}})


def test_null_and_its_words_are_dropped_where_nothing_is_needed() -> None:
    """Small models fill optional and invented arguments with null."""
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    }
    check = Validator("t", schema).check
    assert check({"path": "a", "line": None, "invented": None}) == ({"path": "a"}, None)
    assert check({"path": "a", "line": "None"}) == ({"path": "a"}, None)
    assert check({"path": "a", "note": "null"}) == ({"path": "a", "note": "null"}, None)
    assert check({"path": None})[1] is not None
