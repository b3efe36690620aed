"""`@heald.tool`: a signature becomes a schema, a docstring becomes a description."""

import asyncio
import contextvars
import enum
import threading
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
import pytest
from tool_bench import Bench

import heald
from heald.core.errors import ConfigurationError
from heald.tools.function_tools import tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Edit(msgspec.Struct):
    old: Annotated[str, msgspec.Meta(description="what to replace")]
    count: int = 1


@dataclass
class Point:
    x: int
    y: float = 0.0


class Node(msgspec.Struct):
    name: str
    children: list["Node"] = []


@tool
async def weather(city: str, days: int = 3, unit: Literal["C", "F"] = "C") -> str:
    """Weather of a city.

    As it will be.

    Args:
        city: The city's name,
            in any language.
        days: How many days: at most seven.

    Returns:
        A sentence.
    """
    return f"{city} {days} {unit}"


def test_definition() -> None:
    assert weather.definition.name == "weather"
    assert weather.definition.description == "Weather of a city.\n\nAs it will be."
    assert weather.definition.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city's name, in any language."},
            "days": {"type": "integer", "default": 3, "description": "How many days: at most seven."},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_rest_style_descriptions() -> None:
    @tool
    def find(what: str, where: str = "here") -> None:
        """Find it.

        :param what: the thing
        :param str where: the place,
            roughly
        :returns: nothing
        """

    properties = find.definition.input_schema["properties"]
    assert find.definition.description == "Find it."
    assert properties["what"]["description"] == "the thing"
    assert properties["where"]["description"] == "the place, roughly"


async def test_structured_parameters() -> None:
    got: list[Any] = []

    @tool
    async def many(colour: Colour, edits: list[Edit], at: Point, tags: dict[str, int] | None = None) -> None:
        """Take many things."""
        got.extend((colour, edits, at, tags))

    result = await Bench(many).one("many", colour="blue", edits=[{"old": "a"}], at={"x": 1})
    assert result.status == "ok"
    assert got == [Colour.BLUE, [Edit("a", 1)], Point(1, 0.0), None]
    schema = many.definition.input_schema
    assert "$ref" not in str(schema)
    assert schema["properties"]["edits"]["items"]["properties"]["old"]["description"] == "what to replace"


async def test_a_type_that_holds_itself() -> None:
    @tool
    async def count(tree: Node) -> int:
        """Count the nodes."""
        return 1 + sum(1 for _ in tree.children)

    bench = Bench(count)
    assert (await bench.one("count", tree={"name": "a", "children": [{"name": "b"}]})).content == "2"
    assert (await bench.one("count", tree={"name": "a", "children": [{"nome": "b"}]})).status == "invalid_input"


async def test_a_pydantic_model() -> None:
    pydantic = pytest.importorskip("pydantic")
    model: Any = pydantic.create_model("Person", name=(str, ...), age=(int, pydantic.Field(ge=0)))

    async def greet(person: Any) -> str:
        """Greet."""
        return f"{person.name} {person.age}"

    greet.__annotations__["person"] = model
    bench = Bench(tool(greet))
    assert (await bench.one("greet", person={"name": "Ada", "age": 36})).content == "Ada 36"
    assert (await bench.one("greet", person={"name": "Ada", "age": -1})).status == "invalid_input"


async def test_the_context_is_given_and_hidden() -> None:
    @tool
    async def who(ctx: heald.ToolContext, loud: bool = False) -> str:
        """Say the call's id."""
        return ctx.call.id.upper() if loud else ctx.call.id

    assert "ctx" not in who.definition.input_schema["properties"]
    assert (await Bench(who).one("who")).content == "call_1"


async def test_a_plain_function_runs_in_a_thread_with_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    threads: list[threading.Thread] = []

    @tool
    def where() -> str:
        """Say it."""
        threads.append(threading.current_thread())
        return variable.get()

    variable.set("set")
    assert (await Bench(where).one("where")).content == "set"
    assert threads[0] is not threading.main_thread()
    assert threads[0].daemon


async def test_a_plain_function_does_not_hold_the_loop_up() -> None:
    started, proceed = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Be slow."""
        started.set()
        return str(proceed.wait(10))

    task = asyncio.create_task(Bench(slow).one("slow"))
    while not started.is_set():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    proceed.set()
    assert (await task).content == "True"


async def test_output_from_a_thread_comes_before_the_result() -> None:
    @tool
    def chatty(ctx: heald.ToolContext) -> str:
        """Chat."""
        for number in range(5):
            ctx.output(str(number))
        return "done"

    bench = Bench(chatty)
    await bench.one("chatty")
    assert bench.types()[1:] == ["tool_output_delta"] * 5 + ["tool_completed", "tool_result", "tool_use_message"]


def test_defaults_that_can_change_are_not_shared() -> None:
    @tool
    def collect(into: list[str] = []) -> None:  # noqa: B006
        """Collect."""

    assert collect.convert is not None
    first = collect.convert({})["into"]
    first.append("x")
    assert collect.convert({})["into"] == []


def test_what_cannot_be_a_tool() -> None:
    def untyped(x) -> None:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
        """Has no type."""

    def unnamed(*args: int) -> None:
        """Has no names."""

    with pytest.raises(ConfigurationError, match="'x' has no type"):
        tool(untyped)  # pyright: ignore[reportUnknownArgumentType]
    with pytest.raises(ConfigurationError, match="needs a name of its own"):
        tool(unnamed)


def test_a_type_that_json_cannot_carry() -> None:
    def look(at: asyncio.Task[None]) -> None:
        """Look."""

    with pytest.raises(ConfigurationError, match="'look' has a type that JSON cannot carry: Task; use builtin types"):
        tool(look)


HOME = PurePosixPath("a")


async def test_a_path_is_a_text_to_the_model() -> None:
    @tool
    async def look(at: Path, within: Path | None = None, start: PurePosixPath = HOME) -> str:
        """Look."""
        return f"{at!r} {within!r} {start!r}"

    bench = Bench(look)
    assert look.definition.input_schema["properties"]["at"] == {"type": "string"}
    assert (await bench.one("look", at="x/y", within="z")).content == f"{Path('x/y')!r} {Path('z')!r} {HOME!r}"
    assert (await bench.one("look", at=["x"])).status == "invalid_input"
