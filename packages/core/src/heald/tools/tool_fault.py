"""The failure of a tool call, as the model reads it."""

import re

from heald.core.errors import HealdError
from heald.core.lazy import lazy_pattern
from heald.core.messages import ToolStatus


class ToolFault(HealdError):
    """A tool call failed. The message is sent to the model; `kind` is a machine-readable code."""

    def __init__(self, message: str, kind: str = "error", *, status: ToolStatus = "error") -> None:
        super().__init__(message)
        self.kind = kind
        self.status: ToolStatus = status


_MAX = 2000
_HOST_PATH = lazy_pattern(r"(?<![\w./~-])(?:/[\w.@+~-]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s'\"]+")


def describe_exception(error: BaseException, root: str) -> str:
    """Describe an exception. Workspace paths become relative; of other paths only the last name remains."""
    if isinstance(error, ToolFault):
        return str(error) if error.kind == "error" else f"{error.kind}: {error}"
    message = str(error).strip()
    name = type(error).__name__
    return hide_host_paths(f"{name}: {message}" if message else f"The tool failed with {name}.", root)[:_MAX]


def hide_host_paths(text: str, root: str) -> str:
    if root:
        text = text.replace(root.rstrip("/") + "/", "").replace(root, ".")
    return _HOST_PATH.sub(lambda path: "…/" + re.split(r"[/\\]", path[0].rstrip("/\\"))[-1], text)
