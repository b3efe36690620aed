"""Stores projects.

A project is a session without a conversation; its settings hold the project and its pictures are its blobs. Several
processes may share the store: a process holds the project's lease while it changes it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic, time

import msgspec

from heald.core.ids import new_id
from heald.sessions.leases import mark_dead, new_holder
from heald.sessions.store import Store
from heald.sessions.store_errors import SessionBusy, StoreError
from heald_studio.projects.document_store import DocumentStore
from heald_studio.projects.project import Project

Change = Callable[[Project], Project]
ChangeProject = Callable[[str, Change], Awaitable[Project]]  # changes the project of a name and publishes it

KIND = "project"
_LEASE_SECONDS = 10.0  # how long a change may take
_RETRY_SECONDS = 0.02  # how often a lease of another process is tried


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

    async def design_text(self, project: Project) -> str:
        """Return the text of a project's design system; empty if it has none."""
        if not project.design:
            return project.design_system
        return (await self.store.blob(project.id, project.design)).decode()

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
