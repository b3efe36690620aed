"""The shelf: where projects are kept. Each is a session without a conversation, whose settings hold the project.

So a project lives in the same store as its variants, belongs to an owner as they do, and its pictures are its blobs.
Several processes may share the store: whoever changes a project holds its lease while that lasts.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic, time
from typing import cast

import msgspec

from weft.core.errors import NotFound
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.sessions.errors import NoSuchSession, SessionBusy, StoreError
from weft.sessions.lease import let_go, this_holder
from weft.sessions.store import SessionInfo, Store
from weft.studio.projects.project import Project

Change = Callable[[Project], Project]
ChangeProject = Callable[[str, Change], Awaitable[Project]]
"""Changes the project of a name and tells whoever watches it."""

KIND = "project"
_FIELD = "project"
_PATIENCE = 10.0
_PAUSE = 0.02
"""Seconds: how long a change may take, and how often it is looked whether another one is over."""


class NoSuchProject(NotFound):
    """There is none of that name, or it is somebody else's."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no project {name[:100]!r}; list the projects to see which there are.")


class ProjectPage(msgspec.Struct, frozen=True):
    projects: list[Project]
    next: str | None


class Shelf:
    """Keeps projects in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._locks: dict[str, asyncio.Lock] = {}

    async def add(self, owner: str, *, title: str, stack: str, design_system: str = "") -> Project:
        now = time()
        project = Project(
            id=new_id("prj"), title=title, stack=stack, created=now, updated=now, design_system=design_system
        )
        info = SessionInfo(id=project.id, owner=owner, kind=KIND, title=title, settings=_settings(project))
        await self.store.create(info)
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
        return ProjectPage([_project(info) for info in page.sessions], page.next)

    async def change(self, name: str, change: Change) -> Project:
        """Keep a project as a function makes it. Changes of one project come one after the other."""
        async with self._locks.setdefault(name, asyncio.Lock()), self._alone(name):
            before = _project(await self.store.info(name))
            after = msgspec.structs.replace(change(before), updated=time())
            await self.store.configure(name, _settings(after))
            if after.title != before.title:
                await self.store.rename(name, after.title)
            return after

    @asynccontextmanager
    async def _alone(self, name: str) -> AsyncGenerator[None]:
        """No other process changes the project meanwhile."""
        until = monotonic() + _PATIENCE
        while True:
            try:
                lease = await self.store.acquire(name, this_holder(), seconds=_PATIENCE)
                break
            except SessionBusy:
                if monotonic() > until:
                    raise SessionBusy("Another process keeps the project to itself; wait, or end it.") from None
            await asyncio.sleep(_PAUSE)
        try:
            yield
        finally:
            try:
                await self.store.release(lease)
            except StoreError:
                let_go(lease.holder)  # this process may take it again at once; for others it runs out

    async def remove(self, name: str) -> None:
        await self.store.delete(name)
        self._locks.pop(name, None)


def _settings(project: Project) -> JsonObject:
    return {_FIELD: cast(JsonObject, msgspec.to_builtins(project))}


def _project(info: SessionInfo) -> Project:
    return msgspec.convert(info.settings.get(_FIELD), Project)
