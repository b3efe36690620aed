"""A provider of your own: a class that yields the events of one model call, and an agent that uses it as its model."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import heald


class Weatherman(heald.providers.ProviderAdapter):
    """Calls the tool `weather` once and repeats its result."""

    name = "weatherman/one"

    async def create_message_stream(self, request: Any, options: Any = None) -> AsyncIterator[dict[str, Any]]:
        last = request["messages"][-1]["content"][0]
        if last["type"] == "tool_result":
            yield {"type": "text", "text": f"It is {last['content']} now."}
        else:
            yield {"type": "tool_call", "id": "call_1", "name": "weather", "args": '{"city": "Oslo"}'}
        yield {"type": "usage", "inputTokens": 10, "outputTokens": 5}
        yield {"type": "end"}


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"3 °C in {city}"


async def main() -> None:
    async with heald.Agent(Weatherman(), tools=[weather]) as agent:
        result = await agent.run("How is the weather?")
        print(result.text, result.usage.total, "tokens")


asyncio.run(main())
