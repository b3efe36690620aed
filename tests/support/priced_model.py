"""A scripted model that has a price, and a worker that reports a fixed usage for each of its answers."""

from collections.abc import Callable

import heald
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import ProviderSession
from heald.providers.scripted import Script, ScriptedRequest, ScriptedSession

S = heald.testing.ScriptedModel
INPUT_USD = OUTPUT_USD = 0.001
"""Dollars for each token."""


class PricedSession(ScriptedSession):
    """A session whose usage has a price."""

    def cost(self, usage: Usage) -> Cost:
        usd = (usage.total_input or 0) * INPUT_USD + (usage.total_output or 0) * OUTPUT_USD
        return Cost(usd=usd, source="catalogue")


class PricedModel(S):
    """Plays scripts at a price."""

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return PricedSession(self, messages, tools, settings)


def used(tokens: int, *parts: object, reason: str = "end_turn") -> Script:
    """Return a script with these parts that reports this usage."""
    return [*parts, S.stop(reason, Usage(input=10, output=tokens - 10))]  # pyright: ignore[reportArgumentType, reportReturnType]


def worker(tokens: int, *, count: int = 100, pause: float = 0.001) -> PricedModel:
    """Return a model whose every answer is short and uses this many tokens."""
    return PricedModel([used(tokens, "A short report.")] * count, name="scripted/worker", pause=pause)


def caller(calls: int, tool: str = "help", *, tokens: int = 20, last: str = "Done.") -> PricedModel:
    """Return a model that calls a tool several times in one message, and then answers."""
    script = used(tokens, *(S.call(tool, prompt=f"Part {number}.") for number in range(calls)), reason="tool_use")
    return PricedModel([script, used(tokens, last)], name="scripted/caller")


ScriptFunction = Callable[[ScriptedRequest], Script]
