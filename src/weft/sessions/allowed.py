"""What a person allowed for the rest of a session is kept with it, and need not be asked again after a restart."""

from collections.abc import Awaitable, Callable
from copy import copy

from weft.core.envelope import Event
from weft.core.events import ApprovalRequested, ApprovalResolved
from weft.core.tools import ToolCall
from weft.tools.approvals import digest_of
from weft.tools.outcome import ToolFault
from weft.tools.permissions import Permissions
from weft.tools.runtime import ToolRuntime


def with_allowed(permissions: Permissions, digests: list[str]) -> Permissions:
    """The same rules, for a session in which these calls were allowed. What is allowed in it is its own."""
    own = copy(permissions)
    own.always = {*permissions.always, *digests}
    return own


class Allowed:
    """A reactor. `keep` is given the digest of each call that is allowed from now on."""

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
        """Of the call as it was allowed: with the arguments that the approver gave it, if they did."""
        if resolved.input is None:
            return asked.digest
        planned = self._runtime.plan(ToolCall(id=asked.call, name=asked.name, input=resolved.input))
        if isinstance(planned, ToolFault):
            return ""
        return digest_of(planned.tool.name, planned.arguments, self._runtime.workspace.root)
