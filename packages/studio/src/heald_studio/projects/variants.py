"""Runs variants: each sends its request in its own session, and the outcome is written into the project."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.agent.result import AgentResult
from heald.core.errors import ErrorInfo, HealdError
from heald.core.events import ExchangeResponse
from heald.core.messages import Message, user_message
from heald.core.turn import Usage
from heald.sessions.one_node import as_shared
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import PAGE
from heald.sessions.store_errors import Fenced, HandedOver, NoSuchSession, SessionBusy, StoreError
from heald_studio.browser.browser import shared_browser
from heald_studio.default_models import is_converter
from heald_studio.host import SessionHost
from heald_studio.preview.page_title import read_title
from heald_studio.preview.preview import has_page
from heald_studio.projects.document_store import NoSuchDocument
from heald_studio.projects.drafts import DRAFT_IS_ENOUGH, Drafts
from heald_studio.projects.exchange_result import await_result
from heald_studio.projects.lock import BrokenLock, refusal, repair_request
from heald_studio.projects.pages import list_pages
from heald_studio.projects.project import Project, Variant, VariantRef, Version, find_version
from heald_studio.projects.project_store import ChangeProject, ProjectStore
from heald_studio.tools.context import VariantContext

if TYPE_CHECKING:
    from heald_studio.score.score import Score
from heald_studio.projects.session_files import read_session_files
from heald_studio.projects.variant_outcome import (
    NOTHING_CHANGED,
    add_costs,
    describe_kept_draft,
    describe_missing_page,
    describe_no_change,
    fields_of,
    repair_message,
    with_changes,
    with_title,
)

UpdateVariant = Callable[..., Awaitable[Project]]  # changes the fields of one variant in its project
BuildContext = Callable[[str, Project, Version, Variant], Awaitable[VariantContext]]
CheckLocks = Callable[[Project, VariantRef | None, Mapping[str, bytes]], Awaitable[list[BrokenLock]]]

_SCORED_STATUSES = frozenset({"completed", "limit"})  # outcomes whose pages are rendered and scored
_LOST = ErrorInfo(code="incomplete", message="The process ended while the variant was being built. Try it again.")
_RETRY_PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # seconds between attempts to record a failure
_START_SECONDS = 5.0  # how long a process may need to start a variant, before another one does
_log = logging.getLogger("heald_studio")


class VariantRunner:
    """The running variants, by session."""

    def __init__(
        self,
        host: SessionHost,
        change: ChangeProject,
        build_context: BuildContext,
        entry_of: Callable[[Project], str],
        check_locks: CheckLocks,
        drafts: Drafts,
        *,
        repair_below: float | None,
        scores: bool,
    ) -> None:
        self._host = host
        self._change = change
        self._context_of = build_context
        self._entry_of = entry_of
        self._check_locks = check_locks
        self._drafts = drafts
        self._repair_below = repair_below
        self._scores = scores
        self._tasks: dict[str, tuple[str, str, asyncio.Task[None]]] = {}  # by session: project, version, task
        self._adopting: set[asyncio.Task[None]] = set()
        self._reserved: set[str] = set()
        self._cancelled: dict[str, str] = {}  # by session: the reason
        self._broken: dict[str, list[BrokenLock]] = {}  # by session: the locks that its last exchange broke

    @contextmanager
    def reserve(self, variants: Sequence[Variant]) -> Generator[None]:
        """Mark variants that are about to start, so that `reconcile` does not treat them as lost."""
        sessions = {variant.session for variant in variants}
        self._reserved |= sessions
        try:
            yield
        finally:
            self._reserved -= sessions

    def start(self, owner: str, project: str, version: Version, variants: Sequence[Variant], message: Message) -> None:
        """Start variants of a version."""
        for variant in variants:
            self._track(project, version.id, variant, self._run(owner, project, version, variant, message))

    async def cancel(self, variant: Variant, reason: str) -> bool:
        """Cancel a variant, also before its exchange has begun. False if it does not run."""
        info = await self._host.sessions.store.info(variant.session)
        if variant.session not in self._tasks and info.work == "idle":  # another server may run it
            return False
        self._cancelled.setdefault(variant.session, reason)
        async with self._host.use(info) as session:
            session.cancel(reason)
        return True

    async def read_files(self, session: str) -> Mapping[str, bytes]:
        """Read all files of a session's workspace."""
        return await read_session_files(self._host.sessions.store, session)

    async def wait_idle(self, project: str, version: str | None = None) -> None:
        """Wait until no variant of a project, or of one of its versions, runs."""
        tasks = [task for of, number, task in list(self._tasks.values()) if of == project and version in (None, number)]
        if tasks:
            await asyncio.wait(tasks)

    def adopt(self, info: SessionInfo, exchange: ExchangeInterface) -> None:
        """Record the outcome of a variant that this process continues for another one."""
        task = asyncio.create_task(self._adopt(info, exchange), name=f"heald-adopt-{info.id}")
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _adopt(self, info: SessionInfo, exchange: ExchangeInterface) -> None:
        try:
            project = await ProjectStore(self._host.sessions.store).get(info.owner, info.parent or "")
        except (StoreError, NoSuchDocument):
            return  # it is reconciled when somebody looks at it
        for version in project.versions:
            for variant in _all_tries(version):
                if variant.session == info.id and not variant.is_done:
                    following = self._follow(info.owner, project.id, version, variant, exchange)
                    self._track(project.id, version.id, variant, following)

    async def reconcile(self, project: Project) -> Project:
        """Return the project with the outcomes of variants that an earlier process left running."""
        for version in project.versions:
            for variant in _all_tries(version):
                if variant.is_done or variant.session in self._tasks or variant.session in self._reserved:
                    continue
                changes = await self._recover_outcome(project.id, version, variant)
                if not changes:
                    continue
                changes = await self._check_page(project, version, variant, changes)
                self._broken.pop(variant.session, None)
                try:
                    project = await self._update_variant(project.id, version.id, variant, **changes)
                except StoreError as error:  # the outcome is shown although it cannot be stored
                    _log.warning("%s", error, extra={"project": project.id})
                    project = with_changes(project, version.id, variant, changes)
        return project

    async def close(self) -> None:
        tasks = [*self._adopting, *(task for _, _, task in self._tasks.values())]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _track(self, project: str, version: str, variant: Variant, work: Coroutine[Any, Any, None]) -> None:
        session = variant.session
        if session in self._tasks:  # another caller was faster
            work.close()
            return
        task = asyncio.create_task(work, name=f"heald-variant-{session}")
        self._tasks[session] = project, version, task

        def forget(_: object) -> None:
            self._tasks.pop(session, None)
            self._cancelled.pop(session, None)

        task.add_done_callback(forget)

    async def _run(self, owner: str, project: str, version: Version, variant: Variant, message: Message) -> None:
        note = partial(self._update_variant, project, version.id, variant)
        try:
            stored_project = await note(started=time())
            if version.draft and not is_converter(variant.model):
                shared_browser().start_ahead()  # the draft is scored
                polish = await self._drafts.prepare(owner, stored_project, version, variant, message)
                message = polish.message
                await note(draft_score=polish.score)
                if not polish.is_needed and variant.session not in self._cancelled:
                    fields = {"status": "completed", "ended": time(), "cost_usd": 0.0, "note": DRAFT_IS_ENOUGH}
                    await note(**await self._check_page(stored_project, version, variant, fields), score=polish.score)
                    return
            info = await self._host.sessions.store.info(variant.session)
            if await self._host.pass_on(info, message, variant.session):
                return  # the process that claims it records its outcome
            if self._scores and is_converter(variant.model):
                shared_browser().start_ahead()  # the local converter is done within seconds
            result = await self._send(owner, version, variant, message, note)
            await self._judge(owner, version, variant, note, result)
        except NoSuchSession:
            return  # deleted meanwhile
        except (SessionBusy, Fenced, HandedOver):
            return  # another process builds it, and its outcome is in the log
        except HealdError as error:
            await self._record_failure(variant, note, error.info())
        except Exception:
            _log.exception("A variant failed.", extra={"session": variant.session})
            error = ErrorInfo(code="internal", message="The variant failed here; the log of the server has the cause.")
            await self._record_failure(variant, note, error)

    async def _judge(
        self, owner: str, version: Version, variant: Variant, note: UpdateVariant, result: AgentResult
    ) -> None:
        """Score a variant, and have it repaired once if its score is too low."""
        if result.status not in _SCORED_STATUSES:
            return
        score = await self._score(owner, version, variant, note)
        if score is not None and self._needs_repair(variant, result, score):
            await self._send(owner, version, variant, repair_message(score), note, result)
            await self._score(owner, version, variant, note)

    async def _record_failure(self, variant: Variant, note: UpdateVariant, error: ErrorInfo) -> None:
        """Store the failure, with retries. If all fail, `reconcile` finds it out later."""
        for pause in _RETRY_PAUSES:
            try:
                await note(status="failed", ended=time(), error=error, has_page=await self._begins_with_page(variant))
                return
            except NoSuchSession:
                return
            except StoreError as fault:
                _log.warning("%s", fault, extra={"session": variant.session})
            await asyncio.sleep(pause)

    async def _send(
        self,
        owner: str,
        version: Version,
        variant: Variant,
        message: Message,
        note: UpdateVariant,
        before: AgentResult | None = None,
        *,
        is_mended: bool = False,
    ) -> AgentResult:
        """Send a request and record its outcome. A model that broke a lock is asked once to mend that."""
        info = await self._host.sessions.store.info(variant.session)
        async with self._host.use(info) as session:
            async with self._host.admit(info, session) if before is None else nullcontext():
                exchange = session.send(message, client_request_id=None if before is not None else variant.session)
            self._host.begin(owner, exchange)
            await session.accepted(exchange)
            if variant.session in self._cancelled:  # cancelled before the exchange began
                exchange.cancel(self._cancelled[variant.session])
            project = await note(status="running", exchange=exchange.id)
            result = await await_result(exchange)
        ended = time()
        fields: dict[str, Any] = {
            "status": result.status,
            "ended": ended,
            "turns": result.turns + (before.turns if before is not None else 0),
            "usage": result.usage + (before.usage if before is not None else Usage()),
            "cost_usd": add_costs(result.cost_usd, before.cost_usd if before is not None else 0.0),
            "error": result.error,
            "note": result.note,
        }
        if before is None:  # it took as long as its exchange: waiting for a session is not part of it
            fields["started"] = ended - result.duration_ms / 1000
        checked = await self._check_page(project, version, variant, fields, result.text)
        broken = self._broken.pop(variant.session, [])
        if broken and not is_mended and variant.session not in self._cancelled:
            spent = msgspec.structs.replace(
                result, turns=fields["turns"], usage=fields["usage"], cost_usd=fields["cost_usd"]
            )
            message = user_message(repair_request(broken))
            return await self._send(owner, version, variant, message, note, spent, is_mended=True)
        await note(**checked)
        return msgspec.structs.replace(result, status="failed") if broken else result

    async def _check_page(
        self, project: Project, version: Version, variant: Variant, fields: dict[str, Any], answer: str = ""
    ) -> dict[str, Any]:
        """Return the outcome of a variant, judged by its files: without a page it failed."""
        try:
            files = await self.read_files(variant.session)
            entry = self._entry_of(project)
            fields = {**fields, "has_page": has_page(files, entry), "pages": list_pages(files, entry)}
            if fields["status"] in _SCORED_STATUSES and fields["has_page"] and version.base is not None:
                project = await self._change(project.id, lambda now: now)  # a model may have locked something meanwhile
                if broken := await self._check_locks(project, version.base, files):
                    self._broken[variant.session] = broken
                    error = ErrorInfo(code="permission", message=refusal(broken))
                    return {**fields, "status": "failed", "error": error}
            if fields["status"] != "completed":
                return fields
            if not fields["has_page"]:
                error = ErrorInfo(code="incomplete", message=describe_missing_page(variant.model, answer))
                return {**fields, "status": "failed", "error": error}
            if not project.named and (title := read_title(files, entry)):
                await self._change(project.id, lambda now: with_title(now, title))
            if fields.get("note") is None and not await self._is_changed(variant, files):
                if version.draft and not is_converter(variant.model):
                    return {**fields, "note": describe_kept_draft(answer)}
                return {**fields, "note": NOTHING_CHANGED if version.base is not None else describe_no_change(answer)}
        except StoreError:
            return fields
        return fields

    async def _begins_with_page(self, variant: Variant) -> bool:
        """Whether a variant that never started has the files of another version."""
        info = await self._host.sessions.store.info(variant.session)
        return bool(SessionSettings.of(info.settings).files)

    async def _is_changed(self, variant: Variant, files: Mapping[str, bytes]) -> bool:
        """Whether the files differ from those that the variant began with."""
        store = self._host.sessions.store
        initial = SessionSettings.of((await store.info(variant.session)).settings).files
        if not initial or initial.keys() != files.keys():
            return True
        return any([await store.blob(variant.session, digest) != files[path] for path, digest in initial.items()])

    async def _score(self, owner: str, version: Version, variant: Variant, note: UpdateVariant) -> "Score | None":
        """Render and score the files. An error here does not change the outcome of the variant."""
        if not self._scores:
            return None
        try:
            project = await note()
            work = await self._context_of(owner, project, find_version(project, VariantRef(version.id, 0)), variant)
            files = await self.read_files(variant.session)
            if not work.targets or not files:
                return None
            from heald_studio.score.scoring import score_variant  # a server starts without numpy

            scores = await score_variant(work.stack, files, work.targets[0])
        except NoSuchSession:
            raise
        except Exception:
            _log.exception("A variant could not be scored.", extra={"session": variant.session})
            return None
        if scores is None:
            return None
        await note(score=scores[0])
        return scores[1]

    def _needs_repair(self, variant: Variant, result: AgentResult, score: "Score") -> bool:
        if result.status != "completed" or variant.session in self._cancelled:
            return False
        return self._repair_below is not None and score.overall < self._repair_below

    async def _recover_outcome(self, project: str, version: Version, variant: Variant) -> dict[str, Any]:
        """Read the outcome of a variant from its log; empty if it is still running."""
        try:
            store = as_shared(self._host.sessions.store)
            info = await store.info(variant.session)
            outcome = await self._find_response(info, variant)
            if outcome is None and await store.find_holder(info.id) not in ("", store.node):
                return {}  # another process runs it
            if not info.last_seq:
                return await self._start_lost(project, version, variant, info)
            if outcome is None and info.work == "waiting" and time() - info.updated < _START_SECONDS:
                return {}  # it was passed on, and a process with room claims it
            if outcome is None:
                async with self._host.use(info) as session:  # opening it closes or resumes the exchange
                    exchange = session.current
                    if exchange is not None:
                        following = self._follow(info.owner, project, version, variant, exchange)
                        self._track(project, version.id, variant, following)
                        return {}
                outcome = await self._find_response(await self._host.sessions.store.info(info.id), variant)
        except SessionBusy:
            return {}  # another process runs it
        except NoSuchSession:
            outcome = None
        except StoreError:
            return {}  # the outcome cannot be read now
        except HealdError:
            outcome = None
        return outcome if outcome is not None else {"status": "failed", "ended": time(), "error": _LOST}

    async def _start_lost(self, project: str, version: Version, variant: Variant, info: SessionInfo) -> dict[str, Any]:
        """Start a variant whose process ended before its request was stored. A process that is only slow to start it
        repeats the request under the same id, so that it is sent once."""
        if not info.epoch and time() - version.created < _START_SECONDS:
            return {}  # another process may be starting it
        if not version.request:
            return {"status": "failed", "ended": time(), "error": _LOST}
        message = msgspec.json.decode(await self._host.sessions.store.blob(project, version.request), type=Message)
        self._track(project, version.id, variant, self._run(info.owner, project, version, variant, message))
        return {}

    async def _find_response(self, info: SessionInfo, variant: Variant) -> dict[str, Any] | None:
        """Find the outcome of a variant's exchange; None if it has not ended."""
        upto = info.last_seq
        while upto > 0:
            events = await self._host.sessions.store.read(info.id, after=max(0, upto - PAGE), upto=upto)
            for event in reversed(events):
                if isinstance(event.data, ExchangeResponse) and variant.exchange in (None, event.exchange):
                    started = event.time - event.data.duration_ms / 1000
                    return fields_of(event.data, event.data.cost_usd) | {"started": started, "ended": event.time}
            upto -= PAGE
        return None

    async def _follow(
        self, owner: str, project: str, version: Version, variant: Variant, exchange: ExchangeInterface
    ) -> None:
        """Record the outcome of an exchange that an earlier process began and this one resumed."""
        try:
            result = await await_result(exchange)
        except (Fenced, HandedOver):
            return  # another process continues it
        except HealdError as error:
            result, changes = None, {"status": "failed", "error": error.info()}
        else:
            changes = fields_of(result, result.cost_usd)
        note = partial(self._update_variant, project, version.id, variant)
        with suppress(StoreError):
            changes = await self._check_page(await note(), version, variant, changes)
            await note(ended=time(), **changes)
            if result is not None and not self._broken.pop(variant.session, []):
                await self._judge(owner, version, variant, note, result)

    async def _update_variant(self, project: str, version: str, variant: Variant, **changes: Any) -> Project:
        return await self._change(project, lambda now: with_changes(now, version, variant, changes))


def _all_tries(version: Version) -> list[Variant]:
    return [attempt for variant in version.variants for attempt in variant.tries]
