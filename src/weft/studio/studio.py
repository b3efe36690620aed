"""The studio: projects are begun, changed, restored and looked at; variants run beside each other.

Every request makes a version. Each of its variants is an agent in a session of its own, so that one failing, cancelled
or finished changes nothing for the others, and nobody who leaves stops any.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

import msgspec

from weft.core.errors import ConfigurationError, NotFound, WeftError
from weft.sessions.errors import NoSuchSession
from weft.sessions.store import SessionInfo
from weft.studio.assignment import Assignment, FindAssignment
from weft.studio.brief import Brief
from weft.studio.hosting import Host
from weft.studio.making import Maker
from weft.studio.projects.project import Base, Project, Variant, Version, variant_of, version_of
from weft.studio.projects.shelf import Change, ProjectPage, Shelf
from weft.studio.prompts.texts import Texts
from weft.studio.running import Running
from weft.studio.stacks.preview import Preview
from weft.studio.stacks.stack import stack as find_stack
from weft.studio.watching import Watchers

_LOOK = 5.0
"""Seconds between two looks at a project that somebody watches."""


class Studio:
    """All projects of a host."""

    def __init__(
        self,
        host: Host,
        *,
        prompts: Path | None = None,
        stacks: Path | None = None,
        repair_below: float | None = None,
        scores: bool = True,
    ) -> None:
        self.shelf = Shelf(host.sessions.store)
        self.watchers = Watchers()
        self._host = host
        self._stacks = stacks
        self._running = Running(host, self._changed, self._assignment, repair_below=repair_below, scores=scores)
        self._maker = Maker(host, self.shelf, self._running, Texts(prompts), stacks, self._changed)

    # --- projects ----------------------------------------------------------------------------------------------------

    async def create(self, owner: str, brief: Brief) -> Project:
        """Begin a project: its first version starts at once."""
        _check(brief)
        stack = find_stack(brief.stack, self._stacks)
        self._host.check(owner, brief.count)
        title = brief.title or " ".join(brief.text.split())[:80] or f"A design in {stack.label}"
        design = brief.design_system.text if brief.design_system is not None else ""
        project = await self.shelf.add(owner, title=title, stack=stack.name, design_system=design)
        try:
            targets = await self._maker.keep(project.id, brief.views)
            project = await self.shelf.change(project.id, lambda it: msgspec.structs.replace(it, targets=targets))
            await self._maker.begin(owner, project, "create", brief, targets=targets)
        except BaseException:
            await self.shelf.remove(project.id)  # nothing was begun
            raise
        return await self.shelf.get(owner, project.id)

    async def update(self, owner: str, name: str, base: Base, brief: Brief) -> Version:
        """Change a variant: several agents go on from it, each in its own way."""
        _check(brief)
        self._host.check(owner, brief.count)
        project = await self.get(owner, name)
        variant_of(project, base)
        targets = await self._maker.keep(project.id, brief.views)
        return await self._maker.begin(owner, project, "update", brief, base=base, targets=targets)

    async def edit(self, owner: str, name: str, base: Base, files: Mapping[str, bytes | None]) -> Version:
        """A version by a person's own hand: the files of a variant, changed. None takes one away."""
        project = await self.get(owner, name)
        changed = dict(await self.files(owner, name, base))
        for path, content in files.items():
            if content is None:
                changed.pop(path, None)
            else:
                changed[path] = content
        return await self._maker.place(owner, project, "edit", base, changed)

    async def restore(self, owner: str, name: str, base: Base) -> Version:
        """An earlier state as the newest version. Nothing in between is lost."""
        project = await self.get(owner, name)
        return await self._maker.place(owner, project, "restore", base, await self.files(owner, name, base))

    async def get(self, owner: str, name: str) -> Project:
        """A project as it is now."""
        project = await self.shelf.get(owner, name)
        return await self._running.caught_up(project)

    async def list(self, owner: str, *, search: str = "", limit: int = 50, after: str | None = None) -> ProjectPage:
        return await self.shelf.list(owner, search=search, limit=limit, after=after)

    async def rename(self, owner: str, name: str, title: str) -> Project:
        await self.shelf.get(owner, name)
        return await self._changed(name, lambda project: msgspec.structs.replace(project, title=title))

    async def delete(self, owner: str, name: str) -> None:
        """The project with all its variants. What runs is ended first."""
        project = await self.shelf.get(owner, name)
        for version in project.versions:
            for variant in version.variants:
                await self._running.cancel(variant, "The project was deleted.")
        await self._running.settled(project.id)
        for version in (await self.shelf.get(owner, name)).versions:
            for variant in version.variants:
                with suppress(NoSuchSession):  # thrown away before
                    await self._host.delete(variant.session)
        await self.shelf.remove(name)
        self.watchers.end(name)

    # --- variants ----------------------------------------------------------------------------------------------------

    async def cancel(self, owner: str, name: str, base: Base) -> bool:
        """Stop one variant. The others go on."""
        variant = variant_of(await self.shelf.get(owner, name), base)
        return await self._running.cancel(variant, "The variant was cancelled.")

    async def retry(self, owner: str, name: str, base: Base) -> Version:
        """Ask again for a variant that is over: as a new version with that one, from the same base."""
        self._host.check(owner, 1)
        project = await self.get(owner, name)
        variant = variant_of(project, base)
        if not variant.is_done:
            raise WeftError("The variant is still at work; cancel it before you try again.")
        return await self._maker.again(owner, project, version_of(project, base), variant)

    async def choose(self, owner: str, name: str, base: Base) -> Version:
        """The variant that people mean when they speak of the version."""
        variant_of(await self.shelf.get(owner, name), base)

        def chosen(project: Project) -> Project:
            version = version_of(project, base)
            return project.with_version(msgspec.structs.replace(version, chosen=base.variant))

        return version_of(await self._changed(name, chosen), base)

    async def files(self, owner: str, name: str, base: Base) -> Mapping[str, bytes]:
        """The files of a variant as they are now."""
        variant = variant_of(await self.shelf.get(owner, name), base)
        return await self._running.files(variant.session)

    async def preview(self, owner: str, name: str, base: Base, *, at: str = "/") -> Preview:
        """What a browser gets of a variant."""
        project = await self.shelf.get(owner, name)
        files = await self.files(owner, name, base)
        return Preview(find_stack(project.stack, self._stacks), files, base=at)

    async def watch(self, owner: str, name: str) -> AsyncGenerator[Project]:
        """The project now, and again whenever something about it has changed."""
        with self.watchers.at(name) as states:
            project = await self.get(owner, name)
            yield project
            looking = asyncio.create_task(self._look_again(owner, project))
            try:
                async with aclosing(states):
                    async for project in states:
                        yield project
            finally:
                looking.cancel()
                await asyncio.wait([looking])

    async def _look_again(self, owner: str, project: Project) -> None:
        """What another process on the same store changes is not heard of here: it is looked for now and then."""
        seen = project.updated
        while True:
            await asyncio.sleep(_LOOK)
            try:
                project = await self.get(owner, project.id)
            except NotFound:
                self.watchers.end(project.id)
                return
            except WeftError:
                continue  # the store cannot be read now
            if project.updated > max(seen, self.watchers.told(project.id)):
                self.watchers.tell(project)

    async def finished(self, owner: str, name: str, version: str) -> Version:
        """Wait until all variants of a version are over and have been looked at."""
        await self._running.settled(name, version)
        project = await self.get(owner, name)
        return version_of(project, Base(version, 0))

    def models(self) -> Sequence[str]:
        """What variants use where the person names none, the best mix first."""
        return self._host.models()

    async def close(self) -> None:
        """Stop watching over what runs. The exchanges themselves are the host's."""
        await self._running.close()

    # --- for the variants' tools -------------------------------------------------------------------------------------

    def assignment_of(self, info: SessionInfo) -> FindAssignment:
        """How the tools of a session find out what they work on."""

        async def find() -> Assignment:
            project = await self.shelf.get(info.owner, info.parent or "")
            for version in project.versions:
                for variant in version.variants:
                    if variant.session == info.id:
                        return await self._assignment(info.owner, project, version, variant)
            raise WeftError("The session is no variant of its project any more.")

        return find

    async def _assignment(self, owner: str, project: Project, version: Version, variant: Variant) -> Assignment:
        stack = find_stack(project.stack, self._stacks)
        shown = version.pictures or project.targets
        seen = version if version.base is None else version_of(project, version.base)

        async def option(number: int) -> Mapping[str, bytes] | None:
            if 0 < number <= len(version.options):
                return {stack.entry: await self.shelf.store.blob(project.id, version.options[number - 1])}
            found = next((each for each in seen.variants if each.index == number - 1), None)
            return None if found is None else await self.files(owner, project.id, Base(seen.id, found.index))

        return Assignment(
            project=project.id,
            version=version.id,
            variant=variant.index,
            stack=stack,
            targets=tuple([await self.shelf.store.blob(project.id, target.blob) for target in shown]),
            option=option,
        )

    async def _changed(self, name: str, change: Change) -> Project:
        project = await self.shelf.change(name, change)
        self.watchers.tell(project)
        return project


def _check(brief: Brief) -> None:
    if not (brief.text.strip() or brief.views or brief.files):
        raise ConfigurationError("There is nothing to build; give a picture, some words, or files.")
