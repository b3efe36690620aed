"""The kinds of tools that agents have, as permissions see them."""

import os
from collections.abc import Sequence
from functools import partial

from heald.agent.hosted_tools import HostedKind, read_subjects
from heald.core.json import JsonObject, as_list
from heald.tools.definitions import Effect
from heald_acp.updates import PATH_NAMES

_READS = ("read_file",)
_WRITES = ("create_file", "write_file", "edit_file", "apply_patch")
_KINDS: dict[str, tuple[Effect, tuple[str, ...]]] = {
    "acp_read": ("read", _READS),
    "acp_search": ("read", ("search_files", "list_files", "glob", "find_file")),
    "acp_think": ("none", ()),
    "acp_edit": ("write", _WRITES),
    "acp_delete": ("write", _WRITES),
    "acp_move": ("write", _WRITES),
    "acp_execute": ("run", ("run_command",)),
    "acp_fetch": ("network", ("fetch_url",)),
    "todo_list": ("none", ()),
}
UNASKED = "_unasked"
"""Ends the name of a call that ran without a question."""


def kind_of(name: str, root: str) -> HostedKind:
    """Describe the tool of a name. Paths below `root` are matched by rules as those of Heald's own tools are."""
    if name.endswith(UNASKED):
        return HostedKind("none")  # it has run: there is nothing to decide
    effect, rules_of = _KINDS.get(name, ("any", ()))
    outside_effect = partial(_outside_effect, root) if effect == "write" else None
    return HostedKind(effect, rules_of, partial(_subjects, root), outside_effect)


def _subjects(root: str, arguments: JsonObject) -> Sequence[str]:
    if isinstance(arguments.get("command"), str):
        return read_subjects(arguments)
    named = [relative_path(root, path) or path for path in _named_paths(arguments)]
    return list(dict.fromkeys(named)) or read_subjects(arguments)


def _outside_effect(root: str, arguments: JsonObject) -> str | None:
    """Return why a change of files may reach beyond the folder of the agent; None if all are in it."""
    paths = _named_paths(arguments)
    if not paths:
        return "It does not name the files that it changes."
    outside = next((path for path in paths if relative_path(root, path) is None), None)
    return f"{outside[:200]!r} is outside of the folder that the agent works in." if outside is not None else None


def _named_paths(arguments: JsonObject) -> list[str]:
    paths = [arguments.get(name) for name in PATH_NAMES] + as_list(arguments.get("paths"))
    return [path for path in paths if isinstance(path, str)]


def relative_path(root: str, path: str) -> str | None:
    """Return a path below `root`; None if it is outside. A link is not followed: the workspace decides on it."""
    if "\0" in path:
        return None
    if not os.path.isabs(path):
        return os.path.normpath(path) if path and not os.path.normpath(path).startswith("..") else None
    for top in dict.fromkeys((os.path.normpath(root), os.path.realpath(root))):
        below = os.path.relpath(os.path.normpath(path), top)
        if below != ".." and not below.startswith("../"):
            return below
    return None
