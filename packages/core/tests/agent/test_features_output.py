"""Typed answers: any type that JSON can carry, corrections, and an error when they do not help."""

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import msgspec
import pydantic
import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.typed_output import OutputError
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeResponse, UserMessage
from log_support import Log, call, scripted


class City(msgspec.Struct):
    name: str
    people: int


@dataclass
class Town:
    name: str
    people: int = 0


class Village(TypedDict):
    name: str
    people: int


class Hamlet(pydantic.BaseModel):
    name: str
    people: int = pydantic.Field(ge=0)


KINDS: list[tuple[Any, str, Any]] = [
    (City, '{"name": "Oslo", "people": 7}', City("Oslo", 7)),
    (Town, '{"name": "Oslo"}', Town("Oslo")),
    (Village, '{"name": "Oslo", "people": 7}', {"name": "Oslo", "people": 7}),
    (Hamlet, '{"name": "Oslo", "people": 7}', Hamlet(name="Oslo", people=7)),
    (list[int], "[1, 2, 3]", [1, 2, 3]),
    (list[City], '[{"name": "Oslo", "people": 7}]', [City("Oslo", 7)]),
    (dict[str, float], '{"a": 1.5}', {"a": 1.5}),
    (Literal["yes", "no"], '"yes"', "yes"),
    (int, "7", 7),
]


@pytest.mark.parametrize(("kind", "answer", "value"), KINDS, ids=lambda value: getattr(value, "__name__", None))
async def test_types(kind: Any, answer: str, value: Any) -> None:
    model = scripted(answer)
    agent = Agent(model, output=kind)
    log = Log(agent)
    result = await agent.run("Where?")
    assert result.output == value
    assert type(result.output) is type(value)
    assert model.requests[0].settings.output_schema is not None
    log.prove()


@pytest.mark.parametrize("fence", ["```json\n%s\n```", "```\n%s```", "\n  %s  \n"])
async def test_a_fence_around_it_is_forgiven(fence: str) -> None:
    result = await Agent(scripted(fence % "[1]"), output=list[int]).run("Go.")
    assert result.output == [1]


async def test_an_answer_that_does_not_fit_is_corrected() -> None:
    model = scripted("Oslo, I think.", '{"name": "Oslo", "people": "many"}', '{"name": "Oslo", "people": 7}')
    agent = Agent(model, output=City)
    log = Log(agent)
    result = await agent.run("Where?")
    assert (result.output, result.turns) == (City("Oslo", 7), 3)
    asked = [payload.message.text for payload in log.of(UserMessage)]
    assert "not JSON" in asked[1]
    assert "people" in asked[2]
    log.prove()


@pytest.mark.parametrize("wrong", ["", '{"name": "Oslo"}', '{"name": "Oslo", "people": NaN}', "[1]", "null"])
async def test_after_two_corrections_it_fails(wrong: str) -> None:
    model = scripted(*[wrong] * 4)
    agent = Agent(model, output=City)
    log = Log(agent)
    with pytest.raises(OutputError, match="not of the type that was asked for"):
        await agent.run("Where?")
    assert len(model.requests) == 3
    assert [response.status for response in log.of(ExchangeResponse)] == ["failed"]
    log.prove()


async def test_pydantic_states_what_is_wrong() -> None:
    model = scripted('{"name": "Oslo", "people": -1}', '{"name": "Oslo", "people": 1}')
    agent = Agent(model, output=Hamlet)
    log = Log(agent)
    assert (await agent.run("Where?")).output.people == 1
    assert "validation error" in log.of(UserMessage)[1].message.text
    log.prove()


async def test_tools_first_then_the_answer() -> None:
    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    agent = Agent(scripted(["Let me see.", call("look")], "[1]"), tools=[look], output=list[int])
    log = Log(agent)
    result = await agent.run("Go.")
    assert (result.output, result.turns) == ([1], 2)
    log.prove()


async def test_for_one_exchange_only() -> None:
    model = scripted("[1]", "Just words.", "2")
    agent = Agent(model)
    assert (await agent.run("Go.", output=list[int])).output == [1]
    assert (await agent.run("Go.")).output is None
    assert (await agent.run("Go.", output=int)).output == 2
    assert [request.settings.output_schema is not None for request in model.requests] == [True, False, True]


async def test_of_one_exchange_goes_before_that_of_the_agent() -> None:
    agent = Agent(scripted("[1]", '"a"'), output=list[int])
    assert (await agent.run("Go.")).output == [1]
    assert (await agent.run("Go.", output=str)).output == "a"


async def test_a_type_that_json_cannot_carry_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="JSON cannot carry"):
        Agent(scripted("x"), output=object())  # pyright: ignore[reportArgumentType]


def test_run_sync_gives_it_too() -> None:
    assert Agent(scripted("[1]")).run_sync("Go.", output=list[int]).output == [1]
