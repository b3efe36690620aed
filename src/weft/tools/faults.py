"""What a model may read of a failure: the reason, without the machine it happened on."""

import re

from weft.tools.outcome import ToolFault

_MAX = 2000
_HOST_PATH = re.compile(r"(?<![\w./~-])(?:/[\w.@+~-]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s'\"]+")


def explain_exception(error: BaseException, root: str) -> str:
    """An exception as a sentence. Paths inside the workspace become relative, others keep their last name only."""
    if isinstance(error, ToolFault):
        return str(error) if error.kind == "error" else f"{error.kind}: {error}"
    said = str(error).strip()
    name = type(error).__name__
    return without_host_paths(f"{name}: {said}" if said else f"The tool failed with {name}.", root)[:_MAX]


def without_host_paths(text: str, root: str) -> str:
    if root:
        text = text.replace(root.rstrip("/") + "/", "").replace(root, ".")
    return _HOST_PATH.sub(lambda found: "…/" + re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], text)
