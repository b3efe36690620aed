"""The contents that are stored with the events of a session."""

from collections.abc import Mapping

from heald.core.envelope import Event
from heald.core.events import FileChanged
from heald.core.messages import ToolResult
from heald.sessions.changes import MAX_COMPARED
from heald.tools.whole_results import WholeResults
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.paths import PathFault


class EventContents:
    """Finds the contents of an event: the whole of a large result, the file before the session changed it, and its new
    content if the workspace is a project of the session."""

    def __init__(self, workspace: Workspace, whole_results: WholeResults) -> None:
        self._workspace = workspace
        self._whole_results = whole_results

    def __call__(self, event: Event) -> Mapping[str, bytes]:
        """Return the contents by their SHA-256."""
        match event.data:
            case ToolResult():
                return self._of_result(event.data)
            case FileChanged():
                return self._of_change(event.data)
            case _:
                return {}

    def _of_result(self, result: ToolResult) -> Mapping[str, bytes]:
        if result.whole is None:
            return {}
        content = self._whole_results.content(result.whole.blob)
        return {} if content is None else {result.whole.blob: content}

    def _of_change(self, change: FileChanged) -> Mapping[str, bytes]:
        contents: dict[str, bytes | None] = {}
        if change.found is not None:
            contents[change.found] = self._read(change.path, 0, MAX_COMPARED)
        if self._workspace.is_project and change.hash is not None:
            contents[change.hash] = self._read(change.path, change.revision)
        return {digest: content for digest, content in contents.items() if content is not None}

    def _read(self, path: str, revision: int, limit: int | None = None) -> bytes | None:
        try:
            content = self._workspace.content_at(path, revision)
        except PathFault:
            return None
        return content if content is None or limit is None or len(content) <= limit else None
