"""Random schemas and random values: our budget, rewriting and messages change no verdict of jsonschema-rs.

A schema that refers to itself without a step into the value means nothing, and is not drawn.
"""

from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import IS_LONG
from heald.tools.json_schema import JsonSchema
from heald.tools.schema_fault import SchemaFault

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
EXAMPLES = 1_000 if IS_LONG else 40
OPTIONS = jsonschema_rs.RegexOptions()
NAMES = st.sampled_from(["a", "b", "ab", "c/d", "é"])
NUMBERS = (
    st.integers(-3, 4)
    | st.sampled_from([0.5, 1.0, 1.5, 2.0, 0.1, 0.3, -0.7, 1.1, 19.99, 1e20, 2**53 + 1, 10**30, -(2**63)])
    | st.floats(-10, 10).map(lambda number: round(number, 2))
)
TEXTS = st.text("ab1 é😀\n", max_size=4)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
COUNTS = st.integers(0, 3) | st.sampled_from([1.0, 2.0])
PATTERNS = st.sampled_from(
    [
        "^a",
        "b$",
        "^[ab]+$",
        r"\d",
        r"^\w*$",
        r"\s",
        r"^\S+$",
        "a|1",
        "^(a|b){1,2}$",
        "^[^a]*$",
        r"^\u00e9",
        r"[\w-]",
        "",
    ]
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def keywords(draft: str, inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """What each keyword may be given."""
    counts = st.integers(0, 3) if draft == "4" else COUNTS
    schemas = st.lists(inner, min_size=1, max_size=3)
    members = st.dictionaries(NAMES, inner, max_size=3)
    names = st.lists(NAMES, max_size=2, unique=True)
    some_names = st.lists(NAMES, min_size=1, max_size=2, unique=True)
    later = draft in ("2019-09", "2020-12")
    root = "$defs" if later else "definitions"
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr),
        "multipleOf": st.sampled_from([1, 2, 3, 0.1, 0.5, 0.01, 1.5]),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "minLength": counts,
        "maxLength": counts,
        "pattern": PATTERNS,
        "items": inner if draft == "2020-12" else inner | schemas,
        "minItems": counts,
        "maxItems": counts,
        "uniqueItems": st.booleans(),
        "properties": members,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": inner,
        "required": some_names,
        "minProperties": counts,
        "maxProperties": counts,
        "dependencies": st.dictionaries(NAMES, inner | some_names, max_size=2),
        "allOf": schemas,
        "anyOf": schemas,
        "oneOf": schemas,
        "not": inner,
        "$ref": st.sampled_from(["#", f"#/{root}/x", f"#/{root}/y~1%7Ez"]),
    }
    if draft != "2020-12":
        strategies["additionalItems"] = inner
    if draft != "4":
        strategies |= {
            "const": VALUES,
            "exclusiveMinimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "contains": inner,
            "propertyNames": inner,
        }
    if draft not in ("4", "6"):
        strategies |= {"if": inner, "then": inner, "else": inner}
    if later:
        strategies |= {
            "minContains": COUNTS,
            "maxContains": COUNTS,
            "dependentRequired": st.dictionaries(NAMES, names, max_size=2),
            "dependentSchemas": members,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
        }
    if draft == "2019-09":
        strategies["$recursiveRef"] = st.just("#")
    if draft == "2020-12":
        strategies |= {"prefixItems": schemas, "$dynamicRef": st.sampled_from(["#x", f"#/{root}/x", "#"])}
    return strategies


def schemas(draft: str) -> st.SearchStrategy[Any]:
    """Documents with two definitions, which refer to each other and to the whole."""

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        strategies = keywords(draft, inner)
        return st.lists(st.sampled_from(sorted(strategies)), min_size=1, max_size=4, unique=True).flatmap(
            lambda chosen: st.fixed_dictionaries({keyword: strategies[keyword] for keyword in chosen})
        )

    empty: st.SearchStrategy[Any] = st.builds(dict[str, Any])
    least = empty if draft == "4" else st.booleans() | empty
    several: st.SearchStrategy[Any] = st.recursive(least, larger, max_leaves=12).filter(
        lambda schema: isinstance(schema, dict)
    )
    name = "$defs" if draft in ("2019-09", "2020-12") else "definitions"

    def document(root: dict[str, Any], x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
        marked = {"$dynamicAnchor": "x"} if draft == "2020-12" else {"$anchor": "x"} if draft == "2019-09" else {}
        return {"$schema": DRAFTS[draft], **root, name: {"x": {**x, **marked}, "y/~z": y}}

    return st.builds(document, several, several, several).filter(lambda schema: not circular(schema, name))


def circular(schema: dict[str, Any], definitions: str) -> bool:
    """Whether a reference comes back to itself without a step into the value: then the schema means nothing."""
    parts = {"#": schema, f"#/{definitions}/x": schema[definitions]["x"], "y": schema[definitions]["y/~z"]}
    leads = {name: {_target(reference, definitions) for reference in in_place(part)} for name, part in parts.items()}
    for _ in leads:
        for name, ways in leads.items():
            leads[name] = ways | {further for way in ways for further in leads[way]}
    return any(name in ways for name, ways in leads.items())


def _target(reference: str, definitions: str) -> str:
    return f"#/{definitions}/x" if reference == "#x" else "y" if reference.endswith("~z") else reference


def in_place(schema: Any) -> Iterator[str]:
    """The references in a schema that are about the same value."""
    if not isinstance(schema, dict):
        return
    members = cast("dict[str, Any]", schema)
    for keyword, value in members.items():
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            yield value.replace("%7E", "~")
        elif keyword in ("allOf", "anyOf", "oneOf"):
            for subschema in value:
                yield from in_place(subschema)
        elif keyword in ("not", "if", "then", "else"):
            yield from in_place(value)
        elif keyword in ("dependentSchemas", "dependencies"):
            for subschema in value.values():
                yield from in_place(subschema)


@pytest.mark.parametrize("draft", list(DRAFTS))
def test_both_state_the_same(draft: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(schemas(draft), st.lists(VALUES, min_size=1, max_size=5))
    def check(schema: dict[str, Any], values: list[Any]) -> None:
        theirs = jsonschema_rs.validator_for(schema, offline=True, validate_formats=False, pattern_options=OPTIONS)
        ours = JsonSchema(schema)
        for value in values:
            valid = ours.is_valid(value)
            assert valid == theirs.is_valid(value), value
            assert valid == (not ours.problems(value)), value

    check()


@pytest.mark.parametrize("draft", list(DRAFTS))
def test_both_refuse_the_same(draft: str) -> None:
    """Any value at all for any keyword: what the metaschema refuses is refused."""
    common = sorted(set(keywords(draft, st.just({}))) - {"$ref", "$dynamicRef", "$recursiveRef"})
    others = ["title", "description", "default", "examples", "format", "$comment", "readOnly", "definitions", "x-else"]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.sampled_from(common + others), VALUES)
    def check(keyword: str, value: Any) -> None:
        schema = {"$schema": DRAFTS[draft], keyword: value}
        try:
            jsonschema_rs.validator_for(schema, offline=True, validate_formats=False, pattern_options=OPTIONS)
        except ValueError:
            with pytest.raises(SchemaFault):
                JsonSchema(schema)
        else:
            JsonSchema(schema)

    check()
