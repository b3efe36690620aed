"""What a call is told when its server fails."""

from weft.core.tools import ToolStatus
from weft.tools.outcome import ToolFault


class McpFault(ToolFault):
    """A server failed. `log` holds the last lines that it wrote to its error output: for operators, not for models."""

    def __init__(self, message: str, kind: str = "mcp_server", *, status: ToolStatus = "error", log: str = "") -> None:
        super().__init__(message, kind, status=status)
        self.log = log


def said(text: object, limit: int = 500) -> str:
    """What a server said, short enough and on one line."""
    words = " ".join(str(text).split())
    return words if len(words) <= limit else words[:limit] + "…"
