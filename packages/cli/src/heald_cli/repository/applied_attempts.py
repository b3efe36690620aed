"""The results of attempts and runs in the user's working tree, and how they are undone.

The states before and after are checkpoints of the working tree, as those of a session named `applied-HASH`.
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from heald.core.errors import HealdError
from heald.tools.git.repository import GitRepository
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.repository.checkpoints import Checkpoint, Checkpoints

_BEFORE, _AFTER, _UNDONE = "before ", "after ", "undone "
_BASE = "base"


class ChangedMeanwhile(HealdError):
    """Files that an attempt changed were changed in the working tree too, so that nothing was applied."""


class AppliedAttempts:
    """The results of attempts that were applied to one working tree, and those of runs in it."""

    def __init__(self, repository: GitRepository, data: Path, limits: CheckpointLimits | None = None) -> None:
        whole = replace(repository, folder=repository.top)
        name = sha256(os.fsencode(whole.top)).hexdigest()[:16]
        self.checkpoints = Checkpoints(whole, f"applied-{name}", data, limits=limits)

    def save_base(self) -> Checkpoint:
        """Save the state that the attempts begin with."""
        return self.checkpoints.save(_BASE)

    def apply(self, base: Checkpoint, result: Checkpoint, title: str) -> Sequence[str]:
        """Bring the files that an attempt changed to its result. Returns their paths below the top.

        Raises ChangedMeanwhile, before anything is written, if one of them is no longer as the attempt found it.
        """
        before = self.save_before(title)
        paths = self.checkpoints.changed(base, result)
        clashes = sorted(paths & self.checkpoints.changed(base, before))
        if clashes:
            more = f" and {len(clashes) - 1} more files were" if len(clashes) > 1 else " was"
            raise ChangedMeanwhile(f"{clashes[0]}{more} changed while the attempts ran; nothing is applied.")
        self.checkpoints.restore(result, sorted(paths))
        self.checkpoints.save(f"{_AFTER}{_shorten(title)}")
        return sorted(paths)

    def save_before(self, title: str) -> Checkpoint:
        """Save the state before a change."""
        return self.checkpoints.save(f"{_BEFORE}{_shorten(title)}")

    def save_after(self, before: Checkpoint, title: str) -> None:
        """Save the state after a change. If nothing has changed since `before`, there is nothing to undo."""
        if self.checkpoints.changed(before, self.checkpoints.save(_BASE)):
            self.checkpoints.save(f"{_AFTER}{_shorten(title)}")
        self.checkpoints.tidy()

    def undo(self) -> list[str]:
        """Undo what was applied last. Returns sentences to print; none if nothing is left to undo. Raises GitFailed."""
        states = self._find_last()
        if states is None:
            return []
        before, after = states
        lines = list(self.checkpoints.move(after, before).values())
        title = after.label.removeprefix(_AFTER)
        self.checkpoints.save(f"{_UNDONE}{title}")
        return [f"Undone: {title}", *lines]

    def _find_last(self) -> tuple[Checkpoint, Checkpoint] | None:
        """The states around what was applied last and not undone."""
        undone = 0
        after: Checkpoint | None = None
        for checkpoint in self.checkpoints.list():
            if after is not None and checkpoint.label.startswith(_BEFORE):
                return checkpoint, after
            if after is None and checkpoint.label.startswith(_UNDONE):
                undone += 1
            elif after is None and checkpoint.label.startswith(_AFTER):
                undone -= 1
                after = checkpoint if undone < 0 else None
        return None


def _shorten(title: str) -> str:
    return " ".join(title.split())[:80]
