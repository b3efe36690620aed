"""Calls that had started when a writer died, and are run again: those of tools that are declared idempotent.

The call keeps its id, which is its idempotency key. Nobody is asked a second time; what is forbidden by now, or would
have to be asked for and was not, is left alone.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from weft.core.json import encode_text
from weft.sessions.recovery import OpenCall
from weft.tools.approvals import digest_of
from weft.tools.batch import Planned
from weft.tools.context import Emit
from weft.tools.outcome import ToolFault
from weft.tools.runtime import ToolRuntime


async def run_again(runtime: ToolRuntime, calls: Sequence[OpenCall], emit: Emit) -> None:
    """Give each call that may run again its real result. All others stay open."""
    ready = [planned for call in calls if (planned := _ready(runtime, call)) is not None]
    if not ready:
        return
    always = runtime.permissions.always
    allowed = {_digest(runtime, planned) for planned, _ in ready} - always  # exactly these, and only this once
    always |= allowed
    try:
        await runtime.batch(
            [planned.call for planned, _ in ready],
            emit,
            notes={planned.call.id: _note(planned) for planned, _ in ready if planned.changed},
            attempts={planned.call.id: call.attempt + 1 for planned, call in ready},
        ).run()
    finally:
        always -= allowed


def _ready(runtime: ToolRuntime, call: OpenCall) -> tuple[Planned, OpenCall] | None:
    """The call as it was allowed, if it may run again."""
    asked = call.call if call.input is None else msgspec.structs.replace(call.call, input=call.input)
    planned = runtime.plan(asked)
    if isinstance(planned, ToolFault) or not planned.tool.idempotent:
        return None
    verdict = runtime.decide(planned).verdict
    if verdict == "deny":
        return None
    if verdict == "ask" and not call.approved and _digest(runtime, planned) not in runtime.permissions.always:
        return None
    return replace(planned, changed=call.input is not None), call


def _digest(runtime: ToolRuntime, planned: Planned) -> str:
    return digest_of(planned.tool.name, planned.arguments, runtime.workspace.root)


def _note(planned: Planned) -> str:
    return f"(The user changed the arguments to {encode_text(planned.arguments)[:2000]}.)"
