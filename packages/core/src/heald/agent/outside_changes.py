"""Outside changes: names the files that somebody else changed between two exchanges."""

import asyncio

from heald.agent.strategy import NextRequest, Strategy
from heald.tools.workspace.paths import quote_path
from heald.tools.workspace.revisions import RevisionedWorkspace

_HEAD = "Files that changed since your last answer, not by your calls. Read them again before you rely on them:"
_MAX_FILES = 20


class OutsideChanges(Strategy):
    """Adds to the instructions of an exchange the files that the session has read or written, and that others changed
    since its last exchange; after a restart, those that it has written."""

    def __init__(self) -> None:
        self._exchange: str | None = None
        self._note = ""
        self._digests: dict[str, str | None] | None = None  # at the end of the last exchange

    async def before_turn(self, request: NextRequest) -> None:
        if self.conversation.exchange != self._exchange:
            self._exchange = self.conversation.exchange
            self._note = await asyncio.to_thread(self._describe)
        if self._note:
            request.system = f"{request.system}\n\n{self._note}".strip()

    async def after_exchange(self, *, completed: bool) -> None:
        workspace = self.conversation.runtime.workspace
        if isinstance(workspace, RevisionedWorkspace):
            self._digests = await asyncio.to_thread(workspace.current_digests)

    def _describe(self) -> str:
        workspace = self.conversation.runtime.workspace
        if not isinstance(workspace, RevisionedWorkspace):
            return ""
        paths = workspace.changed_outside(self._digests)
        if not paths:
            return ""
        lines = [f"- {quote_path(path)}" for path in paths[:_MAX_FILES]]
        if len(paths) > _MAX_FILES:
            lines.append(f"- and {len(paths) - _MAX_FILES} more")
        return "\n".join([_HEAD, *lines])
