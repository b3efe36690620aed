"""The calls that a running call makes of other tools of its agent.

Each is a call of the log with the running one as its `parent`: it is validated, permitted, asked for, locked, run and
recorded like all calls. Its result precedes that of its parent, and nothing of it happens after the parent was stopped.
"""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from heald.core.events import ApprovalResolved, ToolPlanned, ToolUseMessage
from heald.core.ids import new_id
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolCall, ToolResult, ToolStatus
from heald.core.payload import Payload
from heald.tools.definitions import Access, Tool
from heald.tools.planned_call import PlannedCall
from heald.tools.tool_fault import ToolFault

if TYPE_CHECKING:
    from heald.tools.call_batch import CallBatch
    from heald.tools.context import ToolContext
    from heald.tools.runtime import ToolRuntime

_ENDED = "The program ended before the call was done."
_REFUSED = "The user did not allow an earlier call of this program, so this one was not asked for."


def is_for_programs(tool: Tool) -> bool:
    """Whether a program may call a tool of the registry."""
    return tool.from_programs and not tool.on_client and tool.stands_for is None


class InnerCalls:
    """The calls of one running call. The context of that call stops and closes them."""

    def __init__(self, context: "ToolContext[Any]", runtime: "ToolRuntime") -> None:
        self._context = context
        self._runtime = runtime
        self._open: set[CallBatch] = set()
        self._is_refused = False  # a person has denied a call
        self.notes: list[str] = []
        """What the model must know of the calls, such as arguments that a person has changed."""
        self.outcomes: Counter[tuple[str, ToolStatus]] = Counter()
        """How often which tool ended how."""
        context.inner_calls = self

    async def run(self, name: str, arguments: JsonObject, call_id: str = "") -> ToolResult:
        """Run a call to its end. Raises only CancelledError; the call has a result even then."""
        tool = self._runtime.registry.find(name)
        access = Access(resource=f"program:{self._context.call.id}", changes=tool is not None and tool.sequential)
        ticket = self._runtime.locks.ticket([access])
        try:
            await ticket.granted()
            return await self._run(name, arguments, call_id or new_id("call"))
        finally:
            ticket.release()

    async def _run(self, name: str, arguments: JsonObject, call_id: str) -> ToolResult:
        parent = self._context.call
        if self._context.cancelled:
            raise asyncio.CancelledError
        call = ToolCall(id=call_id, name=name, input=arguments, form=parent.form, parent=parent.id)
        batch = self._runtime.batch([call], self._emit)
        self._open.add(batch)  # before its first event: a reactor may cancel the exchange within this very step
        try:
            for payload in (call, ToolUseMessage(call), ToolPlanned(call.id, name)):
                self._context.emit(payload)
            if self._context.cancelled:
                batch.refuse(_ENDED, "cancelled")
            elif (refusal := self._refusal(call)) is not None:
                batch.refuse(str(refusal), refusal.status)
            else:
                await batch.run()
        finally:
            self._open.discard(batch)
            self.outcomes.update((result.name, result.status) for result in batch.results)
        return batch.results[0]

    def stop(self) -> None:
        """Start no further call and cancel the running ones."""
        for batch in self._open:
            batch.cancel()

    def close(self) -> None:
        """Give a result to each call that has none."""
        for batch in list(self._open):
            batch.refuse(_ENDED, "cancelled")

    def describe(self) -> str:
        """List the calls that were made, for a model that must know what a program has done before it failed."""
        if not self.outcomes:
            return "It had made no call."
        calls = [
            f"{name}: {status}" if count == 1 else f"{name}: {count} times {status}"
            for (name, status), count in self.outcomes.most_common(20)
        ]
        rest = len(self.outcomes) - len(calls)
        return f"It had made these calls: {', '.join(calls)}{f', and {rest} more' if rest else ''}."

    def _refusal(self, call: ToolCall) -> ToolFault | None:
        """Return why a call is not even planned."""
        if self._runtime.account is not None and (reached := self._runtime.account.reached(turns=False)) is not None:
            return ToolFault(f"{reached} The call was not run.", status="cancelled")
        if not self._is_callable(call):
            return ToolFault(f"A program cannot call {call.name!r}; call it directly.", status="denied")
        if self._is_refused and self._needs_approval(call):
            return ToolFault(_REFUSED, status="denied")
        return None

    def _is_callable(self, call: ToolCall) -> bool:
        """Whether a program may call this tool."""
        tool = self._runtime.registry.find(call.name)
        if tool is not None:
            return is_for_programs(tool)
        find_hosted = self._runtime.find_hosted
        return find_hosted is None or find_hosted(call.name) is None

    def _needs_approval(self, call: ToolCall) -> bool:
        planned = self._runtime.plan(call)
        if not isinstance(planned, PlannedCall) or self._runtime.decide(planned).verdict != "ask":
            return False
        return self._runtime.digest(planned) not in self._runtime.permissions.always

    def _emit(self, payload: Payload) -> None:
        """Publish a payload of a call. A person who said no once is not asked again by the same program."""
        if isinstance(payload, ApprovalResolved):
            self._is_refused = self._is_refused or payload.decision == "denied"
            if payload.input is not None:
                changed = encode_text(payload.input)[:2000]
                self.notes.append(f"The user changed the arguments of a call to {changed}.")
        self._context.emit(payload)
