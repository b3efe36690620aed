"""Agents that worked for a session: each has a session of its own, which is read like any other."""

from weft.server.operations import Call, Operation
from weft.server.views import DelegatesView, DelegateView


async def listed(call: Call) -> DelegatesView:
    info = await call.session()
    found = await call.context.sessions.store.delegates(info.id)
    return DelegatesView([DelegateView(each.id, each.cause or "", each.last_seq) for each in found])


OPERATIONS = (
    Operation(
        "GET",
        "/sessions/{session}/delegates",
        listed,
        "The agents that worked for calls of the session.",
        answer=DelegatesView,
        refusals=("not_found",),
    ),
)
