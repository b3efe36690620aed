"""Runs the studio in this process, without a server, and reports the progress of variants."""

import argparse
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from weft.cli.event_printer import describe_activity
from weft.cli.run import check_endpoint, own_model, require_key
from weft.cli.terminal import align_columns, format_seconds, format_usd
from weft.config.paths import DATABASE, data_folder
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError
from weft.core.events import FileChanged, RetryScheduled, ToolUseContentBlockStart
from weft.server.access_tokens import AccessTokens
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.settings import ServerLimits, ServerSettings
from weft.sessions.memory import MemoryStore
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore
from weft.sessions.store import SessionInfo
from weft.tools.sanitize import sanitize_text

if TYPE_CHECKING:
    from weft.studio.project import Variant, Version
    from weft.studio.studio import Studio

OWNER = ""
"""Owner of the projects: the same as in `weft serve` with one token."""


def resolve_models(options: argparse.Namespace) -> KnownModels:
    """Return the models that the options allow. Raises if a named one cannot be used."""
    check_endpoint(options)
    names: list[str] = options.model
    known = KnownModels(named={name: own_model(options, name) for name in names} if options.base_url else {})
    for name in names:
        require_key(known, name)
    return known


def check_output(out: Path) -> None:
    """Raise if nothing can be written to an output folder, before anything is paid for."""
    if out.exists() and not out.is_dir():
        raise ConfigurationError(f"{out} is no folder; name another with --output.")
    above = next(each for each in (out, *out.absolute().parents) if each.exists())
    if not above.is_dir():
        raise ConfigurationError(f"{out} cannot be made, because {above} is no folder; name another with --output.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigurationError(f"Nothing can be written to {above}; name another folder with --output.")


@asynccontextmanager
async def open_local_studio(
    models: KnownModels,
    options: argparse.Namespace,
    *,
    data: str | None = None,
    scores: bool = True,
    exchanges: int | None = None,
) -> AsyncGenerator[tuple["Studio", ServerContext]]:
    """Open the studio and the context of its sessions. Without `data` nothing is stored. `exchanges` may be open."""
    try:
        from weft.server.studio_host import open_studio
    except ImportError as error:
        raise missing_studio_error(error) from None
    store = MemoryStore() if data is None else SqliteStore(data_folder(data) / DATABASE)
    limits = ServerLimits() if exchanges is None else ServerLimits(exchanges=exchanges)
    context = ServerContext(Sessions(store), models, settings=ServerSettings(limits=limits), tokens=AccessTokens({}))
    studio = open_studio(context, prompts=options.studio_prompts, stacks=options.studio_stacks, scores=scores)
    try:
        yield studio, context
    finally:
        await studio.close()
        await context.stop()
        _close_browser()


def choose_models(named: Sequence[str], studio: "Studio", wanted: int | None, default: int) -> tuple[list[str], int]:
    """Choose the models and the number of variants: by default one for each model that differs."""
    offered = list(named) or list(studio.models())
    if not offered:
        raise ConfigurationError(
            "There is no model to build with; set a key such as ANTHROPIC_API_KEY, name one with --model, "
            "or pip install 'weft[local]'."
        )
    return offered, wanted if wanted is not None else (len(named) or min(default, len(offered)))


def missing_studio_error(error: ImportError) -> ConfigurationError:
    return ConfigurationError(
        f"This needs {error.name or 'a library'}, which is not installed; pip install 'weft[studio]'."
    )


def _close_browser() -> None:
    from weft.studio.browser.browser import shared_browser

    shared_browser().close()


_MARKS = {"queued": "·", "running": "▸", "completed": "✓", "failed": "✗", "cancelled": "✗", "limit": "!"}


@dataclass(slots=True)
class _Activity:
    text: str = "waits"
    files: set[str] = field(default_factory=set[str])


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
        self._variants = sorted(version.variants, key=lambda each: each.index)
        for variant in self._variants:
            state = variant.status if variant.score is None else f"score {variant.score.overall:.3f}"
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

    def _on_event(self, activity: _Activity, session: str, event: Event) -> None:
        activity.text = describe_activity(event.data) or activity.text
        match event.data:
            case ToolUseContentBlockStart(name=name):
                activity.text = sanitize_text(name)
            case FileChanged(path=path) if path not in activity.files:
                activity.files.add(path)
                self._report_line(session, f"wrote {sanitize_text(path)}")
            case RetryScheduled():
                self._report_line(session, activity.text)
            case _:
                pass

    def _report_line(self, session: str, text: str) -> None:
        variant = next((each for each in self._variants if each.session == session), None)
        if variant is not None:
            self.report(f"{self._name(variant)}: {text}")

    def _name(self, variant: "Variant") -> str:
        return f"{variant.index + 1} {variant.model}" if len(self._variants) > 1 else variant.model


def _describe_outcome(variant: "Variant") -> str:
    """Describe how a variant ended."""
    parts = [variant.status]
    if variant.error is not None:
        parts.append(sanitize_text(variant.error.message))
        return ": ".join(parts)
    if variant.score is not None:
        parts.append(f"score {variant.score.overall:.3f}")
    if variant.started is not None and variant.ended is not None:
        parts.append(format_seconds(max(variant.ended - variant.started, 0)))
    if variant.turns:
        parts.append(format_usd(variant.cost_usd))
    return ", ".join(parts)
