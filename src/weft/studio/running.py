"""Variants at work: each asks in its own session, and what becomes of it is written into the project."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import time
from typing import Any

from weft.agent.exchange import Exchange
from weft.agent.result import AgentResult
from weft.core.errors import ErrorInfo, WeftError
from weft.core.events import ExchangeResponse
from weft.core.messages import Message, user
from weft.sessions.errors import NoSuchSession
from weft.sessions.session import Session
from weft.sessions.store import PAGE
from weft.studio.assignment import Assignment
from weft.studio.hosting import Host
from weft.studio.marking import marks_of
from weft.studio.projects.project import Base, Project, Variant, Version, version_of, with_variant
from weft.studio.projects.shelf import ChangeProject
from weft.studio.score.score import Score

Note = Callable[..., Awaitable[Project]]
"""Writes down what becomes of one variant."""
AssignmentFor = Callable[[str, Project, Version, Variant], Awaitable[Assignment]]

_LOST = ErrorInfo(code="incomplete", message="The process ended while the variant was being built. Try it again.")
_log = logging.getLogger("weft.studio")


class Running:
    """What runs now, by session."""

    def __init__(
        self,
        host: Host,
        change: ChangeProject,
        assignment: AssignmentFor,
        *,
        repair_below: float | None,
        scores: bool,
    ) -> None:
        self._host = host
        self._change = change
        self._assignment = assignment
        self._repair_below = repair_below
        self._scores = scores
        self._tasks: dict[str, tuple[str, str, asyncio.Task[None]]] = {}  # by session: project, version, task

    def start(self, owner: str, project: str, version: Version, message: Message) -> None:
        """Let all variants of a version begin."""
        for variant in version.variants:
            work = self._work(owner, project, version, variant, message)
            task = asyncio.create_task(work, name=f"weft-variant-{variant.session}")
            self._tasks[variant.session] = project, version.id, task
            task.add_done_callback(lambda _, session=variant.session: self._tasks.pop(session, None))

    async def cancel(self, variant: Variant, reason: str) -> bool:
        """End the exchange of a variant. False if nothing runs."""
        if variant.session not in self._tasks:
            return False
        info = await self._host.sessions.store.info(variant.session)
        async with self._host.use(info) as session:
            return session.cancel(reason)

    async def files(self, session: str) -> Mapping[str, bytes]:
        """All files of a session's project."""
        info = await self._host.sessions.store.info(session)
        async with self._host.use(info) as opened:
            return await asyncio.to_thread(_contents, opened)

    async def settled(self, project: str, version: str | None = None) -> None:
        """Wait until nothing runs any more, in a project or in one of its versions."""
        tasks = [task for of, number, task in list(self._tasks.values()) if of == project and version in (None, number)]
        if tasks:
            await asyncio.wait(tasks)

    async def caught_up(self, project: Project) -> Project:
        """The project, with what happened to variants that an earlier process left at work."""
        for version in project.versions:
            for variant in version.variants:
                if variant.is_done or variant.session in self._tasks:
                    continue
                changes = await self._outcome(variant)
                project = await self._note(project.id, version.id, variant.index, **changes)
        return project

    async def close(self) -> None:
        for _, _, task in list(self._tasks.values()):
            task.cancel()
        if self._tasks:
            await asyncio.wait([task for _, _, task in self._tasks.values()])

    # --- one variant -------------------------------------------------------------------------------------------------

    async def _work(self, owner: str, project: str, version: Version, variant: Variant, message: Message) -> None:
        note = partial(self._note, project, version.id, variant.index)
        try:
            await self._ask(owner, variant, message, note)
            found = await self._look(owner, version, variant, note)
            if found is not None and self._repair_below is not None and found.overall < self._repair_below:
                await self._ask(owner, variant, _repair(found), note)
                await self._look(owner, version, variant, note)
        except NoSuchSession:
            return  # deleted meanwhile
        except WeftError as error:
            await note(status="failed", ended=time(), error=error.info())
        except Exception:
            _log.exception("A variant failed.", extra={"session": variant.session})
            error = ErrorInfo(code="internal", message="The variant failed here; the log of the server says why.")
            await note(status="failed", ended=time(), error=error)

    async def _ask(self, owner: str, variant: Variant, message: Message, note: Note) -> None:
        info = await self._host.sessions.store.info(variant.session)
        async with self._host.use(info) as session:
            exchange = session.send(message)
            self._host.begin(owner, exchange)
            await session.accepted(exchange)
            await note(status="running", started=variant.started or time(), exchange=exchange.id)
            result = await _result_of(exchange)
        await note(
            status=result.status,
            ended=time(),
            turns=result.turns,
            usage=result.usage,
            cost_usd=result.cost,
            error=result.error,
        )

    async def _look(self, owner: str, version: Version, variant: Variant, note: Note) -> Score | None:
        """Render what was built, and compare."""
        if not self._scores:
            return None
        project = await note()
        work = await self._assignment(owner, project, version_of(project, Base(version.id, 0)), variant)
        files = await self.files(variant.session)
        if not work.targets or not files:
            return None
        found = await marks_of(work.stack, files, work.targets[0])
        if found is None:
            return None
        await note(score=found[0])
        return found[1]

    async def _outcome(self, variant: Variant) -> dict[str, Any]:
        """How the last exchange of a variant ended, by its log."""
        lost: dict[str, Any] = {"status": "failed", "ended": time(), "error": _LOST}
        try:
            info = await self._host.sessions.store.info(variant.session)
            events = await self._host.sessions.store.read(info.id, after=max(0, info.last_seq - PAGE))
        except WeftError:
            return lost
        for event in reversed(events):
            if isinstance(event.data, ExchangeResponse):
                said = event.data
                return {
                    "status": said.status,
                    "ended": event.time,
                    "turns": said.turns,
                    "usage": said.usage,
                    "cost_usd": said.cost_usd,
                    "error": said.error,
                }
        return lost

    async def _note(self, project: str, version: str, index: int, **changes: Any) -> Project:
        def changed(now: Project) -> Project:
            return now.with_version(with_variant(version_of(now, Base(version, index)), index, **changes))

        return await self._change(project, changed)


async def _result_of(exchange: Exchange) -> AgentResult:
    """What it came to. Whoever stops waiting here does not stop it."""
    return await asyncio.shield(asyncio.ensure_future(exchange.result()))


def _contents(session: Session) -> dict[str, bytes]:
    workspace = session.workspace
    paths = [entry.path for entry in workspace.list(depth=None) if entry.kind == "file"]
    return {path: workspace.read(path, remember=False) for path in paths}


def _repair(found: Score) -> Message:
    """What is still wrong, for another turn."""
    lines = "\n".join(f"- {difference.sentence}" for difference in found.differences[:12])
    return user(f"The page was rendered and compared with the picture. What differs most:\n{lines}\n\nMend this.")
