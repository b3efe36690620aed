"""Decides on writes to files that other agents, editors, package managers and CI systems obey.

Such a write is asked for in every mode, even where a rule allows the tool in general. A rule that names the path, such
as `allow write_file(.github/workflows/*)`, allows it. Where nobody can be asked, it is denied.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from heald.tools.permissions import Decision, PermissionRule, Real
from heald.tools.planned_call import PlannedCall
from heald.tools.workspace.paths import is_asked, quote_path


def find_asked_file(planned: PlannedCall, rules: Sequence[PermissionRule], real: Real) -> str | None:
    """Return the first file that a call changes and that must be asked for, unless a rule names it."""
    for access in planned.access:
        path = access.resource.removeprefix("file:")
        if not access.changes or path == access.resource:
            continue
        if (is_asked(path) or is_asked(real(path))) and not any(_names(rule, planned, path) for rule in rules):
            return path
    return None


def decide_asked_file(path: str, *, attended: bool) -> Decision:
    """Return the decision on a call that changes such a file."""
    if attended:
        return Decision("ask")
    return Decision(
        "deny",
        f"{quote_path(path)} is obeyed by other programs, so a person must approve it and nobody can be asked here; "
        "ask the user to write it, or to add a rule that names it.",
    )


def _names(rule: PermissionRule, planned: PlannedCall, path: str) -> bool:
    """Return whether a rule allows this very path, and not just any."""
    if rule.verdict != "allow" or rule.argument is not None or rule.about is None or not rule.about.strip("*/"):
        return False
    return rule.is_for(planned.tool.name) and fnmatchcase(path, rule.about)
