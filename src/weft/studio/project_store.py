"""Stores projects and notifies subscribers of their changes.

A project is a session without a conversation; its settings hold the project and its pictures are its blobs. Several
processes may share the store: a process holds the project's lease while it changes it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from time import monotonic, time
from typing import cast

import msgspec

from weft.core.errors import NotFound
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.sessions.store import NoSuchSession, SessionBusy, SessionInfo, Store, StoreError, mark_dead, new_holder
from weft.studio.project import Project

Change = Callable[[Project], Project]
ChangeProject = Callable[[str, Change], Awaitable[Project]]  # changes the project of a name and publishes it

KIND = "project"
_FIELD = "project"
_LEASE_SECONDS = 10.0  # how long a change may take
_RETRY_SECONDS = 0.02  # how often a lease of another process is tried


class NoSuchProject(NotFound):
    """There is no project of that name, or it belongs to another owner."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no project {name[:100]!r}; list the projects to see which there are.")


class ProjectPage(msgspec.Struct, frozen=True):
    projects: list[Project]
    next: str | None


class ProjectStore:
    """Projects in a session store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._locks: dict[str, asyncio.Lock] = {}

    async def add(self, owner: str, *, title: str, stack: str, design_system: str = "", named: bool = True) -> Project:
        now, name = time(), new_id("prj")
        project = Project(
            id=name, title=title, stack=stack, created=now, updated=now, design_system=design_system, named=named
        )
        await self.store.create(SessionInfo(id=name, owner=owner, kind=KIND, title=title, settings=_settings(project)))
        return project

    async def get(self, owner: str, name: str) -> Project:
        try:
            info = await self.store.info(name)
        except NoSuchSession:
            raise NoSuchProject(name) from None
        if info.owner != owner or info.kind != KIND:
            raise NoSuchProject(name)
        return _project(info)

    async def list(self, owner: str, *, search: str = "", limit: int = 50, after: str | None = None) -> ProjectPage:
        page = await self.store.list(search=search, limit=limit, after=after, owner=owner, kind=KIND)
        return ProjectPage([_project(info) for info in page.sessions if _FIELD in info.settings], page.next)

    async def change(self, name: str, change: Change) -> Project:
        """Store the result of `change` on a project. Changes of one project run one after the other."""
        async with self._locks.setdefault(name, asyncio.Lock()), self._exclusive(name):
            before = _project(await self.store.info(name))
            after = msgspec.structs.replace(change(before), updated=time())
            await self.store.configure(name, _settings(after))
            if after.title != before.title:
                await self.store.rename(name, after.title)
            return after

    @asynccontextmanager
    async def _exclusive(self, name: str) -> AsyncGenerator[None]:
        """Hold the project's lease, so that no other process changes it."""
        until = monotonic() + _LEASE_SECONDS
        while True:
            try:
                lease = await self.store.acquire(name, new_holder(), seconds=_LEASE_SECONDS)
                break
            except SessionBusy:
                if monotonic() > until:
                    raise SessionBusy("Another process is changing the project; wait, or end that process.") from None
            await asyncio.sleep(_RETRY_SECONDS)
        try:
            yield
        finally:
            try:
                await self.store.release(lease)
            except StoreError:
                mark_dead(lease.holder)  # this process may acquire it again at once; for others it expires

    async def delete(self, name: str) -> None:
        await self.store.delete(name)
        self._locks.pop(name, None)


def _settings(project: Project) -> JsonObject:
    return {_FIELD: cast(JsonObject, msgspec.to_builtins(project))}


def _project(info: SessionInfo) -> Project:
    return msgspec.convert(info.settings.get(_FIELD), Project)


class ProjectFeed:
    """Sends each new state of a project to its subscribers. A slow one only gets the newest."""

    def __init__(self) -> None:
        self._queues: dict[str, set[asyncio.Queue[Project | None]]] = {}
        self._published: dict[str, float] = {}

    def publish(self, project: Project) -> None:
        if project.id in self._queues:
            self._published[project.id] = project.updated
        self._enqueue(project.id, project)

    def last_published(self, name: str) -> float:
        """Return the `updated` time of the state that was published last."""
        return self._published.get(name, 0.0)

    def close(self, name: str) -> None:
        """End the streams of a project that was deleted."""
        self._enqueue(name, None)

    @contextmanager
    def subscribe(self, name: str) -> Generator[AsyncGenerator[Project]]:
        """Open a stream of each new state of a project, until it is deleted."""
        queue: asyncio.Queue[Project | None] = asyncio.Queue(1)
        self._queues.setdefault(name, set()).add(queue)
        try:
            yield _iterate(queue)
        finally:
            self._queues[name].discard(queue)
            if not self._queues[name]:
                del self._queues[name]
                self._published.pop(name, None)

    def _enqueue(self, name: str, state: Project | None) -> None:
        for queue in self._queues.get(name, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(state)


async def _iterate(queue: "asyncio.Queue[Project | None]") -> AsyncGenerator[Project]:
    while (state := await queue.get()) is not None:
        yield state
