"""References: within the document wherever they point, never out of it."""

from typing import Any

import pytest

from heald.tools.json_schema import JsonSchema
from heald.tools.schema_fault import SchemaFault

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
INT = {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": INT}},
        {"$ref": "#/definitions/a", "definitions": {"a": INT}},
        {"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": INT}},
        {"$ref": "#/$defs/a%25b%20c", "$defs": {"a%b c": INT}},
        {"$ref": "#/$defs/%C3%A9", "$defs": {"é": INT}},
        {"$ref": "#/allOf/1", "allOf": [{}, INT]},
        {"$ref": "#/x-shared/0/a", "x-shared": [{"a": INT}]},
        {"$ref": "#a", "$defs": {"x": {"$anchor": "a", **INT}}},
        {"$ref": "#a", "$defs": {"x": {"$dynamicAnchor": "a", **INT}}},
        {"$ref": "other", "$defs": {"x": {"$id": "other", **INT}}},
        {"$id": "https://a.test/dir/root", "$ref": "other", "$defs": {"x": {"$id": "/dir/other", **INT}}},
        {"$id": "https://a.test/root", "$ref": "https://a.test/root#/$defs/x", "$defs": {"x": INT}},
        {"$ref": "other#b", "$defs": {"x": {"$id": "other", "$defs": {"y": {"$anchor": "b", **INT}}}}},
        {"$ref": "other#/$defs/y", "$defs": {"x": {"$id": "other", "$defs": {"y": INT}}}},
        {"$id": "urn:uuid:1", "$ref": "#/$defs/x", "$defs": {"x": INT}},
        {"$ref": "urn:x:y", "$defs": {"x": {"$id": "urn:x:y", **INT}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": INT}},
        {"$schema": DRAFT_7, "$ref": "#a", "definitions": {"x": {"$id": "#a", **INT}}},
        {"$schema": DRAFT_7, "$ref": "#/definitions/x", "definitions": {"x": INT}, "type": "string"},
        {"$schema": DRAFT_7, "allOf": [{"$id": "http://a.test", "$ref": "#/definitions/x"}], "definitions": {"x": INT}},
        {"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a", **INT}}},
        {"$dynamicRef": "#/$defs/x", "$defs": {"x": INT}},
    ],
)
def test_where_a_reference_leads(schema: Any) -> None:
    compiled = JsonSchema(schema)
    assert compiled.is_valid(1)
    assert not compiled.is_valid("x")
    assert [problem.message for problem in compiled.problems("x")] == ['"x" is not an integer']


def test_what_stands_beside_a_reference_counts_since_2019() -> None:
    schema = {"$ref": "#/$defs/a", "minimum": 2, "$defs": {"a": INT}}
    assert JsonSchema(schema).is_valid(2)
    assert not JsonSchema(schema).is_valid(1)
    assert JsonSchema(
        {"$schema": DRAFT_7, "$ref": "#/definitions/a", "minimum": 2, "definitions": {"a": INT}}
    ).is_valid(1)


TREE = {
    "type": "object",
    "properties": {"value": INT, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
    "additionalProperties": False,
}


def test_a_schema_that_holds_itself() -> None:
    good = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}
    bad = {"value": 1, "children": [{"value": 2, "children": [{"valu": 3}]}]}
    assert JsonSchema(TREE).is_valid(good)
    assert [(problem.where, problem.message) for problem in JsonSchema(TREE).problems(bad)] == [
        ("children[0].children[0]", '"valu" is not known here, perhaps you mean "value"'),
        ("children[0].children[0]", '"value" is required'),
    ]


def test_a_reference_that_goes_in_a_circle_is_silent() -> None:
    assert JsonSchema({"$ref": "#"}).is_valid(1)
    defs: dict[str, Any] = {"a": {"allOf": [{"$ref": "#/$defs/b"}, INT]}, "b": {"$ref": "#/$defs/a"}}
    schema = {"$ref": "#/$defs/a", "$defs": defs}
    assert JsonSchema(schema).is_valid(1)
    assert not JsonSchema(schema).is_valid("x")
    defs["c"] = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}
    assert not JsonSchema({"$ref": "#/$defs/c", "$defs": defs}).is_valid("x")


