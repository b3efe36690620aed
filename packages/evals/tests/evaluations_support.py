"""Agents with scripted models, and evaluations of them."""

from collections.abc import Callable, Sequence

import heald
from heald.providers.scripted import Script
from heald_evals import Case

S = heald.testing.ScriptedModel


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C, snow"


def answering(*turns: Script) -> Callable[[], heald.Agent]:
    """Return a function that makes an agent with the same scripted turns for every case."""
    return lambda: heald.Agent(S(turns), tools=[weather])


def by_case(turns: dict[str, Sequence[Script]]) -> Callable[[Case], heald.Agent]:
    """Return a function that makes an agent with the scripted turns of the case."""
    return lambda case: heald.Agent(S(turns[case.name]), tools=[weather])
