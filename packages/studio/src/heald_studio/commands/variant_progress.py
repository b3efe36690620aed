"""Follows the sessions of variants, and describes their progress in lines."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from heald.commands.activity import describe_activity
from heald.commands.amounts import format_seconds, format_usd
from heald.commands.status_text import status_text
from heald.commands.text_columns import align_columns
from heald.core.envelope import Event
from heald.core.events import FileChanged, RetryScheduled, ThinkingDelta, ToolOutputDelta, ToolUseContentBlockStart
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.tools.sanitize import sanitize_text
from heald_pictures.picture_source import find_source
from heald_studio.commands.score_text import format_score

if TYPE_CHECKING:
    from heald_studio.projects.project import Variant, Version

_LONGEST_REASON = 60  # characters of a line of progress; the whole sentence follows at the end
_MARKS = {"queued": "·", "running": "▸", "completed": "✓", "failed": "✗", "cancelled": "✗", "limit": "!"}


@dataclass(slots=True)
class _Activity:
    text: str = "waiting"
    files: set[str] = field(default_factory=set[str])
    sources: list[str] = field(default_factory=list[str])  # what the local converter took the pictures for


class VariantProgress:
    """Follows the sessions of variants. `report` is called with every line of news."""

    def __init__(self) -> None:
        self.report: Callable[[str], object] = lambda _: None
        self._started = monotonic()
        self._variants: list[Variant] = []
        self._activities: dict[str, _Activity] = {}
        self._reported: dict[str, str] = {}

    def follow(self, info: SessionInfo, session: Session) -> None:
        """Follow a session from its first event on."""
        activity = self._activities.setdefault(info.id, _Activity())
        session.subscribe(lambda event: self._on_event(activity, info.id, event) if event.session == info.id else None)

    def update(self, version: "Version") -> None:
        """Apply the state of the variants."""
        self._variants = sorted(version.variants, key=lambda variant: variant.index)
        for variant in self._variants:
            state = status_text(variant.status) if variant.score is None else format_score(variant.score)
            if self._reported.get(variant.session) != state:
                self._reported[variant.session] = state
                self.report(f"{self._name(variant)}: {_describe_outcome(variant) if variant.is_done else state}")

    def lines(self) -> list[str]:
        table: list[list[str]] = []
        for variant in self._variants:
            activity = self._activities.get(variant.session) or _Activity()
            running = f"{activity.text}  {format_seconds(monotonic() - self._started)}"
            text = _describe_outcome(variant) if variant.is_done else running
            table.append([f"{_MARKS[variant.status]} {variant.index + 1}", variant.model, text])
        return align_columns(table)

    def sources(self) -> list[str]:
        """Return the sentences about what the pictures were taken for, each once."""
        return list(dict.fromkeys(source for activity in self._activities.values() for source in activity.sources))

    def _on_event(self, activity: _Activity, session: str, event: Event) -> None:
        activity.text = describe_activity(event.data) or activity.text
        if isinstance(event.data, ThinkingDelta) and (source := find_source(event.data.text)) is not None:
            activity.sources.append(source)
        match event.data:
            case ToolUseContentBlockStart(name=name):
                activity.text = sanitize_text(name)
            case ThinkingDelta(text=text) if text.rstrip().endswith(" %."):  # a step of the local converter
                activity.text = sanitize_text(text.strip().splitlines()[-1].rstrip("."))
            case ToolOutputDelta(text=text, channel="progress") if text.strip():
                activity.text = sanitize_text(text.strip().splitlines()[-1])
            case FileChanged(path=path) if path not in activity.files:
                activity.files.add(path)
                self._report_line(session, f"wrote {sanitize_text(path)}")
            case RetryScheduled():
                self._report_line(session, activity.text)
            case _:
                pass

    def _report_line(self, session: str, text: str) -> None:
        variant = next((variant for variant in self._variants if variant.session == session), None)
        if variant is not None:
            self.report(f"{self._name(variant)}: {text}")

    def _name(self, variant: "Variant") -> str:
        return f"{variant.index + 1} {variant.model}" if len(self._variants) > 1 else variant.model


def _describe_outcome(variant: "Variant") -> str:
    """Describe how a variant ended."""
    parts = [status_text(variant.status)]
    if variant.error is not None:
        reason = sanitize_text(variant.error.message)
        parts.append(reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…")
        return ": ".join(parts)
    if variant.score is not None:
        parts.append(format_score(variant.score, variant.draft_score))
    if variant.started is not None and variant.ended is not None:
        parts.append(format_seconds(max(variant.ended - variant.started, 0)))
    if variant.turns:
        parts.append(format_usd(variant.cost_usd))
    return ", ".join(parts)
