"""One sub-agent of a conversation: its task, its state, and what it changed in its worktree."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heald.commands.amounts import format_usd
from heald.commands.status_text import status_text
from heald.core.turn import Usage

if TYPE_CHECKING:
    from heald_cli.repository.checkpoints import Checkpoint
    from heald_cli.repository.worktrees import Worktrees

RUNNING = "running"


@dataclass(slots=True)
class SubAgent:
    """The state of one sub-agent, which its run changes."""

    number: int
    agent: str
    """The name of its file."""
    prompt: str
    call: str
    """The call that started it."""
    is_background: bool = False
    status: str = RUNNING
    activity: str = "begins"
    answer: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    worktrees: "Worktrees | None" = None
    """The copy of the folder that it works in, if it may write in the background."""
    base: "Checkpoint | None" = None
    saved: "Checkpoint | None" = None
    """The files at its begin and at its end."""
    files: int = 0
    added: int = 0
    removed: int = 0
    is_applied: bool = False
    is_reported: bool = False
    """Whether the model was given its answer."""
    task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return f"agent-{self.number}"

    @property
    def is_running(self) -> bool:
        return self.status == RUNNING

    @property
    def has_changes(self) -> bool:
        """Whether there are changes that wait to be applied."""
        return self.files > 0 and not self.is_applied

    def describe(self) -> str:
        """Describe its state, its cost and its changes in one line."""
        parts = [self.activity if self.is_running else status_text(self.status)]
        if not self.is_running:
            tokens = f"{self.usage.total_input or 0:,} in, {self.usage.total_output or 0:,} out"
            parts += [tokens, format_usd(self.cost_usd)]
        if self.files:
            plural = "s" * (self.files != 1)
            parts.append(f"+{self.added} −{self.removed} in {self.files} file{plural}")
        if self.is_applied:
            parts.append("applied")
        task = " ".join(self.prompt.split())[:60]
        return f"{self.name} ({self.agent}): {task}: {', '.join(parts)}"

    def diff(self) -> str:
        """Return what it changed in its worktree. Raises GitFailed."""
        if self.worktrees is None or self.base is None or self.saved is None:
            return ""
        return self.worktrees.made[0].checkpoints.diff(self.base, self.saved)
