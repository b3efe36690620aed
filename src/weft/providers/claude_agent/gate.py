"""Stands before every call in the SDK's loop: nothing runs there that Weft has not let through.

The SDK asks `can_use_tool` only where its own rules leave a call open, and reads files without asking. So the gate is a
`PreToolUse` hook as well, which stands before every call and blocks it should it fail; both give the same answer.
"""

from collections.abc import Callable
from typing import Any

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext
from claude_agent_sdk.types import HookContext, SyncHookJSONOutput

from weft.core.json import JsonObject, as_object
from weft.providers.claude_agent.ledger import Ledger
from weft.providers.claude_agent.server import PREFIX
from weft.providers.hosting import Judge

_NOT_OURS = "This tool is for the main agent; ask for it in your answer."


class Gate:
    def __init__(self, ledger: Ledger, judge: Callable[[], Judge | None]) -> None:
        self._ledger = ledger
        self._judge = judge

    async def before_tool(self, asked: Any, call: str | None, context: HookContext) -> SyncHookJSONOutput:
        """The hook."""
        question: JsonObject = as_object(asked)
        name, arguments = str(question.get("tool_name", "")), as_object(question.get("tool_input"))
        call = call or str(question.get("tool_use_id", ""))
        said = await self._decide(name, arguments, call, bool(question.get("agent_id")))
        if isinstance(said, str):
            return _decision(permissionDecision="deny", permissionDecisionReason=said)
        if said != arguments:
            return _decision(permissionDecision="allow", updatedInput=said)
        return _decision(permissionDecision="allow")

    async def can_use_tool(
        self, name: str, arguments: JsonObject, context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        said = await self._decide(name, arguments, context.tool_use_id or "", bool(context.agent_id))
        if isinstance(said, str):
            return PermissionResultDeny(message=said)
        return PermissionResultAllow(updated_input=said)

    async def _decide(self, name: str, arguments: JsonObject, call: str, subagent: bool) -> JsonObject | str:
        """The arguments it may run with, or why it may not."""
        ours = name.startswith(PREFIX)
        if subagent:
            judge = self._judge()
            refused = _NOT_OURS if ours or judge is None else judge(name, arguments)
            return arguments if refused is None else refused
        if ours:
            return arguments  # it runs here, and is decided on here
        return await self._ledger.errand(call).go


def _decision(**output: Any) -> SyncHookJSONOutput:
    said: Any = {"hookEventName": "PreToolUse", **output}
    return {"hookSpecificOutput": said}
