"""Files that a project ignores, by the rules of its `.gitignore` files.

The rules follow gitignore(5): the last rule that matches decides, a folder that is ignored is not entered, and a rule
without a slash matches at any depth below its file. Rules of the folders above the workspace count up to the top of
its repository. A rule that cannot be read is passed over.
"""

import os

from heald.tools.files.pattern import Glob, PatternFault
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.paths import PathFault

FILE = ".gitignore"
_MAX_BYTES = 200_000
_MAX_RULES = 2_000
_MAX_PARENTS = 20


class IgnoreRules:
    """The rules of one file. Paths are relative to its folder."""

    def __init__(self, text: str) -> None:
        self._rules: list[tuple[Glob, bool, bool]] = []
        for line in text.splitlines()[:_MAX_RULES]:
            rule = _parse_rule(line)
            if rule is not None:
                self._rules.append(rule)

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether the last rule that matches ignores the path; None if none matches."""
        for glob, negated, only_folders in reversed(self._rules):
            if (is_folder or not only_folders) and glob.matches(path):
                return not negated
        return None


class IgnoredFiles:
    """The ignored files of a workspace, read while they are asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rules: dict[str, IgnoreRules | None] = {}
        self._above: list[tuple[str, IgnoreRules]] | None = None

    def record_listing(self, folder: str, *, has_rules: bool) -> None:
        """Spare the attempt to read the rules of a folder that is known to have none."""
        if not has_rules:
            self._rules[folder] = None

    def is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """Return whether an entry is ignored itself. The folders above it are not."""
        folder = path.rpartition("/")[0]
        while True:
            rules = self._rules_of(folder)
            below = path[len(folder) :].lstrip("/")
            decided = rules.decide(below, is_folder=is_folder) if rules is not None else None
            if decided is not None:
                return decided
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        for prefix, rules in self._read_above():
            decided = rules.decide(f"{prefix}{path}", is_folder=is_folder)
            if decided is not None:
                return decided
        return False

    def is_inside_ignored(self, path: str, start: str) -> bool:
        """Return whether a file, or a folder between it and `start`, is ignored."""
        names = path.split("/")
        first = len(start.split("/")) if start else 0
        return any(
            self.is_ignored("/".join(names[:count]), is_folder=count < len(names))
            for count in range(first + 1, len(names) + 1)
        )

    def _rules_of(self, folder: str) -> IgnoreRules | None:
        if folder not in self._rules:
            try:
                text = self._workspace.read(f"{folder}/{FILE}".lstrip("/"), limit=_MAX_BYTES, remember=False).decode(
                    "utf-8", "replace"
                )
                self._rules[folder] = IgnoreRules(text)
            except PathFault:
                self._rules[folder] = None
        return self._rules[folder]

    def _read_above(self) -> list[tuple[str, IgnoreRules]]:
        """Read the rules of the folders above the workspace, the nearest first, each with the path from it."""
        if self._above is None:
            self._above = _rules_above(self._workspace.root) if not self._workspace.is_project else []
        return self._above


def _rules_above(root: str) -> list[tuple[str, IgnoreRules]]:
    rules: list[tuple[str, IgnoreRules]] = []
    place, prefix = root, ""
    for _ in range(_MAX_PARENTS):
        if os.path.lexists(os.path.join(place, ".git")):
            return rules
        parent, name = os.path.split(place)
        if not name:
            return []
        place, prefix = parent, f"{name}/{prefix}"
        try:
            with open(os.path.join(place, FILE), encoding="utf-8", errors="replace") as file:
                rules.append((prefix, IgnoreRules(file.read(_MAX_BYTES))))
        except OSError:
            continue
    return []


def _parse_rule(line: str) -> tuple[Glob, bool, bool] | None:
    """Return the glob of a rule, whether it is negated, and whether it is for folders only."""
    text = line.rstrip("\r")
    while text.endswith((" ", "\t")) and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    text = text.lstrip("/")
    if not text:
        return None
    escaped = text.replace("{", "\\{").replace("}", "\\}")  # braces have no special role in a rule
    try:
        return Glob(escaped, anchored=anchored), negated, only_folders
    except PatternFault:
        return None
