"""A reactor: an object with handlers for the events it wants. It is never felt by the exchange."""

import asyncio
from collections import Counter

import weft
from weft.core.envelope import Event
from weft.core.events import ExchangeResponse, ToolCompleted, ToolFailed


class Metrics:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.slowest: tuple[float, str] = (0.0, "")

    def on_tool_completed(self, event: Event) -> None:
        assert isinstance(event.data, ToolCompleted)
        self.counts["tools.ok"] += 1
        self.slowest = max(self.slowest, (event.data.duration_ms, event.data.name))

    def on_tool_failed(self, event: Event) -> None:
        assert isinstance(event.data, ToolFailed)
        self.counts[f"tools.{event.data.status}"] += 1

    def on_exchange_response(self, event: Event) -> None:
        assert isinstance(event.data, ExchangeResponse)
        self.counts[f"exchanges.{event.data.status}"] += 1
        self.counts["turns"] += event.data.turns
        self.counts["tokens.output"] += event.data.usage.total_output or 0


@weft.tool
async def divide(a: float, b: float) -> float:
    """Divide two numbers."""
    if b == 0:
        raise weft.ToolFault("Nothing can be divided by zero.")
    return a / b


async def main() -> None:
    script = weft.ScriptedModel
    calls = [script.call("divide", a=1, b=2), script.call("divide", a=1, b=0)]
    metrics = Metrics()
    async with weft.Agent(script([calls, "A half, and nothing."]), tools=[divide]) as agent:
        agent.subscribe(metrics)
        await agent.run("Divide 1 by 2 and by 0.")
    for name, count in sorted(metrics.counts.items()):
        print(name, count)
    print("slowest:", metrics.slowest[1])


asyncio.run(main())
