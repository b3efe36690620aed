"""Changes of a project that wait on the server: each is sent when the variant that it changes is done.

The changes are stored in the project, so that they outlive the page that sent them and the process that received them.
They are sent in their order. One that fails stays, with those behind it, until a person sends it again or removes it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import time

import msgspec

from heald.core.errors import HealdError, NotFound
from heald.core.ids import new_id
from heald.sessions.store_errors import NoSuchSession, StoreError
from heald_studio.projects.project import Project, VariantRef, Version, find_variant
from heald_studio.projects.project_store import ChangeProject, ProjectStore
from heald_studio.projects.queued_change import QueuedChange

SendChange = Callable[[str, str, VariantRef, bytes], Awaitable[Version]]
"""Sends the stored body of a change to a variant, for an owner and a project."""

_MAX_WAITING = 50
_LOST_SECONDS = 120.0  # after which a change that another process was sending is given back to the person
_LOST = "The server stopped while this change was being sent. Look at the versions before you send it again."
_log = logging.getLogger("heald_studio")


class NoSuchChange(NotFound):
    """The queue of the project has no change of that id, or it is being sent."""


class ChangeQueue:
    """The waiting changes of all projects. `send` is set by whoever can read the bodies of requests."""

    def __init__(self, projects: ProjectStore, change: ChangeProject) -> None:
        self.send: SendChange | None = None
        self._projects = projects
        self._change = change
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by project
        self._due: set[str] = set()  # projects whose next turn came while a task was at work

    async def add(self, project: Project, base: VariantRef, text: str, body: bytes) -> QueuedChange:
        """Add a change of a variant. It is sent at once if the variant is done and nothing waits before it."""
        find_variant(project, base)
        blob = await self._projects.store.put_blob(project.id, body)
        change = QueuedChange(id=new_id("chg"), base=base, text=text, body=blob, created=time())

        def append(now: Project) -> Project:
            if len(now.queue) >= _MAX_WAITING:
                raise HealdError(f"{_MAX_WAITING} changes wait already; remove some of them.")
            after = now.queue[-1].id if now.queue else ""
            return msgspec.structs.replace(now, queue=[*now.queue, msgspec.structs.replace(change, after=after)])

        self.proceed(await self._change(project.id, append))
        return change

    async def read(self, project: Project, change: str) -> bytes:
        """Read the body of a change. Raises NoSuchChange."""
        return await self._projects.store.blob(project.id, _find(project, change).body)

    async def remove(self, name: str, change: str) -> Project:
        """Remove a change that is not being sent. Raises NoSuchChange."""
        project = await self._change(name, lambda now: _without(now, _find(now, change)))
        self.proceed(project)
        return project

    async def resend(self, name: str, change: str) -> Project:
        """Let a change that failed wait for its turn again. Raises NoSuchChange."""
        project = await self._change(
            name, lambda now: _replace(now, _find(now, change).id, status="waiting", reason="")
        )
        self.proceed(project)
        return project

    def proceed(self, project: Project) -> None:
        """Send the first change of a project if its turn has come."""
        if self.send is None or _next_base(project) is None:
            return
        if project.id in self._tasks:
            self._due.add(project.id)
            return
        task = asyncio.create_task(self._send_due(project.id), name=f"heald-change-{project.id}")
        self._tasks[project.id] = task

    async def recover(self, project: Project) -> Project:
        """Continue the queue of a project that an earlier process left, and give back what it was sending."""
        is_lost = project.id not in self._tasks and _give_back_lost(project) is not project
        if is_lost:
            project = await self._change(project.id, _give_back_lost)
        self.proceed(project)
        return project

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _send_due(self, name: str) -> None:
        try:
            while await self._send_first(name) or name in self._due:
                self._due.discard(name)
        except (NoSuchSession, NotFound):
            return  # the project was deleted
        except StoreError as error:
            _log.warning("%s", error, extra={"project": name})  # whoever looks at the project next continues
        finally:
            self._due.discard(name)
            self._tasks.pop(name, None)

    async def _send_first(self, name: str) -> bool:
        """Send the first change if its turn has come. False if none was sent."""
        claimed: list[tuple[QueuedChange, VariantRef]] = []

        def claim(now: Project) -> Project:
            claimed.clear()
            base = _next_base(now)
            if base is None:
                return now
            claimed.append((now.queue[0], base))
            return _replace(now, now.queue[0].id, status="sending", since=time())

        project = await self._change(name, claim)
        if not claimed or self.send is None:
            return False
        [(change, base)] = claimed
        owner = (await self._projects.store.info(name)).owner
        try:
            version = await self.send(owner, name, base, await self._projects.store.blob(project.id, change.body))
        except HealdError as error:
            await self._fail(name, change, str(error))
            return False
        except Exception:
            _log.exception("A waiting change could not be sent.", extra={"project": name})
            await self._fail(name, change, "The change could not be sent; the log of the server has the cause.")
            return False

        def finish(now: Project) -> Project:
            made = now.version(version.id) or version
            return _without(now.with_version(msgspec.structs.replace(made, queued=change.id)), change)

        await self._change(name, finish)
        return True

    async def _fail(self, name: str, change: QueuedChange, reason: str) -> None:
        await self._change(name, lambda now: _replace(now, change.id, status="failed", reason=reason))


def _find(project: Project, name: str) -> QueuedChange:
    change = next((change for change in project.queue if change.id == name), None)
    if change is None or change.status == "sending":
        raise NoSuchChange("No such change waits; it was sent or removed.")
    return change


def _without(project: Project, change: QueuedChange) -> Project:
    """Return the project without a change. One that waited for it waits for what it waited for."""
    is_sent = any(version.queued == change.id for version in project.versions)
    queue = [
        msgspec.structs.replace(other, after=change.after) if other.after == change.id and not is_sent else other
        for other in project.queue
        if other.id != change.id
    ]
    return msgspec.structs.replace(project, queue=queue)


def _replace(project: Project, name: str, **fields: object) -> Project:
    queue = [msgspec.structs.replace(change, **fields) if change.id == name else change for change in project.queue]
    return msgspec.structs.replace(project, queue=queue)


def _next_base(project: Project) -> VariantRef | None:
    """Return the variant that the first change is made in; None while its turn has not come."""
    if not project.queue or project.queue[0].status != "waiting":
        return None
    change = project.queue[0]
    before = next((version for version in project.versions if change.after and version.queued == change.after), None)
    base = VariantRef(before.id, before.chosen) if before is not None else change.base
    return base if all(attempt.is_done for attempt in find_variant(project, base).tries) else None


def _give_back_lost(project: Project) -> Project:
    """Return the project with the change as failed that an earlier process was sending."""
    lost = [change for change in project.queue if change.status == "sending" and time() - change.since > _LOST_SECONDS]
    for change in lost:
        project = _replace(project, change.id, status="failed", reason=_LOST)
    return project
