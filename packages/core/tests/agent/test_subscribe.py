"""`subscribe`: a function, or an object with a method for each type of event."""

import asyncio
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError

S = heald.testing.ScriptedModel


@heald.tool
async def look(place: str) -> str:
    """Look around."""
    return f"Nothing at {place}."


def make_agent() -> heald.Agent:
    return heald.Agent(S([[S.call("look", place="home")], "Done.", "More."]), tools=[look])


async def test_functions_for_types_of_events() -> None:
    seen: list[str] = []
    async with make_agent() as agent:

        def on_result(event: Any) -> None:
            seen.append(f"result {event.data.text}")

        async def on_call(event: Any) -> None:
            seen.append(f"call {event.data.name}")

        agent.subscribe(on_result, types=["tool_result"])
        agent.subscribe(on_call, types=["tool_call"])
        await agent.run("Go.")
    assert sorted(seen) == ["call look", "result Nothing at home."]


class Chat:
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.others: list[str] = []

    def on_tool_use_message(self, event: Event) -> None:
        self.seen.append(f"{event.data.call.name} {event.data.result is not None}")  # type: ignore[attr-defined]

    async def on_exchange_response(self, event: Event) -> None:
        await asyncio.sleep(0)
        self.seen.append(event.type)

    def on_event(self, event: Event) -> None:
        self.others.append(event.type)


async def test_the_methods_of_an_object_and_one_for_the_rest() -> None:
    chat = Chat()
    async with make_agent() as agent:
        agent.subscribe(chat)
        await agent.run("Go.")
    assert chat.seen == ["look False", "look True", "exchange_response"]
    assert "tool_call" in chat.others
    assert not {"tool_use_message", "exchange_response"} & set(chat.others)


async def test_close_unsubscribes() -> None:
    seen: list[str] = []
    async with make_agent() as agent:

        def on_message(event: Any) -> None:
            seen.append(event.data.message.text)

        subscription = agent.subscribe(on_message, types=["assistant_message"])
        await agent.run("Go.")
        subscription.close()
        subscription.close()
        await agent.run("More.")
    assert seen == ["", "Done."]


class Misspelled:
    def on_tool_reslut(self, event: Event) -> None: ...


@pytest.mark.parametrize(
    ("reactor", "message"),
    [
        (Misspelled(), "There is no handler 'on_tool_reslut'; the nearest name is 'on_tool_result'."),
        ({"on_tool_call": print}, "An object of type dict has no handler; subscribe a function, or an object"),
        (object(), "An object of type object has no handler"),
    ],
)
async def test_what_has_no_handler_is_refused(reactor: Any, message: str) -> None:
    async with make_agent() as agent:
        with pytest.raises(ConfigurationError) as refused:
            agent.subscribe(reactor)
    assert str(refused.value).startswith(message)
