"""The studio: creates, changes and restores projects, and runs several variants of each request.

Every request makes a version. Each variant of it is an agent in a session of its own: its failure, cancellation or end
does not affect the others, and no client that disconnects stops it.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.core.errors import ConfigurationError, HealdError, NotFound
from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import NoSuchSession
from heald_studio.host import SessionHost
from heald_studio.locks.project_locks import ProjectLocks
from heald_studio.preview.page_title import read_title
from heald_studio.preview.preview import PAGE, ProjectPreview, has_page
from heald_studio.projects import actions
from heald_studio.projects.change_queue import ChangeQueue
from heald_studio.projects.direct_edit import ElementChange, edit_element
from heald_studio.projects.drafts import Drafts
from heald_studio.projects.inherited_models import inherit_models
from heald_studio.projects.lock import CannotLock, Lock, NewLock
from heald_studio.projects.pages import PageChange, change_pages
from heald_studio.projects.project import (
    Project,
    ProjectState,
    Variant,
    VariantRef,
    Version,
    find_try,
    find_variant,
    find_version,
    finished_try,
)
from heald_studio.projects.project_feed import ProjectFeed
from heald_studio.projects.project_store import Change, ProjectPage, ProjectStore
from heald_studio.projects.session_files import SessionFiles
from heald_studio.projects.variants import VariantRunner
from heald_studio.projects.versions import VersionBuilder
from heald_studio.prompt.design_system import parse_design_system
from heald_studio.prompt.texts import PromptTexts
from heald_studio.request import BuildRequest
from heald_studio.stacks.installed import find_stack, load_stacks
from heald_studio.stacks.stack import Stack
from heald_studio.tools.context import FindContext, VariantContext
from heald_studio.visual.breakpoint import Breakpoint
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.edit_elements import VisualChange, describe_changes, edit_elements

_POLL_SECONDS = 5.0  # interval at which a watched project is read again, for changes by other processes


class Studio:
    """The projects of a host.

    `prompts` is a folder of prompt texts and `stacks` a folder of stack files that replace or extend the built-in ones.
    A variant that scores less than `repair_below` gets a second exchange with the differences; without `scores` no
    variant is rendered and scored.
    """

    def __init__(
        self,
        host: SessionHost,
        *,
        prompts: str | Path | None = None,
        stacks: str | Path | None = None,
        repair_below: float | None = None,
        scores: bool = True,
    ) -> None:
        texts = PromptTexts(Path(prompts).expanduser() if prompts else None)
        texts.check()
        self._stack_folder = Path(stacks).expanduser() if stacks else None
        self.stacks()
        self.projects = ProjectStore(host.sessions.store)
        self.feed = ProjectFeed()
        self.queue = ChangeQueue(self.projects, self._change)
        self._host = host
        self._files = SessionFiles(host.sessions.store)
        self._locks = ProjectLocks(self._change, self._files.read, self.find_stack)
        self._drafts = Drafts(host, texts, self.find_stack)
        self._runner = VariantRunner(
            host,
            self._change,
            self._build_context,
            self.entry_of,
            self._locks.check,
            self._drafts,
            repair_below=repair_below,
            scores=scores,
        )
        self._builder = VersionBuilder(host, self.projects, self._runner, texts, self.find_stack, self._change)

    def models(self) -> Sequence[str]:
        """Return the models of a request that names none, in order of preference."""
        return self._host.models()

    def stacks(self) -> dict[str, Stack]:
        """Load the stacks by name, own ones included. Changed files apply at once."""
        return load_stacks(self._stack_folder)

    def find_stack(self, name: str) -> Stack:
        """Find a stack by name. Raises ConfigurationError that lists the known ones."""
        return find_stack(name, self._stack_folder)

    def entry_of(self, project: Project) -> str:
        """Return the file that a project's preview starts from, even if its stack no longer exists."""
        stack = self.stacks().get(project.stack)
        return PAGE if stack is None else stack.entry

    async def create(self, owner: str, request: BuildRequest) -> Project:
        """Create a project. The variants of its first version start at once."""
        _check_request(request)
        stack = self.find_stack(request.stack)
        self._host.check(owner, request.variant_count)
        project = await self._add(owner, request, stack)
        try:
            targets = await self._builder.store_views(project.id, request.views)
            project = await self.projects.change(project.id, lambda it: msgspec.structs.replace(it, targets=targets))
            await self._builder.build(owner, project, "create", request, targets=targets)
        except BaseException:
            await self.projects.delete(project.id)
            raise
        return await self.projects.get(owner, project.id)

    async def import_files(self, owner: str, request: BuildRequest) -> Project:
        """Create a project whose first version is the request's files as they are. No model is called."""
        stack = self.find_stack(request.stack)
        if not has_page(request.files, stack.entry):
            raise ConfigurationError(f"There is no page to import; the files need {stack.entry} or {PAGE}.")
        named = msgspec.structs.replace(request, text="", title=request.title or read_title(request.files, stack.entry))
        project = await self._add(owner, named, stack)
        try:
            await self._builder.add_files(owner, project, "import", None, request.files)
        except BaseException:
            await self.projects.delete(project.id)
            raise
        return await self.projects.get(owner, project.id)

    async def _add(self, owner: str, request: BuildRequest, stack: Stack) -> Project:
        title = request.title or " ".join(request.text.split())[:80]
        design = request.design_system.text if request.design_system is not None else ""
        return await self.projects.add(
            owner,
            title=title or f"A design in {stack.label}",
            stack=stack.name,
            design_system=design,
            named=bool(title),
        )

    async def update(self, owner: str, name: str, base: VariantRef, request: BuildRequest) -> Version:
        """Change a variant: every variant of the new version starts from its files.

        A request that names no model is sent to the model that built the variant.
        """
        _check_request(request)
        project = await self.get(owner, name)
        find_variant(project, base)
        request = inherit_models(request, project, base, self._host.models())
        self._host.check(owner, request.variant_count)
        targets = await self._builder.store_views(project.id, request.views)
        return await self._builder.build(owner, project, "update", request, base=base, targets=targets)

    async def edit(
        self, owner: str, name: str, base: VariantRef, files: Mapping[str, bytes | None], *, text: str = ""
    ) -> Version:
        """Add a version with files that a person changed; None deletes a file. `text` describes the edit."""
        project = await self.get(owner, name)
        changed = {**await self.files(owner, name, base), **files}
        content = {path: data for path, data in changed.items() if data is not None}
        await self._locks.ensure(project, base, content)
        text = text or f"edit of {next(iter(files), 'files')}{' and others' if len(files) > 1 else ''}"
        return await self._builder.add_files(owner, project, "edit", base, content, text=text)

    async def edit_element(self, owner: str, name: str, base: VariantRef, change: ElementChange) -> Version:
        """Add a version with one element changed in the source of the page. Raises CannotEdit."""
        project = await self.get(owner, name)
        files = await self.files(owner, name, base)
        entry = self.entry_of(project)
        page = change.page or (entry if entry in files else PAGE)
        changed = edit_element(files, page, change)
        return await self.edit(owner, name, base, changed, text=change.description)

    async def edit_elements(
        self,
        owner: str,
        name: str,
        base: VariantRef,
        changes: Sequence[VisualChange],
        *,
        page: str = "",
        scope: Breakpoint | None = None,
    ) -> Version:
        """Add one version with elements changed in the source of a page. Raises CannotEdit."""
        project = await self.get(owner, name)
        files = await self.files(owner, name, base)
        entry = self.entry_of(project)
        changed = edit_elements(files, page or (entry if entry in files else PAGE), changes, scope)
        if not changed:
            raise CannotEdit("The source is the same after this change; change something else.")
        return await self.edit(owner, name, base, changed, text=describe_changes(changes))

    async def edit_pages(self, owner: str, name: str, base: VariantRef, change: PageChange) -> Version:
        """Add a version with a page added, renamed or deleted. Raises CannotChangePages."""
        project = await self.get(owner, name)
        files = await self.files(owner, name, base)
        changed = change_pages(files, self.find_stack(project.stack), change)
        return await self.edit(owner, name, base, changed, text=change.description)

    async def restore(self, owner: str, name: str, base: VariantRef) -> Version:
        """Add a version with the files of an earlier variant. The versions in between stay."""
        project = await self.get(owner, name)
        files = await self.files(owner, name, base)
        await self._locks.ensure(project, base, files)
        text = f"restore version {find_version(project, base).number}"
        return await self._builder.add_files(owner, project, "restore", base, files, text=text)

    async def lock(self, owner: str, name: str, base: VariantRef, new: NewLock) -> Lock:
        """Lock a part of a variant: versions made from it that alter the part are refused. Raises CannotLock."""
        return await self._locks.add(await self.get(owner, name), base, new)

    async def unlock(self, owner: str, name: str, lock: str) -> Project:
        """Remove a lock of a project. Raises NoSuchLock."""
        return await self._locks.remove(await self.projects.get(owner, name), lock)

    async def get(self, owner: str, name: str) -> Project:
        """Return the project, with the outcomes of variants that another process started."""
        project = await self._runner.reconcile(await self.projects.get(owner, name))
        if project.queue:
            project = await self.queue.recover(project)
        return project

    async def list(self, owner: str, *, search: str = "", limit: int = 50, after: str | None = None) -> ProjectPage:
        return await self.projects.list(owner, search=search, limit=limit, after=after)

    async def rename(self, owner: str, name: str, title: str) -> Project:
        await self.projects.get(owner, name)

        def change_title(project: Project) -> Project:
            before, after = ProjectState(title=project.title), ProjectState(title=title)
            return actions.record(project, f"rename to {actions.quote(title)}", before, after)

        return await self._change(name, change_title)

    async def design(self, owner: str, name: str) -> str:
        """Return the text of the design system that every variant of a project gets; empty if there is none."""
        return await self.projects.design_text(await self.projects.get(owner, name))

    async def change_design(self, owner: str, name: str, text: str) -> Project:
        """Change the design system of a project; an empty text removes it. Raises BadInput if it is too long."""
        project = await self.projects.get(owner, name)
        parsed = parse_design_system(text)
        if parsed.text == await self.projects.design_text(project):
            return project
        blob = await self.projects.store.put_blob(project.id, parsed.text.encode())

        def change(project: Project) -> Project:
            before, after = ProjectState(design=project.design), ProjectState(design=blob)
            return actions.record(project, "change of the design system", before, after)

        return await self._change(name, change)

    async def undo(self, owner: str, name: str, action: str = "") -> Project:
        """Undo the last action of a project; `action` is the id of the one that is expected. Raises CannotUndo.

        What was made stays: versions, tries and removed variants are in the project, and `redo` brings them back."""
        await self.projects.get(owner, name)
        return await self._change(name, lambda project: actions.undo(project, action))

    async def redo(self, owner: str, name: str, action: str = "") -> Project:
        """Do again what was undone last. Raises CannotUndo."""
        await self.projects.get(owner, name)
        return await self._change(name, lambda project: actions.redo(project, action))

    async def delete(self, owner: str, name: str) -> None:
        """Delete a project with the sessions of its variants. Running variants are cancelled first."""
        project = await self.projects.get(owner, name)
        for version in project.versions:
            for variant in version.variants:
                for attempt in variant.tries:
                    await self._runner.cancel(attempt, "The project was deleted.")
        await self._runner.wait_idle(project.id)
        for version in (await self.projects.get(owner, name)).versions:
            if version.draft:
                with suppress(NoSuchSession):
                    await self._host.delete(version.draft)
            for variant in version.variants:
                for session in [*variant.earlier, *(attempt.session for attempt in variant.tries)]:
                    with suppress(NoSuchSession):
                        await self._host.delete(session)
        await self.projects.delete(name)
        self.feed.close(name)

    async def watch(self, owner: str, name: str) -> AsyncGenerator[Project]:
        """Yield the project now and after every change, until it is deleted."""
        with self.feed.subscribe(name) as states:
            project = await self.get(owner, name)
            yield project
            polling = asyncio.create_task(self._poll_store(owner, project))
            try:
                async with aclosing(states):
                    async for project in states:
                        yield project
            finally:
                polling.cancel()
                await asyncio.wait([polling])

    async def _poll_store(self, owner: str, project: Project) -> None:
        """Publish changes that other processes on the same store make."""
        initial = project.updated
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                project = await self.get(owner, project.id)
            except NotFound:
                self.feed.close(project.id)
                return
            except HealdError:
                continue  # the store cannot be read now
            if project.updated > max(initial, self.feed.last_published(project.id)):
                self.feed.publish(project)

    async def wait_version(self, owner: str, name: str, version: str) -> Version:
        """Wait until all variants of a version are done and scored."""
        await self._runner.wait_idle(name, version)
        return find_version(await self.get(owner, name), VariantRef(version, 0))

    def adopt(self, info: SessionInfo, exchange: ExchangeInterface) -> None:
        """Record the outcome of a variant that this process continues for another one."""
        self._runner.adopt(info, exchange)

    async def cancel(self, owner: str, name: str, base: VariantRef) -> bool:
        """Cancel one variant. False if it does not run."""
        variant = find_variant(await self.projects.get(owner, name), base)
        running = next((attempt for attempt in variant.tries if not attempt.is_done), variant)
        return await self._runner.cancel(running, "The variant was cancelled.")

    async def retry(self, owner: str, name: str, base: VariantRef) -> Version:
        """Try the request of a variant that is done once more. The pages of its earlier tries are kept; one that is
        finished stays the chosen one if the new try fails or is stopped."""
        self._host.check(owner, 1)
        project = await self.get(owner, name)
        variant = find_variant(project, base)
        if not all(attempt.is_done for attempt in variant.tries):
            raise HealdError("The variant is still running; stop it before you retry it.")
        return await self._builder.rebuild(owner, project, find_version(project, base), [variant])

    async def retry_failed(self, owner: str, name: str, version: str) -> Version:
        """Retry every variant of a version that failed."""
        project = await self.get(owner, name)
        current = find_version(project, VariantRef(version, 0))
        failed = [variant for variant in current.variants if variant.status == "failed"]
        if not failed:
            raise HealdError("No variant of this version failed; retry one by its number.")
        self._host.check(owner, len(failed))
        return await self._builder.rebuild(owner, project, current, failed)

    async def choose(self, owner: str, name: str, base: VariantRef) -> Version:
        """Mark a variant as the preferred one of its version."""
        find_variant(await self.projects.get(owner, name), base)

        def mark(project: Project) -> Project:
            version = find_version(project, base)
            return project.with_version(msgspec.structs.replace(version, chosen=base.variant))

        return find_version(await self._change(name, mark), base)

    async def choose_try(self, owner: str, name: str, base: VariantRef, number: int) -> Version:
        """Show another try of a variant, by its number, counted from 1."""
        find_try(find_variant(await self.projects.get(owner, name), base), number)

        def mark(project: Project) -> Project:
            version = find_version(project, base)
            chosen = find_try(find_variant(project, base), number)
            variants = [chosen if variant.index == base.variant else variant for variant in version.variants]
            return project.with_version(msgspec.structs.replace(version, variants=variants))

        return find_version(await self._change(name, mark), base)

    async def remove_variant(self, owner: str, name: str, base: VariantRef) -> Version:
        """Remove a variant that is done from its version, which keeps at least one. `undo` brings it back."""
        find_variant(await self.projects.get(owner, name), base)

        def remove(project: Project) -> Project:
            version, variant = find_version(project, base), find_variant(project, base)
            if not all(attempt.is_done for attempt in variant.tries):
                raise HealdError("The variant is still running; stop it before you remove it.")
            if not any(other.index != base.variant and not other.removed for other in version.variants):
                raise HealdError("A version has at least one variant; undo the version instead.")
            place = actions.place_of(version.id, variant)
            text = f"removal of variant {variant.index + 1} of version {version.number}"
            before, after = ProjectState(removed={place: False}), ProjectState(removed={place: True})
            return actions.record(project, text, before, after)

        return find_version(await self._change(name, remove), base)

    async def files(self, owner: str, name: str, base: VariantRef) -> Mapping[str, bytes]:
        """Read the current files of a variant."""
        variant = find_variant(await self.projects.get(owner, name), base)
        return await self._files.read(variant.session)

    async def preview(
        self, owner: str, name: str, base: VariantRef, *, at: str = "/", number: int | None = None
    ) -> ProjectPreview:
        """Make the preview of a try of a variant, to be served at a path. By default it is the last finished one."""
        project = await self.projects.get(owner, name)
        variant = find_variant(project, base)
        chosen_try = (finished_try(variant) or variant) if number is None else find_try(variant, number)
        return ProjectPreview(self.find_stack(project.stack), await self._files.read(chosen_try.session), base=at)

    async def close(self) -> None:
        """Stop following variants. The host keeps their exchanges running."""
        await self.queue.close()
        await self._runner.close()
        await self._drafts.close()

    def context_of(self, info: SessionInfo) -> FindContext:
        """Return a function that looks up the variant of a session when one of its tools is called."""

        async def find() -> VariantContext:
            project = await self.projects.get(info.owner, info.parent or "")
            for version in project.versions:
                if version.draft == info.id:  # the converter compares its page too
                    return await self._build_context(info.owner, project, version, version.variants[0])
                for variant in version.variants:
                    if any(attempt.session == info.id for attempt in variant.tries):
                        return await self._build_context(info.owner, project, version, variant)
            raise HealdError("The session is no longer a variant of its project.")

        return find

    async def _build_context(self, owner: str, project: Project, version: Version, variant: Variant) -> VariantContext:
        stack = self.find_stack(project.stack)
        pictures = version.pictures or project.targets
        options_version = version if version.base is None else find_version(project, version.base)

        async def read_option(number: int) -> Mapping[str, bytes] | None:
            if 0 < number <= len(version.options):
                return {stack.entry: await self.projects.store.blob(project.id, version.options[number - 1])}
            option = next((variant for variant in options_version.variants if variant.index == number - 1), None)
            return (
                None
                if option is None
                else await self.files(owner, project.id, VariantRef(options_version.id, option.index))
            )

        return VariantContext(
            project=project.id,
            version=version.id,
            variant=variant.index,
            stack=stack,
            targets=tuple([await self.projects.store.blob(project.id, picture.blob) for picture in pictures]),
            read_option=read_option,
            lock=partial(self._lock_for_model, owner, project.id, version),
        )

    async def _lock_for_model(self, owner: str, name: str, version: Version, new: NewLock) -> Lock:
        """Lock a part for the model that changes a variant, as it was before the change."""
        if version.base is None:
            raise CannotLock("There is no earlier page whose parts could be locked; this one is being built.")
        return await self._locks.add(await self.projects.get(owner, name), version.base, new, author="model")

    async def _change(self, name: str, change: Change) -> Project:
        project = await self.projects.change(name, change)
        self.feed.publish(project)
        self.queue.proceed(project)
        return project


def _check_request(request: BuildRequest) -> None:
    if not (request.text.strip() or request.views or request.files or request.outline or request.documents):
        raise ConfigurationError("There is nothing to build; give a picture, some words, or files.")
    if request.draft and (request.mode != "image" or not request.views or request.is_update):
        raise ConfigurationError(
            "A draft is made of a picture; attach a picture of the page, or build without a draft."
        )
