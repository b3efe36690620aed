"""The calls of a query on both sides: Heald's tools as an MCP server, the permission hook, and the ledger of results.

Either side may know a call first. A reader waits for the missing part; the end of the query wakes all readers.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext
from claude_agent_sdk.types import HookContext, SyncHookJSONOutput
from mcp.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object
from heald.core.messages import File, Image, ResultPart, Text, ToolCall, ToolDefinition, ToolResult
from heald.providers.tool_host import Judge, Outcome, OutcomeLost

T = TypeVar("T")

_OVER = "The exchange is over; the call was not run."


class PendingCall:
    """The futures of one call."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.go: asyncio.Future[JsonObject | str] = loop.create_future()
        """The arguments with which the SDK may run it, or why it may not."""
        self.outcome: asyncio.Future[Outcome | None] = loop.create_future()
        """Its outcome in the SDK; None if that stays unknown."""
        self.result: asyncio.Future[ToolResult | None] = loop.create_future()
        """Its result in Heald."""
        self.on_output: Callable[[str], object] | None = None


class Ledger:
    """The calls of one query, by the SDK's ids."""

    def __init__(self) -> None:
        self._calls: dict[str, PendingCall] = {}
        self._theirs: dict[str, str] = {}  # the SDK's id of a call, by Heald's
        self._over = False

    def pending(self, call: str) -> PendingCall:
        pending = self._calls.get(call)
        if pending is None:
            pending = self._calls[call] = PendingCall()
            if self._over:
                _end(pending)
        return pending

    def announce(self, calls: list[ToolCall]) -> None:
        """Register the calls of a finished message with the ids that Heald gave them."""
        self._theirs.update((call.id, call.wire_id or call.id) for call in calls)

    async def perform(self, call: str, arguments: JsonObject, on_output: Callable[[str], object]) -> Outcome:
        pending = self.pending(self._theirs.get(call, call))
        pending.on_output = on_output
        _set(pending.go, arguments)
        outcome = await pending.outcome
        if outcome is None:
            raise OutcomeLost("Claude Code ended before it reported the result of the call; it may have run.")
        return outcome

    def deliver_result(self, result: ToolResult) -> None:
        pending = self.pending(self._theirs.get(result.id, result.id))
        pending.on_output = None
        _set(pending.go, result.text or "The call was refused.")
        _set(pending.result, result)

    def set_outcome(self, call: str, outcome: Outcome) -> None:
        _set(self.pending(call).outcome, outcome)

    def report_progress(self, call: str, text: str) -> None:
        """Report the output of a subagent as output of the call that started it."""
        on_output = self.pending(call).on_output
        if on_output is not None:
            on_output(text)

    def end(self) -> None:
        """End the query: every open and every later call ends at once."""
        self._over = True
        for pending in self._calls.values():
            _end(pending)


def _end(pending: PendingCall) -> None:
    _set(pending.go, _OVER)
    _set(pending.outcome, None)
    _set(pending.result, None)


def _set(future: "asyncio.Future[T]", value: T) -> None:
    if not future.done():
        future.set_result(value)


SERVER = "heald"
PREFIX = f"mcp__{SERVER}__"
_CALL = "claudecode/toolUseId"
_HINTS = {"anthropic/alwaysLoad": True, "anthropic/maxResultSizeChars": 500_000}


def tool_server(tools: Sequence[ToolDefinition], ledger: Ledger, fail: Callable[[Exception], None]) -> Server[Any]:
    """Make an MCP server with these tools. The ledger answers its calls; it runs nothing itself."""
    listed = ListToolsResult(tools=[_tool(tool) for tool in tools])

    async def on_list_tools(context: Any, params: Any) -> ListToolsResult:  # noqa: ARG001
        return listed

    async def on_call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:  # noqa: ARG001
        call = dict(context.meta or {}).get(_CALL)
        if not isinstance(call, str):
            error = ConfigurationError(
                "This version of Claude Code does not name the calls that it makes, so they get no results; "
                f"{install_advice('claude', upgrade=True)} claude-agent-sdk."
            )
            fail(error)
            return _answer([{"type": "text", "text": str(error)}], is_error=True)
        result = await ledger.pending(call).result
        if result is None:
            return _answer([{"type": "text", "text": "The exchange is over."}], is_error=True)
        return _answer(_content(result), is_error=bool(result.is_error))

    return Server(SERVER, on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def _tool(tool: ToolDefinition) -> Tool:
    return Tool.model_validate(
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema, "_meta": _HINTS}
    )


def _answer(content: list[JsonObject], *, is_error: bool) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, "isError": is_error})


def _content(result: ToolResult) -> list[JsonObject]:
    if isinstance(result.content, str):
        return [{"type": "text", "text": result.content}]
    return [_part(part) for part in result.content]


def _part(part: ResultPart) -> JsonObject:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(data=str(data), media_type=media_type):
            return {"type": "image", "data": data, "mimeType": media_type}
        case File(data=str(data), media_type=media_type, name=name):
            uri = f"heald:///{name or 'file'}"
            return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}}
        case Image(url=url) | File(url=url):
            return {"type": "text", "text": url or ""}


_NOT_OURS = "This tool is for the main agent; ask for it in your answer."


class Gate:
    """Decides on every call in the SDK's loop: nothing runs there without Heald's permission.

    The SDK calls `can_use_tool` only where its own rules leave a call open, and reads files without asking. The
    `PreToolUse` hook covers every call, and blocks it should the hook fail; both give the same answer.
    """

    def __init__(self, ledger: Ledger, judge: Callable[[], Judge | None]) -> None:
        self._ledger = ledger
        self._judge = judge

    async def before_tool(self, hook_input: Any, call: str | None, context: HookContext) -> SyncHookJSONOutput:
        """Decide on a call, as the `PreToolUse` hook."""
        question: JsonObject = as_object(hook_input)
        name, arguments = str(question.get("tool_name", "")), as_object(question.get("tool_input"))
        call = call or str(question.get("tool_use_id", ""))
        decision = await self._decide(name, arguments, call, bool(question.get("agent_id")))
        if isinstance(decision, str):
            return _decision(permissionDecision="deny", permissionDecisionReason=decision)
        if decision != arguments:
            return _decision(permissionDecision="allow", updatedInput=decision)
        return _decision(permissionDecision="allow")

    async def can_use_tool(
        self, name: str, arguments: JsonObject, context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        decision = await self._decide(name, arguments, context.tool_use_id or "", bool(context.agent_id))
        if isinstance(decision, str):
            return PermissionResultDeny(message=decision)
        return PermissionResultAllow(updated_input=decision)

    async def _decide(self, name: str, arguments: JsonObject, call: str, subagent: bool) -> JsonObject | str:
        """Return the arguments with which a call may run, or the reason why it may not."""
        ours = name.startswith(PREFIX)
        if subagent:
            judge = self._judge()
            refused = _NOT_OURS if ours or judge is None else judge(name, arguments)
            return arguments if refused is None else refused
        if ours:
            return arguments  # it runs in Heald, which decides on it
        return await self._ledger.pending(call).go


def _decision(**output: Any) -> SyncHookJSONOutput:
    specific: Any = {"hookEventName": "PreToolUse", **output}
    return {"hookSpecificOutput": specific}
