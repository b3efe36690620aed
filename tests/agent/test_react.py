"""`react`: handlers as a mapping, an object or a class, with the names of events in snake_case and camelCase."""

import asyncio
from typing import Any

import pytest

import weft
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError

S = weft.ScriptedModel


@weft.tool
async def look(place: str) -> str:
    """Look around."""
    return f"Nothing at {place}."


def agent() -> weft.Agent:
    return weft.Agent(S([[S.call("look", place="home")], "Done.", "More."]), tools=[look])


async def test_a_mapping_of_handlers_and_event_types() -> None:
    seen: list[str] = []
    async with agent() as one:
        one.react(
            {
                "onToolResult": lambda event: seen.append(f"result {event.data.text}"),
                "tool_call": lambda event: seen.append(f"call {event.data.name}"),
                "on_exchange_response": lambda event: seen.append(event.data.status),
            }
        )
        await one.run("Go.")
    assert seen == ["call look", "result Nothing at home.", "completed"]


async def test_the_rest_goes_to_on_event() -> None:
    seen: list[str] = []
    others: list[str] = []
    async with agent() as one:
        one.react({"onEvent": lambda event: others.append(event.type), "onToolCall": lambda _: seen.append("call")})
        await one.run("Go.")
    assert seen == ["call"]
    assert "tool_call" not in others
    assert others[-1] == "exchange_response"


async def test_an_object_and_a_class_with_camel_case_methods() -> None:
    seen: list[str] = []

    class Chat:
        def onToolUseMessage(self, event: Event) -> None:  # noqa: N802
            seen.append(f"{event.data.call.name} {event.data.result is not None}")  # type: ignore[attr-defined]

        async def onExchangeResponse(self, event: Event) -> None:  # noqa: N802
            await asyncio.sleep(0)
            seen.append(event.type)

    async with agent() as one:
        one.react(Chat())
        one.react(Chat)
        await one.run("Go.")
    assert sorted(seen) == ["exchange_response"] * 2 + ["look False"] * 2 + ["look True"] * 2


async def test_the_function_that_it_returns_unsubscribes() -> None:
    seen: list[str] = []
    async with agent() as one:
        unsubscribe = one.react({"onAssistantMessage": lambda event: seen.append(event.data.message.text)})
        await one.run("Go.")
        unsubscribe()
        unsubscribe()
        await one.run("More.")
    assert seen == ["", "Done."]


class Misspelled:
    def onToolReslut(self, event: Event) -> None: ...  # noqa: N802


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"onToolReslut": print}, "There is no handler 'onToolReslut'; the nearest name is 'onToolResult'."),
        ({"tool_cal": print}, "There is no handler 'tool_cal'; the nearest name is 'tool_call'."),
        (Misspelled(), "There is no handler 'onToolReslut'; the nearest name is 'onToolResult'."),
        ({"onToolCall": "x"}, "The handler 'onToolCall' is a str; give a function."),
        ({"onToolCall": print, "tool_call": print}, "There are two handlers of 'tool_call'; give one."),
        ({}, "There is no handler in the mapping; give one such as onTextDelta."),
        ({7: print}, "There is no handler '7'; the nearest name is"),
    ],
)
async def test_what_is_not_a_handler_is_refused(given: Any, message: str) -> None:
    async with agent() as one:
        with pytest.raises(ConfigurationError) as refused:
            one.react(given)
    assert str(refused.value).startswith(message)
    assert str(refused.value).count(".") == 1
