"""The folder that an agent works in, and how its changes become changes of the workspace."""

from contextlib import suppress
from typing import Protocol

from heald.tools.workspace.base import OnChange, Workspace
from heald.tools.workspace.paths import PathFault
from heald.tools.workspace.revisions import RevisionedWorkspace
from heald_acp.acp_call import AcpCall
from heald_acp.hosted_kinds import relative_path

_MAX_BEFORE = 4 << 20
_WRITES = ("edit", "delete", "move", "other")


class AgentFolder(Protocol):
    """A folder on disk. Its methods block."""

    root: str
    """Where the agent runs."""
    files: Workspace
    """What the agent reads through Heald."""

    def write(self, path: str, content: str, on_change: OnChange) -> None:
        """Write a file for the agent. Raises PathFault for one that the workspace cannot hold."""
        ...

    def watch(self, call: AcpCall) -> None:
        """Remember what a call may change, before it does."""
        ...

    def close(self) -> None: ...


class WorkspaceFolder:
    """The folder of a workspace on disk."""

    def __init__(self, workspace: Workspace) -> None:
        self.root = workspace.root
        self.files = workspace

    def write(self, path: str, content: str, on_change: OnChange) -> None:
        with suppress(PathFault):
            self.files.read(path)  # the agent itself knows what it has read
        self.files.write(path, content, on_change=on_change)

    def watch(self, call: AcpCall) -> None:
        if call.report.kind not in _WRITES or call.is_done:
            return
        for name in call.report.paths:
            path = relative_path(self.root, name)
            if path is None or path == "." or path in call.contents:
                continue
            try:
                call.contents[path] = self.files.read(path, limit=_MAX_BEFORE, remember=False)
            except PathFault as fault:
                if fault.kind == "not_found":
                    call.contents[path] = None

    def record(self, call: AcpCall) -> None:
        """Publish what the agent itself has written to the files that a call names."""
        if call.hosted is None or not isinstance(self.files, RevisionedWorkspace):
            return
        for path, before in call.contents.items():
            with suppress(PathFault, OSError):
                self.files.record_change(path, before, on_change=call.hosted.on_change)

    def close(self) -> None:
        """The workspace stays open: it is not the agent's."""
