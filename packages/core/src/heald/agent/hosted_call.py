"""A running call of a tool in a model's own loop."""

from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolResult
from heald.tools.context import ToolContext
from heald.tools.files.access import publish_changes
from heald.tools.inner_calls import InnerCalls
from heald.tools.runtime import ToolRuntime


class HostedCall:
    """A running call of a host's tool, as the host sees it."""

    def __init__(self, context: ToolContext, runtime: ToolRuntime) -> None:
        self.on_change = publish_changes(context)
        """Publishes a change of a file as an effect of the call."""
        self._inner_calls = _HostedInnerCalls(context, runtime)

    async def run_inner(self, name: str, arguments: JsonObject, call_id: str) -> ToolResult:
        """Run another call of the host, which it made while this one is running."""
        return await self._inner_calls.run(name, arguments, call_id)


class _HostedInnerCalls(InnerCalls):
    def _is_callable(self, call: ToolCall) -> bool:
        return True
