"""Repeats the calls of an exchange that a crashed process left open, as far as they may be repeated."""

from collections.abc import Sequence

import msgspec

from heald.agent.continuation import UnfinishedCall
from heald.core.events import ToolUseMessage
from heald.core.json import encode_text
from heald.core.payload import Payload
from heald.tools.context import Emit
from heald.tools.planned_call import PlannedCall
from heald.tools.runtime import ToolRuntime
from heald.tools.tool_fault import ToolFault


def may_rerun(runtime: ToolRuntime, call: UnfinishedCall) -> bool:
    """Return whether a started call can run once more with the tools and rules of this process."""
    if call.requested is not None:
        tool = runtime.registry.find(call.call.name)
        return tool is not None and tool.on_client
    asked = call.call if call.input is None else msgspec.structs.replace(call.call, input=call.input)
    planned = runtime.plan(asked)
    return not isinstance(planned, ToolFault) and planned.tool.idempotent and runtime.decide(planned).verdict != "deny"


async def rerun_calls(runtime: ToolRuntime, calls: Sequence[UnfinishedCall], emit: Emit) -> None:
    """Repeat the calls that may be repeated and publish their results. Other calls stay open."""
    ready = [planned for call in calls if (planned := _ready(runtime, call)) is not None]
    if not ready:
        return
    asked = {planned.call.id: call.call for planned, call in ready}

    def emit_as_called(payload: Payload) -> None:
        """Publish a payload. A message of a call shows the arguments of the model, also if an approver changed them."""
        if isinstance(payload, ToolUseMessage):
            payload = msgspec.structs.replace(payload, call=asked[payload.call.id])
        emit(payload)

    always = runtime.permissions.always
    allowed = {_digest(runtime, planned) for planned, _ in ready} - always  # these calls only, and only once
    always |= allowed
    try:
        await runtime.batch(
            [planned.call for planned, _ in ready],
            emit_as_called,
            notes={planned.call.id: _note(planned) for planned, _ in ready if planned.changed},
            attempts={planned.call.id: call.attempt + 1 for planned, call in ready},
        ).run()
    finally:
        always -= allowed


def _ready(runtime: ToolRuntime, call: UnfinishedCall) -> tuple[PlannedCall, UnfinishedCall] | None:
    """Return the call as it was allowed, if it may be repeated."""
    asked = call.call if call.input is None else msgspec.structs.replace(call.call, input=call.input)
    planned = runtime.plan(asked)
    if isinstance(planned, ToolFault) or not planned.tool.idempotent or planned.tool.on_client:
        return None
    verdict = runtime.decide(planned).verdict
    if verdict == "deny":
        return None
    if verdict == "ask" and not call.approved and _digest(runtime, planned) not in runtime.permissions.always:
        return None
    return msgspec.structs.replace(planned, changed=call.input is not None), call


def _digest(runtime: ToolRuntime, planned: PlannedCall) -> str:
    return runtime.digest(planned)


def _note(planned: PlannedCall) -> str:
    return f"(The user changed the arguments to {encode_text(planned.arguments)[:2000]}.)"
