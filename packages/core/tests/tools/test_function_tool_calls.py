"""A tool that was made of a function is still that function."""

import inspect
from collections.abc import AsyncIterator

import msgspec
import pytest

import heald
from heald.core.errors import ConfigurationError


@heald.tool
async def weather(city: str, *, days: int = 1) -> str:
    """Weather of a city."""
    return f"{city}: {days} days of rain"


@heald.tool(effect="none", name="adds")
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@heald.tool
async def count(upto: int) -> AsyncIterator[str]:
    """Count."""
    for number in range(upto):
        yield str(number)


async def test_calling_the_tool_calls_the_function() -> None:
    assert await weather("Oslo", days=2) == "Oslo: 2 days of rain"
    assert add(2, second=3) == 5
    assert [number async for number in count(2)] == ["0", "1"]


def test_it_has_the_name_the_signature_and_the_docstring_of_the_function() -> None:
    assert str(inspect.signature(weather)) == "(city: str, *, days: int = 1) -> str"
    assert weather.__name__ == "weather"  # pyrefly: ignore[missing-attribute]
    assert weather.__doc__ == "Weather of a city."
    assert (add.name, add.function(1, 1)) == ("adds", 2)
    assert repr(weather) == "<FunctionTool weather: 'Weather of a city.'>"


def test_a_changed_copy_is_still_the_function() -> None:
    copy = msgspec.structs.replace(add, effect="read")
    assert isinstance(copy, heald.FunctionTool)
    assert (copy(1, 2), copy.effect) == (3, "read")


def test_a_tool_is_not_decorated_twice() -> None:
    with pytest.raises(ConfigurationError, match="is not a function; decorate a function"):
        heald.tool(weather)


async def test_an_agent_that_is_a_tool_answers_a_program() -> None:
    model = heald.testing.ScriptedModel
    text = heald.Agent(model(["Take a coat."])).as_tool("advise", "Advises.")
    assert await text("What should I wear?") == "Take a coat."
    numbers = heald.Agent(model(["[1, 2]"]), output=list[int]).as_tool("count", "Counts.")
    assert await numbers("Count.") == [1, 2]
    broken = heald.Agent(model([[model.fail(heald.QuotaExhausted("No credit."))]])).as_tool("fail", "Fails.")
    with pytest.raises(heald.QuotaExhausted):
        await broken("Go.")


async def test_an_agent_with_a_type_that_is_a_tool_answers_its_caller_with_that_type() -> None:
    model = heald.testing.ScriptedModel
    child = heald.Agent(model(["no number", "[1]"]), output=list[int])
    counter = child.as_tool("count", "Counts.")
    parent = heald.Agent(model([[model.call("count", prompt="Go.")], "Done."]), tools=[counter])
    result = await parent.run("Go.")
    assert result.messages[2].tool_results[0].text == "[1]"