def test_a_dynamic_reference_is_for_the_outermost() -> None:
    """A tree whose children are whatever the schema that uses it takes for a tree."""
    tree = {
        "$id": "tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    strict = {
        "$id": "https://a.test/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": tree},
    }
    assert JsonSchema(strict).is_valid({"children": [{"children": []}]})
    assert not JsonSchema(strict).is_valid({"children": [{"childern": []}]})
    assert JsonSchema(strict).problems({"children": [{"childern": []}]})[0].where == "children[0]"
    loose = {"$id": "https://a.test/loose", "$ref": "tree", "$defs": {"tree": tree}}
    assert JsonSchema(loose).is_valid({"children": [{"childern": []}]})


def test_what_was_found_out_on_one_method_does_not_hold_on_another() -> None:
    def of(name: str, kind: str) -> Any:
        return {"$id": name, "$ref": "list", "$defs": {"item": {"$dynamicAnchor": "item", "type": kind}}}

    items = {"$id": "list", "items": {"$dynamicRef": "#item"}, "$defs": {"any": {"$dynamicAnchor": "item"}}}
    schema = {
        "$id": "http://a.test/",
        "anyOf": [{"$ref": "strings"}, {"$ref": "integers"}],
        "$defs": {"strings": of("strings", "string"), "integers": of("integers", "integer"), "list": items},
    }
    assert JsonSchema(schema).is_valid(["a"])
    assert JsonSchema(schema).is_valid([1])
    assert not JsonSchema(schema).is_valid([1, "a"])


def test_a_recursive_reference_is_for_the_outermost() -> None:
    tree = {
        "$id": "tree",
        "$recursiveAnchor": True,
        "properties": {"children": {"items": {"$recursiveRef": "#"}}},
    }
    strict = {
        "$schema": DRAFT_2019,
        "$id": "https://a.test/strict",
        "$recursiveAnchor": True,
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": tree},
    }
    assert JsonSchema(strict).is_valid({"children": [{"children": []}]})
    assert not JsonSchema(strict).is_valid({"children": [{"childern": []}]})


NOWHERE: list[tuple[Any, str]] = [
    (
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}},
        r"properties\.a\.\$ref: .*another document.*not fetched",
    ),
    ({"$defs": {"never_used": {"$ref": "other.json"}}}, "another document"),
    ({"$ref": "file:///etc/passwd"}, "another document"),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "another document"),
    ({"$ref": "#/$defs/a"}, "leads nowhere"),
    ({"$ref": "#/allOf/2", "allOf": [{}, {}]}, "leads nowhere"),
    ({"$ref": "#/allOf/01", "allOf": [{}, {}]}, "leads nowhere"),
    ({"$ref": "#/allOf/٢", "allOf": [{}, {}, {}]}, "leads nowhere"),
    ({"$ref": "#a"}, "nothing is called"),
    ({"$ref": "#/x", "x": 5}, "x: 5 is not a schema"),
    ({"$ref": "#/x", "x": {"type": "strin"}}, "x.type"),
    ({"$ref": "#/x", "x": {"$ref": "http://a.test/b"}}, "another document"),
    ({"$ref": "http://[x#y"}, "another document"),
    ({"$id": "http://a.test", "$ref": "http://[x"}, "not an address"),
]


@pytest.mark.parametrize(("schema", "reason"), NOWHERE)
def test_a_reference_that_leads_nowhere(schema: Any, reason: str) -> None:
    with pytest.raises(SchemaFault, match=reason):
        JsonSchema(schema)


def test_what_looks_like_a_reference_and_is_none() -> None:
    assert JsonSchema({"const": {"$ref": "http://a.test"}}).is_valid({"$ref": "http://a.test"})
    assert JsonSchema({"properties": {"$ref": {"type": "string"}}}).is_valid({"$ref": "x"})
    assert JsonSchema({"enum": [{"$id": "x", "type": 5}]}).is_valid({"$id": "x", "type": 5})
