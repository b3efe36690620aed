"""Variants at work: each asks in its own session, and what becomes of it is written into the project."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import time
from typing import Any

from weft.agent.exchange import Exchange
from weft.agent.result import AgentResult
from weft.core.errors import ErrorInfo, WeftError
from weft.core.events import ExchangeResponse
from weft.core.messages import Message, user
from weft.core.usage import Usage
from weft.sessions.errors import NoSuchSession, SessionBusy, StoreError
from weft.sessions.lease import SECONDS
from weft.sessions.session import Session
from weft.sessions.store import PAGE, SessionInfo
from weft.studio.assignment import Assignment
from weft.studio.hosting import Host
from weft.studio.marking import marks_of
from weft.studio.projects.project import Base, Project, Variant, Version, version_of, with_variant
from weft.studio.projects.shelf import ChangeProject
from weft.studio.score.score import Score

Note = Callable[..., Awaitable[Project]]
"""Writes down what becomes of one variant."""
AssignmentFor = Callable[[str, Project, Version, Variant], Awaitable[Assignment]]

_SHOWN = frozenset({"completed", "limit"})
"""Outcomes whose pages are worth looking at."""
_LOST = ErrorInfo(code="incomplete", message="The process ended while the variant was being built. Try it again.")
_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Seconds between attempts to write down that a variant failed."""
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
        self._expected: set[str] = set()
        self._cancelled: dict[str, str] = {}  # by session: why

    @contextmanager
    def expecting(self, variants: Sequence[Variant]) -> Generator[None]:
        """They are about to begin: whoever looks meanwhile must not take them for lost."""
        sessions = {variant.session for variant in variants}
        self._expected |= sessions
        try:
            yield
        finally:
            self._expected -= sessions

    def start(self, owner: str, project: str, version: Version, message: Message) -> None:
        """Let all variants of a version begin."""
        for variant in version.variants:
            self._keep(project, version.id, variant, self._work(owner, project, version, variant, message))

    async def cancel(self, variant: Variant, reason: str) -> bool:
        """End a variant, whether it has begun or not. False if nothing runs."""
        if variant.session not in self._tasks:
            return False
        self._cancelled.setdefault(variant.session, reason)
        info = await self._host.sessions.store.info(variant.session)
        async with self._host.use(info) as session:
            session.cancel(reason)
        return True

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
                if variant.is_done or variant.session in self._tasks or variant.session in self._expected:
                    continue
                changes = await self._outcome(project.id, version, variant)
                if not changes:
                    continue
                try:
                    project = await self._note(project.id, version.id, variant.index, **changes)
                except StoreError as error:  # whoever only looks is shown what could not be written down
                    _log.warning("%s", error, extra={"project": project.id})
                    now = with_variant(version_of(project, Base(version.id, variant.index)), variant.index, **changes)
                    project = project.with_version(now)
        return project

    async def close(self) -> None:
        for _, _, task in list(self._tasks.values()):
            task.cancel()
        if self._tasks:
            await asyncio.wait([task for _, _, task in self._tasks.values()])

    # --- one variant -------------------------------------------------------------------------------------------------

    def _keep(self, project: str, version: str, variant: Variant, work: Coroutine[Any, Any, None]) -> None:
        session = variant.session
        task = asyncio.create_task(work, name=f"weft-variant-{session}")
        self._tasks[session] = project, version, task

        def forget(_: object) -> None:
            self._tasks.pop(session, None)
            self._cancelled.pop(session, None)

        task.add_done_callback(forget)

    async def _work(self, owner: str, project: str, version: Version, variant: Variant, message: Message) -> None:
        note = partial(self._note, project, version.id, variant.index)
        try:
            await note(started=time())
            result = await self._ask(owner, variant, message, note)
            found = await self._look(owner, version, variant, note) if result.status in _SHOWN else None
            if found is not None and self._is_to_be_mended(variant, result, found):
                await self._ask(owner, variant, _repair(found), note, result)
                await self._look(owner, version, variant, note)
        except NoSuchSession:
            return  # deleted meanwhile
        except WeftError as error:
            await self._failed(variant, note, error.info())
        except Exception:
            _log.exception("A variant failed.", extra={"session": variant.session})
            error = ErrorInfo(code="internal", message="The variant failed here; the log of the server says why.")
            await self._failed(variant, note, error)

    async def _failed(self, variant: Variant, note: Note, error: ErrorInfo) -> None:
        """Write it down, as soon as anything can be. At last it is left to whoever looks at the project next."""
        for pause in _PAUSES:
            try:
                await note(status="failed", ended=time(), error=error)
                return
            except NoSuchSession:
                return
            except StoreError as fault:
                _log.warning("%s", fault, extra={"session": variant.session})
            await asyncio.sleep(pause)

    async def _ask(
        self, owner: str, variant: Variant, message: Message, note: Note, before: AgentResult | None = None
    ) -> AgentResult:
        info = await self._host.sessions.store.info(variant.session)
        async with self._host.use(info) as session:
            exchange = session.send(message)
            self._host.begin(owner, exchange)
            await session.accepted(exchange)
            if variant.session in self._cancelled:  # before there was anything to cancel
                exchange.cancel(self._cancelled[variant.session])
            await note(status="running", exchange=exchange.id)
            result = await _result_of(exchange)
        await note(
            status=result.status,
            ended=time(),
            turns=result.turns + (before.turns if before is not None else 0),
            usage=result.usage + (before.usage if before is not None else Usage()),
            cost_usd=_sum(result.cost, before.cost if before is not None else 0.0),
            error=result.error,
        )
        return result

    async def _look(self, owner: str, version: Version, variant: Variant, note: Note) -> Score | None:
        """Render what was built, and compare. What goes wrong here takes nothing away from what was built."""
        if not self._scores:
            return None
        try:
            project = await note()
            work = await self._assignment(owner, project, version_of(project, Base(version.id, 0)), variant)
            files = await self.files(variant.session)
            if not work.targets or not files:
                return None
            found = await marks_of(work.stack, files, work.targets[0])
        except NoSuchSession:
            raise
        except Exception:
            _log.exception("A variant could not be looked at.", extra={"session": variant.session})
            return None
        if found is None:
            return None
        await note(score=found[0])
        return found[1]

    def _is_to_be_mended(self, variant: Variant, result: AgentResult, found: Score) -> bool:
        if result.status != "completed" or variant.session in self._cancelled:
            return False
        return self._repair_below is not None and found.overall < self._repair_below

    # --- variants of an earlier process ------------------------------------------------------------------------------

    async def _outcome(self, project: str, version: Version, variant: Variant) -> dict[str, Any]:
        """What became of a variant, by its log. Nothing if it goes on here."""
        try:
            info = await self._host.sessions.store.info(variant.session)
            said = await self._response(info, variant)
            if not info.last_seq and time() - version.created < SECONDS:
                return {}  # another process may be about to begin
            if said is None and info.last_seq:
                async with self._host.use(info) as session:  # closes what is open, or takes it up
                    exchange = session.engine.current
                    if exchange is not None:
                        self._keep(project, version.id, variant, self._follow(project, version.id, variant, exchange))
                        return {}
                said = await self._response(await self._host.sessions.store.info(info.id), variant)
        except SessionBusy:
            return {}  # another process is at it
        except NoSuchSession:
            said = None
        except StoreError:
            return {}  # nothing can be said now
        except WeftError:
            said = None
        return said if said is not None else {"status": "failed", "ended": time(), "error": _LOST}

    async def _response(self, info: SessionInfo, variant: Variant) -> dict[str, Any] | None:
        """How the exchange of a variant ended; None if it did not."""
        upto = info.last_seq
        while upto > 0:
            events = await self._host.sessions.store.read(info.id, after=max(0, upto - PAGE), upto=upto)
            for event in reversed(events):
                if isinstance(event.data, ExchangeResponse) and variant.exchange in (None, event.exchange):
                    return _said(event.data) | {"ended": event.time}
            upto -= PAGE
        return None

    async def _follow(self, project: str, version: str, variant: Variant, exchange: Exchange) -> None:
        """An exchange that an earlier process began and this one goes on with."""
        try:
            result = await _result_of(exchange)
        except WeftError as error:
            changes: dict[str, Any] = {"status": "failed", "error": error.info()}
        else:
            changes = {"status": result.status, "turns": result.turns, "usage": result.usage, "error": result.error}
            changes["cost_usd"] = result.cost
        with suppress(StoreError):
            await self._note(project, version, variant.index, ended=time(), **changes)

    async def _note(self, project: str, version: str, index: int, **changes: Any) -> Project:
        def changed(now: Project) -> Project:
            return now.with_version(with_variant(version_of(now, Base(version, index)), index, **changes))

        return await self._change(project, changed)


async def _result_of(exchange: Exchange) -> AgentResult:
    """What it came to. Whoever stops waiting here does not stop it."""
    return await asyncio.shield(asyncio.ensure_future(exchange.result()))


def _said(response: ExchangeResponse) -> dict[str, Any]:
    return {
        "status": response.status,
        "turns": response.turns,
        "usage": response.usage,
        "cost_usd": response.cost_usd,
        "error": response.error,
    }


def _sum(cost: float | None, before: float | None) -> float | None:
    return None if cost is None or before is None else cost + before


def _contents(session: Session) -> dict[str, bytes]:
    workspace = session.workspace
    paths = [entry.path for entry in workspace.list(depth=None) if entry.kind == "file"]
    return {path: workspace.read(path, remember=False) for path in paths}


def _repair(found: Score) -> Message:
    """What is still wrong, for another turn."""
    lines = "\n".join(f"- {difference.sentence}" for difference in found.differences[:12])
    return user(f"The page was rendered and compared with the picture. What differs most:\n{lines}\n\nMend this.")
