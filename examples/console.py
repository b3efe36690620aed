"""Everything that happens, as it happens: match on the events you care about."""

import asyncio

import weft
from weft.core.events import ExchangeResponse, TextDelta, ThinkingDelta, ToolCompleted, ToolExecuting

S = weft.ScriptedModel
PAGE = "<!doctype html>\n<title>Oslo</title>\n<h1>Oslo</h1>\n"


async def main() -> None:
    write = S.call("create_file", path="index.html", content=PAGE)
    model = S([[S.think("A page with one heading."), "I write it. ", write], "Done."], pause=0.01)
    async with weft.Agent(model, tools=["files"]) as agent:
        async for event in agent.stream("Write a page about Oslo."):
            match event.data:
                case TextDelta(text=text) | ThinkingDelta(text=text):
                    print(text, end="", flush=True)
                case ToolExecuting(summary=summary):
                    print(f"\n→ {summary}")
                case ToolCompleted(duration_ms=took):
                    print(f"  done in {took:.0f} ms")
                case ExchangeResponse(status=status, turns=turns):
                    print(f"\n{status} after {turns} turns; {len(agent.workspace.read_text('index.html'))} characters")
                case _:
                    pass


asyncio.run(main())
