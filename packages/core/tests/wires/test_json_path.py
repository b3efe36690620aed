import json
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heald.core.json import JsonObject
from heald.wires.json_path import PathArguments, parse_path


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.city", ["city"]),
        ("$.items[0].name", ["items", 0, "name"]),
        ("$.a[1][22]", ["a", 1, 22]),
        ("$['a.b'].c", ["a.b", "c"]),
        ('$["x y"][3]', ["x y", 3]),
        ("$", []),
        ("", []),
    ],
)
def test_paths(path: str, steps: list[Any]) -> None:
    assert parse_path(path) == steps


def collect(*parts: JsonObject) -> JsonObject:
    """The value of some parts, after checking that the text written on the way says the same."""
    arguments = PathArguments()
    text = "".join([arguments.add(part) for part in parts])
    in_order = arguments.in_order
    text += arguments.close()
    if in_order:
        assert json.loads(text) == arguments.value
    return arguments.value


def test_a_string_that_goes_on_is_joined_at_its_path() -> None:
    assert collect(
        {"jsonPath": "$.text", "willContinue": True},
        {"jsonPath": "$.text", "stringValue": "one ", "willContinue": True},
        {"jsonPath": "$.text", "stringValue": "two", "willContinue": True},
        {"jsonPath": "$.text", "stringValue": ""},
        {"jsonPath": "$.other", "stringValue": "x"},
    ) == {"text": "one two", "other": "x"}


def test_a_string_that_does_not_go_on_is_replaced() -> None:
    assert collect({"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a", "stringValue": "y"}) == {"a": "y"}


def test_every_kind_of_value() -> None:
    assert collect(
        {"jsonPath": "$.s", "stringValue": ""},
        {"jsonPath": "$.n", "numberValue": 0.3},
        {"jsonPath": "$.zero", "numberValue": 0},
        {"jsonPath": "$.no", "boolValue": False},
        {"jsonPath": "$.nothing", "nullValue": "NULL_VALUE"},
    ) == {"s": "", "n": 0.3, "zero": 0, "no": False, "nothing": None}


def test_arrays_of_objects_grow_in_place() -> None:
    assert collect(
        {"jsonPath": "$.ops[0].name", "stringValue": "a"},
        {"jsonPath": "$.ops[0].price", "numberValue": 1},
        {"jsonPath": "$.ops[1].name", "stringValue": "b"},
        {"jsonPath": "$.grid[0][0]", "numberValue": 1},
        {"jsonPath": "$.grid[0][1]", "numberValue": 2},
    ) == {"ops": [{"name": "a", "price": 1}, {"name": "b"}], "grid": [[1, 2]]}


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"jsonPath": None, "stringValue": "x"},
        {"jsonPath": "$", "stringValue": "x"},
        {"jsonPath": "$[0]", "stringValue": "x"},
        {"jsonPath": "$.a[999999999]", "stringValue": "x"},
        {"jsonPath": "$.a[" + "9" * 5000 + "]", "stringValue": "x"},
    ],
)
def test_a_path_that_leads_nowhere_harms_nothing(part: JsonObject) -> None:
    value = collect({"jsonPath": "$.kept", "stringValue": "k"}, part)
    assert value["kept"] == "k"


steps = st.sampled_from([".a", ".b", "[0]", "[1]", "['c.d']", ""])
parts: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {"jsonPath": st.lists(steps, min_size=1, max_size=3).map(lambda path: "$" + "".join(path))},
    optional={
        "stringValue": st.text("xy", max_size=2),
        "numberValue": st.integers(0, 3),
        "boolValue": st.booleans(),
        "willContinue": st.booleans(),
    },
)


@given(st.lists(parts, max_size=8))
@example([{"jsonPath": "$.a", "numberValue": 1, "willContinue": True}, {"jsonPath": "$.a", "stringValue": "x"}])
@example([{"jsonPath": "$.a.b", "boolValue": True}, {"jsonPath": "$.a[0]", "stringValue": "x"}])
def test_contradicting_parts_never_raise(contradicting: list[JsonObject]) -> None:
    collect(*contradicting)


texts = st.text('ab"\\\n€\U0001f600', max_size=5)
values = st.recursive(
    texts | st.integers(0, 9) | st.booleans(),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
    max_leaves=6,
)


def streamed(value: Any, path: str) -> list[JsonObject]:
    """A value as the parts that stream it, strings character by character."""
    if isinstance(value, dict):
        return [part for key, item in cast(JsonObject, value).items() for part in streamed(item, f"{path}.{key}")]
    if isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
        return [part for index, item in items for part in streamed(item, f"{path}[{index}]")]
    if isinstance(value, str):
        pieces: list[JsonObject] = [{"jsonPath": path, "stringValue": char, "willContinue": True} for char in value]
        return [*pieces, {"jsonPath": path, "stringValue": ""}]
    return [{"jsonPath": path, "boolValue" if isinstance(value, bool) else "numberValue": value}]


@given(st.dictionaries(st.sampled_from("abc"), values))
def test_any_object_streamed_in_order_is_written_as_it_arrives(value: JsonObject) -> None:
    arguments = PathArguments()
    text = "".join([arguments.add(part) for part in streamed(value, "$")]) + arguments.close()
    assert arguments.in_order
    assert json.loads(text) == arguments.value == value


def test_text_comes_with_the_part_that_it_belongs_to() -> None:
    arguments = PathArguments()
    assert arguments.add({"jsonPath": "$.a", "stringValue": "x", "willContinue": True}) == '{"a":"x'
    assert arguments.add({"jsonPath": "$.a", "stringValue": "y"}) == 'y"'
    assert arguments.add({"jsonPath": "$.b[0]", "numberValue": 1}) == ',"b":[1'
    assert arguments.close() == "]}"


def test_a_path_that_comes_back_to_a_closed_part_still_counts() -> None:
    arguments = PathArguments()
    for path, number in (("$.a.x", 1), ("$.b", 2), ("$.a.y", 3)):
        arguments.add({"jsonPath": path, "numberValue": number})
    assert not arguments.in_order
    assert arguments.value == {"a": {"x": 1, "y": 3}, "b": 2}
