"""A reactor that writes metrics: an object with handlers for some events. It does not delay the exchange."""

import asyncio
from collections import Counter
from pathlib import Path

import heald


class Metrics:
    """Counts, and writes them as text that Prometheus reads, after each exchange."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.counts: Counter[str] = Counter()

    def on_tool_completed(self, event: heald.events.Event) -> None:
        assert isinstance(event.data, heald.events.ToolCompleted)
        self.counts[f'heald_calls_total{{tool="{event.data.name}",status="ok"}}'] += 1

    def on_tool_failed(self, event: heald.events.Event) -> None:
        assert isinstance(event.data, heald.events.ToolFailed)
        self.counts[f'heald_calls_total{{tool="{event.data.name}",status="{event.data.status}"}}'] += 1

    def on_exchange_response(self, event: heald.events.Event) -> None:
        assert isinstance(event.data, heald.events.ExchangeResponse)
        self.counts[f'heald_exchanges_total{{status="{event.data.status}"}}'] += 1
        self.counts["heald_turns_total"] += event.data.turns
        self.counts["heald_output_tokens_total"] += event.data.usage.total_output or 0
        self.file.write_text("".join(f"{name} {count}\n" for name, count in sorted(self.counts.items())))


@heald.tool
async def divide(a: float, b: float) -> float:
    """Divide two numbers."""
    if b == 0:
        raise heald.ToolFault("Nothing can be divided by zero.")
    return a / b


async def main() -> None:
    script = heald.testing.ScriptedModel
    calls = [script.call("divide", a=1, b=2), script.call("divide", a=1, b=0)]
    metrics = Metrics(Path("metrics.prom"))
    async with heald.Agent(script([calls, "A half, and nothing."]), tools=[divide]) as agent:
        agent.subscribe(metrics)
        await agent.run("Divide 1 by 2 and by 0.")
    print(metrics.file.read_text(), end="")


asyncio.run(main())
