"""What the variants of a version do, one line each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from weft.cli.paint import dollars, rows_of, seconds
from weft.core.envelope import Event
from weft.core.events import (
    FileChanged,
    FilePreview,
    MessageStart,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
)
from weft.sessions.session import Session
from weft.sessions.store import SessionInfo
from weft.studio.projects.project import Variant, Version
from weft.tools.printable import printable

_MARKS = {"queued": "·", "running": "▸", "completed": "✓", "failed": "✗", "cancelled": "✗", "limit": "!"}


@dataclass(slots=True)
class _Doing:
    what: str = "waits"
    files: set[str] = field(default_factory=set[str])


class VariantLines:
    """Follows the sessions of variants. `news` hears of what is worth a line of its own."""

    def __init__(self) -> None:
        self.news: Callable[[str], object] = lambda _: None
        self._started = monotonic()
        self._variants: list[Variant] = []
        self._doing: dict[str, _Doing] = {}
        self._told: dict[str, str] = {}

    def follow(self, info: SessionInfo, session: Session) -> None:
        """Hear a session from its first event on."""
        doing = self._doing.setdefault(info.id, _Doing())
        session.subscribe(lambda event: self._hear(doing, info.id, event) if event.session == info.id else None)

    def update(self, version: Version) -> None:
        """What the studio says of them."""
        self._variants = sorted(version.variants, key=lambda each: each.index)
        for variant in self._variants:
            said = variant.status if variant.score is None else f"score {variant.score.overall:.3f}"
            if self._told.get(variant.session) != said:
                self._told[variant.session] = said
                self.news(f"{self._name(variant)}: {_outcome(variant) if variant.is_done else said}")

    def lines(self) -> list[str]:
        table: list[list[str]] = []
        for variant in self._variants:
            doing = self._doing.get(variant.session) or _Doing()
            what = _outcome(variant) if variant.is_done else f"{doing.what}  {seconds(monotonic() - self._started)}"
            table.append([f"{_MARKS[variant.status]} {variant.index + 1}", variant.model, what])
        return rows_of(table)

    def _hear(self, doing: _Doing, session: str, event: Event) -> None:
        match event.data:
            case MessageStart() | ThinkingDelta():
                doing.what = "thinks"
            case TextDelta():
                doing.what = "says something"
            case ToolUseContentBlockStart(name=name):
                doing.what = printable(name)
            case FilePreview(path=path, offset=offset, text=text):
                doing.what = f"writes {printable(path)}, {offset + len(text):,} characters"
            case ToolExecuting(name=name, summary=summary):
                doing.what = printable(f"{name} {summary}")
            case FileChanged(path=path) if path not in doing.files:
                doing.files.add(path)
                self._tell(session, f"wrote {printable(path)}")
            case RetryScheduled(delay_s=delay, error=error):
                doing.what = printable(f"waits {delay:.0f} s: {error.message}")
                self._tell(session, doing.what)
            case _:
                pass

    def _tell(self, session: str, what: str) -> None:
        variant = next((each for each in self._variants if each.session == session), None)
        if variant is not None:
            self.news(f"{self._name(variant)}: {what}")

    def _name(self, variant: Variant) -> str:
        return f"{variant.index + 1} {variant.model}" if len(self._variants) > 1 else variant.model


def _outcome(variant: Variant) -> str:
    """How it ended, in one line."""
    parts = [variant.status]
    if variant.error is not None:
        parts.append(printable(variant.error.message))
        return ": ".join(parts)
    if variant.score is not None:
        parts.append(f"score {variant.score.overall:.3f}")
    if variant.started is not None and variant.ended is not None:
        parts.append(seconds(max(variant.ended - variant.started, 0)))
    if variant.turns:
        parts.append(dollars(variant.cost_usd))
    return ", ".join(parts)
