"""Informs MCP clients of the files that agents change. It does not load the MCP package."""

from collections.abc import Callable

from heald.core.envelope import Event
from heald.core.events import FileChanged
from heald_server.protocols.mcp.resource_address import file_address

OnChange = Callable[[str], object]
"""Receives the address of a changed file."""


class FileChanges:
    """A reactor on all sessions of a server."""

    def __init__(self) -> None:
        self._listeners: list[OnChange] = []

    def listen(self, on_change: OnChange) -> Callable[[], None]:
        """Call back for each changed file, until the returned function is called."""
        self._listeners.append(on_change)
        return lambda: self._listeners.remove(on_change)

    def on_file_changed(self, event: Event) -> None:
        if self._listeners and isinstance(event.data, FileChanged):
            address = file_address(event.session, event.data.path)
            for on_change in list(self._listeners):
                on_change(address)
