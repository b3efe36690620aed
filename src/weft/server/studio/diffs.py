"""How the files of one variant differ from those of another."""

from collections.abc import Mapping

from weft.server.studio.views import Diffs, FileDiff
from weft.tools.workspace.diff import unified


def diffs(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Diffs:
    """The files that are not the same, by their paths."""
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    return Diffs([FileDiff(path, unified(path, before.get(path), after.get(path))) for path in changed])
