"""Schemas of typed answers: written as each API accepts them, for every type that an agent can be asked for."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, cast

import jsonschema
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition
from heald.core.turn import Settings
from heald.tools.type_schema import TypeSchema
from heald.tools.validation import repair
from heald.wires.output_schema import WRAPPED, anthropic_schema, openai_schema, plan_output, strict_tool_schema
from heald.wires.request import Quirks, TurnRequest


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Part(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=40, pattern="^[a-z]+$")]
    size: Annotated[int, msgspec.Meta(ge=1, le=10)] = 3
    colour: Colour | None = None


class Tree(msgspec.Struct):
    label: str
    children: list["Tree"] = []


@dataclass
class Order:
    parts: list[Part]
    note: str = "none"
    tags: list[Literal["a", "b"]] = field(default_factory=list[Literal["a", "b"]])


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(description="Full name.", min_length=2)
    age: int | None = pydantic.Field(default=None, ge=0)


STRICT: list[Any] = [Part, Order, Tree, list[Part], int, Literal["yes", "no"], str | None]
OPEN: list[Any] = [dict[str, int], list[Any], tuple[int, str], Any]

OPENAI_KEYWORDS = {
    *("type", "enum", "const", "anyOf", "$ref", "$defs", "description", "title", "properties", "required", "items"),
    *("additionalProperties", "pattern", "format", "multipleOf", "maximum", "minimum", "exclusiveMaximum"),
    *("exclusiveMinimum", "minItems", "maxItems"),
}
ANTHROPIC_KEYWORDS = OPENAI_KEYWORDS - {
    *("$ref", "$defs", "pattern", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
    "maxItems",
}


def schema_of(kind: Any) -> JsonObject:
    return TypeSchema(kind, "The output").schema


def nodes(schema: Any) -> list[JsonObject]:
    """All schemas inside a schema, itself included."""
    if not isinstance(schema, dict):
        return []
    node = cast(JsonObject, schema)
    inner = [*node.get("properties", {}).values(), *node.get("$defs", {}).values(), *node.get("anyOf", [])]
    return [node, *(descendant for child in [*inner, node.get("items")] for descendant in nodes(child))]


@pytest.mark.parametrize("kind", STRICT, ids=str)
def test_openai_accepts_it(kind: Any) -> None:
    written, strict = openai_schema(schema_of(kind))
    assert strict
    assert written["type"] == "object"
    for node in nodes(written):
        assert node.keys() <= OPENAI_KEYWORDS
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])


@pytest.mark.parametrize("kind", [Part, Order, list[Part], int, str | None], ids=str)
def test_anthropic_accepts_it(kind: Any) -> None:
    written = anthropic_schema(schema_of(kind))
    assert written is not None
    for node in nodes(written):
        assert node.keys() <= ANTHROPIC_KEYWORDS
        assert not isinstance(node.get("type"), list)
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node["required"]) <= set(node["properties"])


@pytest.mark.parametrize("kind", OPEN, ids=str)
def test_open_types_are_not_strict(kind: Any) -> None:
    written, strict = openai_schema(schema_of(kind))
    assert not strict
    assert written["type"] == "object"
    assert anthropic_schema(schema_of(kind)) is None


def test_anthropic_has_no_recursion() -> None:
    assert anthropic_schema(schema_of(Tree)) is None


def test_keywords_that_the_api_refuses_become_words() -> None:
    openai, _ = openai_schema(schema_of(Part))
    assert openai["properties"]["name"]["pattern"] == "^[a-z]+$"
    assert "maxLength: 40" in openai["properties"]["name"]["description"]
    anthropic = anthropic_schema(schema_of(Part))
    assert anthropic is not None
    assert "maximum: 10" in anthropic["properties"]["size"]["description"]


def test_descriptions_stay() -> None:
    written, _ = openai_schema(schema_of(Person))
    assert written["properties"]["name"]["description"].startswith("Full name.")


parts = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "bc"])},
    optional={"size": st.integers(1, 10), "colour": st.sampled_from(["red", "blue", None])},
)
orders = st.fixed_dictionaries(
    {"parts": st.lists(parts, max_size=3)},
    optional={"note": st.text(max_size=3), "tags": st.lists(st.sampled_from(["a", "b"]), max_size=2)},
)


@given(orders)
def test_a_strict_answer_is_read_as_the_type(order: JsonObject) -> None:
    """A model under the strict schema writes null for each optional member that it leaves out."""
    written, _ = openai_schema(schema_of(Order))
    answer = {name: order.get(name) for name in ("parts", "note", "tags")}
    answer["parts"] = [{name: part.get(name) for name in ("name", "size", "colour")} for part in order["parts"]]
    jsonschema.validate(answer, written)
    shape = TypeSchema(Order, "The output")
    assert shape.convert(repair(answer, shape.schema)) == shape.convert(order)


def test_values_that_are_no_objects_are_wrapped() -> None:
    written, strict = openai_schema(schema_of(list[Part]))
    assert strict
    jsonschema.validate({WRAPPED: [{"name": "a", "size": None, "colour": None}]}, written)


def test_strict_tools() -> None:
    written = strict_tool_schema(schema_of(Part))
    assert written is not None
    assert written["required"] == ["name", "size", "colour"]
    assert strict_tool_schema({"type": "object", "additionalProperties": {"type": "string"}}) is None
    assert strict_tool_schema({"type": "object"}) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


TOOL = ToolDefinition(name="look", description="Look.", input_schema={"type": "object"})


def planned(
    wire: str, *, tools: bool = True, choice: str = "auto", model: str = "m", mode: Any = "auto", kind: Any = Part
) -> tuple[bool, bool, bool]:
    """Whether the schema, a note in the instructions, and tools go out."""
    settings = Settings(system="Be brief.", output_schema=schema_of(kind), tool_choice=choice)
    request = TurnRequest(
        model=model, messages=[], tools=[TOOL] if tools else [], settings=settings, quirks=Quirks(typed_output=mode)
    )
    plan = plan_output(request, wire)
    assert plan.settings.system.startswith("Be brief.")
    return plan.settings.output_schema is not None, "JSON Schema" in plan.settings.system, bool(plan.tools)


@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_schema_beside_tools(wire: str) -> None:
    assert planned(wire) == (True, False, True)


@pytest.mark.parametrize("wire", ["chat", "ollama"])
def test_no_schema_beside_tools_on_servers_that_then_forbid_calls(wire: str) -> None:
    assert planned(wire) == (False, True, True)
    assert planned(wire, tools=False) == (True, False, False)
    assert planned(wire, choice="none") == (True, False, False)


def test_gemini_by_model() -> None:
    assert planned("gemini", model="gemini-2.5-pro") == (False, True, True)
    assert planned("gemini", model="gemini-3-pro") == (True, False, True)


def test_json_object_and_prompt() -> None:
    assert planned("chat", mode="json_object", tools=False) == (True, True, False)
    assert planned("chat", mode="json_object") == (False, True, True)
    assert planned("chat", mode="prompt", tools=False) == (False, True, False)


def test_a_schema_that_anthropic_cannot_enforce_is_an_instruction() -> None:
    assert planned("messages", kind=dict[str, int]) == (False, True, True)


def test_without_a_schema_nothing_changes() -> None:
    request = TurnRequest(model="m", messages=[])
    assert plan_output(request, "chat") is request
