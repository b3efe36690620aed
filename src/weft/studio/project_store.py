"""Stores projects and design systems, and notifies subscribers of the changes of projects.

A project is a session without a conversation; its settings hold the project and its pictures are its blobs. Several
processes may share the store: a process holds the project's lease while it changes it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from time import monotonic, time
from typing import Generic, TypeVar, cast

import msgspec

from weft.core.errors import NotFound
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.sessions.store import NoSuchSession, SessionBusy, SessionInfo, Store, StoreError, mark_dead, new_holder
from weft.studio.project import Project
from weft.studio.request import parse_design_system

Change = Callable[[Project], Project]
ChangeProject = Callable[[str, Change], Awaitable[Project]]  # changes the project of a name and publishes it

KIND = "project"
_LEASE_SECONDS = 10.0  # how long a change may take
_RETRY_SECONDS = 0.02  # how often a lease of another process is tried
_MOST_LISTED = 200
T = TypeVar("T", bound=msgspec.Struct)


class NoSuchDocument(NotFound):
    """There is no document of that name, or it belongs to another owner."""


class DocumentStore(Generic[T]):
    """Documents of one kind in a session store. A document is the settings of a session without a conversation.

    `missing` is the sentence for a document that does not exist, with a place for its name.
    """

    def __init__(self, store: Store, kind: str, document: type[T], missing: str) -> None:
        self.store = store
        self._kind = kind
        self._document = document
        self._missing = missing

    def no_such(self, name: str) -> NoSuchDocument:
        return NoSuchDocument(self._missing.format(repr(name[:100])))

    async def create(self, owner: str, name: str, title: str, document: T) -> None:
        info = SessionInfo(id=name, owner=owner, kind=self._kind, title=title, settings=self._settings(document))
        await self.store.create(info)

    async def get(self, owner: str, name: str) -> T:
        try:
            info = await self.store.info(name)
        except NoSuchSession:
            raise self.no_such(name) from None
        if info.owner != owner or info.kind != self._kind:
            raise self.no_such(name)
        return self._read(info)

    async def list_all(self, owner: str) -> list[T]:
        page = await self.store.list(owner=owner, kind=self._kind, limit=_MOST_LISTED)
        return [self._read(info) for info in page.sessions]

    async def put(self, name: str, document: T) -> None:
        """Replace a document."""
        await self.store.configure(name, self._settings(document))

    def _settings(self, document: T) -> JsonObject:
        return {self._kind: cast(JsonObject, msgspec.to_builtins(document))}

    def _read(self, info: SessionInfo) -> T:
        return msgspec.convert(info.settings.get(self._kind), self._document)


class ProjectPage(msgspec.Struct, frozen=True):
    projects: list[Project]
    next: str | None


class ProjectStore(DocumentStore[Project]):
    """Projects in a session store."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, KIND, Project, "There is no project {}; list the projects to see which there are.")
        self._locks: dict[str, asyncio.Lock] = {}

    async def add(self, owner: str, *, title: str, stack: str, design_system: str = "", named: bool = True) -> Project:
        now, name = time(), new_id("prj")
        project = Project(
            id=name, title=title, stack=stack, created=now, updated=now, design_system=design_system, named=named
        )
        await self.create(owner, name, title, project)
        return project

    async def list(self, owner: str, *, search: str = "", limit: int = 50, after: str | None = None) -> ProjectPage:
        page = await self.store.list(search=search, limit=limit, after=after, owner=owner, kind=KIND)
        return ProjectPage([self._read(info) for info in page.sessions if KIND in info.settings], page.next)

    async def change(self, name: str, change: Change) -> Project:
        """Store the result of `change` on a project. Changes of one project run one after the other."""
        async with self._locks.setdefault(name, asyncio.Lock()), self._exclusive(name):
            before = self._read(await self.store.info(name))
            after = msgspec.structs.replace(change(before), updated=time())
            await self.put(name, after)
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


class StoredDesignSystem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str
    content: str
    created_at: str
    """As ISO 8601 text, like `updated_at`."""
    updated_at: str


class DesignSystemStore(DocumentStore[StoredDesignSystem]):
    """The design systems in a session store: named texts with the rules of a design."""

    def __init__(self, store: Store) -> None:
        missing = "There is no design system {}; list them to see which there are."
        super().__init__(store, "design_system", StoredDesignSystem, missing)

    async def add(self, owner: str, name: str, content: str) -> StoredDesignSystem:
        """Store a design system. Raises BadInput if it is too long for a prompt."""
        parsed = parse_design_system(content, name)
        now = datetime.now(UTC).isoformat()
        added = StoredDesignSystem(
            id=new_id("dsy"), name=parsed.name, content=parsed.text, created_at=now, updated_at=now
        )
        await self.create(owner, added.id, added.name, added)
        return added

    async def change(
        self, owner: str, name: str, *, title: str | None = None, content: str | None = None
    ) -> StoredDesignSystem:
        before = await self.get(owner, name)
        parsed = parse_design_system(before.content if content is None else content, title or before.name)
        changed = msgspec.structs.replace(
            before, name=parsed.name, content=parsed.text, updated_at=datetime.now(UTC).isoformat()
        )
        await self.put(name, changed)
        if changed.name != before.name:
            await self.store.rename(name, changed.name)
        return changed

    async def delete(self, owner: str, name: str) -> None:
        await self.get(owner, name)
        await self.store.delete(name)
