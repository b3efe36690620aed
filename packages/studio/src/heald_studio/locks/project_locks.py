"""The locks of projects: adds and removes them, and checks changes against them."""

from collections.abc import Awaitable, Callable, Mapping
from time import time
from typing import Literal

import msgspec

from heald.core.ids import new_id
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects import actions
from heald_studio.projects.lock import (
    MAX_LOCKS,
    BrokenLock,
    CannotLock,
    Lock,
    LockBroken,
    NewLock,
    NoSuchLock,
    refusal,
)
from heald_studio.projects.project import Project, ProjectState, VariantRef, find_variant, finished_try, locks_of
from heald_studio.projects.project_store import ChangeProject
from heald_studio.stacks.stack import Stack

Files = Mapping[str, bytes]


class ProjectLocks:
    """Locks of the projects of a studio."""

    def __init__(
        self,
        change: ChangeProject,
        read_files: Callable[[str], Awaitable[Files]],
        find_stack: Callable[[str], Stack],
    ) -> None:
        self._change = change
        self._read_files = read_files
        self._find_stack = find_stack

    async def add(
        self, project: Project, base: VariantRef, new: NewLock, *, author: Literal["person", "model"] = "person"
    ) -> Lock:
        """Lock a part of a variant that is finished. Raises CannotLock."""
        variant = find_variant(project, base)
        finished = finished_try(variant)
        if finished is None:
            raise CannotLock("The variant has no finished page yet; lock a part of it when it is done.")
        if sum(lock.is_active for lock in project.locks) >= MAX_LOCKS:
            raise CannotLock(f"A project has at most {MAX_LOCKS} locks; remove one first.")
        lock = Lock(
            id=new_id("lck"),
            kind=new.kind,
            version=base.version,
            variant=base.variant,
            session=finished.session,
            page="" if new.page == PAGE else new.page,
            path=new.path.strip(),
            text=new.text.strip() if new.kind == "text" else "",
            file=new.file,
            author=author,
            created=time(),
        )
        lock = await self._complete(self._find_stack(project.stack), lock, await self._read_files(lock.session))
        equal = next((other for other in project.locks if other.is_active and _names_same(other, lock)), None)
        if equal is not None:
            return equal

        def record(now: Project) -> Project:
            added = msgspec.structs.replace(now, locks=[*now.locks, lock])
            return actions.record(
                added,
                f"lock of {lock.label}",
                ProjectState(locks={lock.id: False}),
                ProjectState(locks={lock.id: True}),
            )

        await self._change(project.id, record)
        return lock

    async def remove(self, project: Project, name: str) -> Project:
        """Remove a lock. Raises NoSuchLock."""
        lock = next((lock for lock in project.locks if lock.id == name and lock.is_active), None)
        if lock is None:
            raise NoSuchLock(f"The project has no lock {name[:60]!r}.")

        def record(now: Project) -> Project:
            before, after = ProjectState(locks={name: True}), ProjectState(locks={name: False})
            return actions.record(now, f"unlock of {lock.label}", before, after)

        return await self._change(project.id, record)

    async def check(self, project: Project, base: VariantRef | None, files: Files) -> list[BrokenLock]:
        """Return the locks that files made from a variant break."""
        locks = locks_of(project, base)
        if not locks:
            return []
        from heald_studio.locks.lock_check import check_locks  # a server starts without the browser's modules

        return await check_locks(self._find_stack(project.stack), locks, files, self._read_files)

    async def ensure(self, project: Project, base: VariantRef | None, files: Files) -> None:
        """Raise LockBroken if files made from a variant break a lock."""
        if broken := await self.check(project, base, files):
            raise LockBroken(refusal(broken))

    async def _complete(self, stack: Stack, lock: Lock, files: Files) -> Lock:
        """Return the lock with the words of its part, as the page shows it. Raises CannotLock."""
        if lock.kind == "file":
            if lock.file not in files:
                raise CannotLock(f"The variant has no file {lock.file[:100]!r}; name one of its files.")
            return lock
        if not lock.path and not (lock.kind == "text" and lock.text):
            raise CannotLock("A lock needs the path of an element, as the preview reports it, or the words of a text.")
        if ProjectPreview(stack, files).answer(lock.page or PAGE) is None:
            raise CannotLock(f"The variant has no page {lock.page[:100]!r}.")
        from heald_studio.locks.lock_check import describe_part

        seen = lock
        if lock.kind == "text" and not lock.text:  # the words are those of the element at the path
            seen = msgspec.structs.replace(lock, kind="element")
        part = await describe_part(stack, seen, files)
        if lock.kind == "text" and not part.text:
            raise CannotLock("The element has no text; lock the element instead.")
        return msgspec.structs.replace(lock, path=part.path, text=part.text)


def _names_same(lock: Lock, other: Lock) -> bool:
    names = ("kind", "version", "variant", "session", "page", "path", "text", "file")
    return all(getattr(lock, name) == getattr(other, name) for name in names)
