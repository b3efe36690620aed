"""What the tests of programs share: an agent whose model writes one program, and its log."""

from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import heald
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.testing import ScriptedModel
from heald.tools.registry import ToolLike
from heald_check import check_log


@heald.tool(effect="read")
async def price(item: str, count: int = 1) -> dict[str, Any]:
    """The price of an item."""
    if item == "gold":
        raise heald.ToolFault("Gold is not sold here.")
    return {"item": item, "usd": len(item) * count}


class ProgramRun:
    """One exchange in which the model runs a program."""

    def __init__(self, program: str, *tools: ToolLike | str, timeout_s: float = 60, **options: Any) -> None:
        self.model = ScriptedModel(
            [[ScriptedModel.call("run_program", program=dedent(program), timeout_s=timeout_s)], "Done."]
        )
        self.agent = heald.Agent(self.model, tools=["code", *(tools or (price,))], **options)
        self.log: list[Event] = []
        self.agent.subscribe(self.log.append)

    async def run(self) -> ToolResult:
        """Return the result of the program, as the model gets it. The log must be right."""
        await self.agent.run("Go.")
        assert check_log(self.log, host_paths=["/tmp/heald-program"]) == []
        return self.result

    @property
    def result(self) -> ToolResult:
        return self.results()[-1]

    def results(self) -> list[ToolResult]:
        return [event.data for event in self.log if isinstance(event.data, ToolResult)]

    def calls(self) -> list[ToolCall]:
        """The calls of the program."""
        return [event.data for event in self.log if isinstance(event.data, ToolCall) and event.data.parent is not None]

    def outcomes(self) -> list[tuple[str, str]]:
        return [(result.name, result.status) for result in self.results()[:-1]]

    def payloads(self, *types: str) -> Sequence[Payload]:
        return [event.data for event in self.log if event.type in types]


async def run_program(program: str, *tools: ToolLike | str, **options: Any) -> ToolResult:
    """Run a program and return its result, as the model gets it."""
    return await ProgramRun(program, *tools, **options).run()
