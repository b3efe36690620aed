"""What tests of tools share: a call, a context, a runtime whose events are kept."""

from typing import Any

from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.tools.registry import ToolLike
from heald.tools.runtime import ToolRuntime


def call(name: str, /, id: str = "call_1", **arguments: Any) -> ToolCall:  # noqa: A002
    return ToolCall(id=id, name=name, input=arguments)


class Bench:
    """A runtime and all that it said."""

    def __init__(self, *tools: ToolLike, **options: Any) -> None:
        self.runtime = ToolRuntime(tools, **options)
        self.said: list[Payload] = []

    async def run(self, *calls: ToolCall) -> list[ToolResult]:
        return await self.runtime.execute(calls, self.said.append)

    async def one(self, name: str, /, **arguments: Any) -> ToolResult:
        (result,) = await self.run(call(name, **arguments))
        return result

    def types(self, *names: str) -> list[str]:
        return [payload.type for payload in self.said if not names or payload.type in names]
