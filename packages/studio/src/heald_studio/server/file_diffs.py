"""Differences of the files of two variants."""

from collections.abc import Mapping

import msgspec

from heald.tools.workspace.diff import unified_diff


class FileDiff(msgspec.Struct, frozen=True):
    path: str
    diff: str


class Diffs(msgspec.Struct, frozen=True):
    files: list[FileDiff]


def diff_files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Diffs:
    """The diffs of the files that differ."""
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    return Diffs([FileDiff(path, unified_diff(path, before.get(path), after.get(path))) for path in changed])
