"""What the tools of a server are called here, and how a change of one is noticed."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence

from weft.core.tools import ToolDefinition

MAX_NAME = 64
_SUFFIX = 8
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def tool_names(server: str, originals: Sequence[str]) -> dict[str, str]:
    """A name for each tool: `server__tool`, in characters every model API takes, and each only once.

    A name that had to be altered and would meet another one ends in a digest of its original, so that it does not
    depend on the order in which tools are listed.
    """
    plain = {original: _ODD.sub("_", f"{server}__{original}") for original in originals}
    count = Counter(plain.values())
    names: dict[str, str] = {}
    for original, name in plain.items():
        altered = name != f"{server}__{original}"
        if len(name) > MAX_NAME or (altered and count[name] > 1):
            digest = hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:_SUFFIX]
            name = f"{name[: MAX_NAME - _SUFFIX - 1]}_{digest}"
        names[original] = name
    return names


def digest_of(original: str, definition: ToolDefinition) -> str:
    """Changes with whatever a model or a person was told of a tool."""
    told = [original, definition.name, definition.description, definition.input_schema]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
