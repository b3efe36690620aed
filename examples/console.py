"""Prints events as they arrive: match on the types that you need."""

import asyncio

import heald

S = heald.testing.ScriptedModel
PAGE = "<!doctype html>\n<title>Oslo</title>\n<h1>Oslo</h1>\n"


async def main() -> None:
    write = S.call("create_file", path="index.html", content=PAGE)
    model = S([[S.think("A page with one heading."), "I write it. ", write], "Done."], pause=0.01)
    async with heald.Agent(model, tools=["files"]) as agent:
        async for event in agent.stream("Write a page about Oslo."):
            match event.data:
                case heald.events.TextDelta(text=text) | heald.events.ThinkingDelta(text=text):
                    print(text, end="", flush=True)
                case heald.events.ToolExecuting(summary=summary):
                    print(f"\n→ {summary}")
                case heald.events.ToolCompleted(duration_ms=took):
                    print(f"  done in {took:.0f} ms")
                case heald.events.ExchangeResponse(status=status, turns=turns):
                    print(f"\n{status} after {turns} turns; {len(agent.workspace.read_text('index.html'))} characters")
                case _:
                    pass


asyncio.run(main())
