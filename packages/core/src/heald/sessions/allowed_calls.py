"""The calls that a person allowed for the rest of a session."""

from collections.abc import Awaitable, Callable
from copy import copy

from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ApprovalResolved
from heald.core.messages import ToolCall
from heald.tools.permissions import Permissions
from heald.tools.runtime import ToolRuntime
from heald.tools.tool_fault import ToolFault


def add_allowed(permissions: Permissions, digests: list[str]) -> Permissions:
    """Copy permissions for one session, with the calls that were allowed in it."""
    session_permissions = copy(permissions)
    session_permissions.always = {*permissions.always, *digests}
    return session_permissions


class AllowedCalls:
    """A reactor that calls `keep` with the digest of each call that is allowed for the rest of the session."""

    def __init__(self, session: str, runtime: ToolRuntime, keep: Callable[[str], Awaitable[None]]) -> None:
        self._session = session
        self._runtime = runtime
        self._keep = keep
        self._asked: dict[str, ApprovalRequested] = {}

    def on_approval_requested(self, event: Event) -> None:
        if event.session == self._session and isinstance(event.data, ApprovalRequested):
            self._asked[event.data.approval] = event.data

    async def on_approval_resolved(self, event: Event) -> None:
        resolved = event.data
        if not isinstance(resolved, ApprovalResolved):
            return
        asked = self._asked.pop(resolved.approval, None)
        if asked is None or not resolved.always:
            return
        digest = self._digest(asked, resolved)
        if digest in self._runtime.permissions.always:
            await self._keep(digest)

    def _digest(self, asked: ApprovalRequested, resolved: ApprovalResolved) -> str:
        """Return the digest of the call as it was allowed, with the arguments of the approver if there are any."""
        if resolved.input is None:
            return asked.digest
        planned = self._runtime.plan(ToolCall(id=asked.call_id, name=asked.name, input=resolved.input))
        if isinstance(planned, ToolFault):
            return ""
        return self._runtime.digest(planned)
