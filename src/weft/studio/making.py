"""How versions come into being: sessions for their variants, with the files and the words to begin with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time

import msgspec

from weft.core.errors import ConfigurationError, WeftError
from weft.core.ids import new_id
from weft.core.json import encode
from weft.core.messages import Message
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo
from weft.studio.brief import Brief, View
from weft.studio.hosting import Host
from weft.studio.input.pictures import Picture
from weft.studio.projects.history import history_of, text_of
from weft.studio.projects.project import Base, Kind, Project, Target, Variant, Version, variant_of, version_of
from weft.studio.projects.shelf import ChangeProject, Shelf
from weft.studio.prompts.builder import build_prompt
from weft.studio.prompts.past import present
from weft.studio.prompts.request import DesignSystem, Request
from weft.studio.prompts.texts import Texts
from weft.studio.running import Running
from weft.studio.stacks.stack import Stack
from weft.studio.stacks.stack import stack as find_stack
from weft.studio.tools.family import NAMES
from weft.tools.workspace.memory import MemoryWorkspace
from weft.tools.workspace.paths import normal

KIND = "variant"
"""What kind of session a variant has."""


class Maker:
    """Makes versions of projects."""

    def __init__(
        self,
        host: Host,
        shelf: Shelf,
        running: Running,
        texts: Texts,
        stacks: Path | None,
        change: ChangeProject,
    ) -> None:
        self._host = host
        self._shelf = shelf
        self._running = running
        self._texts = texts
        self._stacks = stacks
        self._changed = change

    async def begin(
        self,
        owner: str,
        project: Project,
        kind: Kind,
        brief: Brief,
        *,
        targets: Sequence[Target],
        base: Base | None = None,
    ) -> Version:
        models = self.models(brief)
        stack = find_stack(project.stack, self._stacks)
        here = _usable(brief.files) if base is None else await self._running.files(variant_of(project, base).session)
        names = [name for name in NAMES if name not in brief.without]
        prompt = build_prompt(
            await self._request(project, brief, base, here),
            stack,
            texts=self._texts,
            tools=names,
        )
        *history, asked = prompt.messages
        message = msgspec.structs.replace(asked, said=brief.text)
        settings = SessionSettings(
            tools=["files", *names], instructions=prompt.system, permissions="auto", history=history
        )
        here = here or _start_of(brief, stack)
        variants = [
            await self._session(owner, project, index, msgspec.structs.replace(settings, model=models[index]), here)
            for index in range(brief.count)
        ]
        options = [await self._shelf.store.put_blob(project.id, code.encode()) for code in brief.options]
        return await self._start(owner, project, kind, brief.text, base, targets, variants, message, options)

    async def again(self, owner: str, project: Project, version: Version, variant: Variant) -> Version:
        """A version with one variant that is asked what another was, from the same files on."""
        if not version.request:
            raise WeftError("Nobody was asked for this version; there is nothing to try again.")
        store = self._shelf.store
        message = msgspec.json.decode(await store.blob(project.id, version.request), type=Message)
        settings = SessionSettings.of((await store.info(variant.session)).settings)
        files = {path: await store.blob(variant.session, digest) for path, digest in settings.files.items()}
        one = await self._session(owner, project, 0, settings, files)
        kind, base, pictures = version.kind, version.base, version.pictures
        return await self._start(owner, project, kind, version.text, base, pictures, [one], message, version.options)

    async def _start(
        self,
        owner: str,
        project: Project,
        kind: Kind,
        text: str,
        base: Base | None,
        pictures: Sequence[Target],
        variants: Sequence[Variant],
        message: Message,
        options: Sequence[str],
    ) -> Version:
        request = await self._shelf.store.put_blob(project.id, encode(message))
        with self._running.expecting(variants):
            version = await self._add(project, kind, text, base, pictures, variants, options, request)
            self._running.start(owner, project.id, version, message)
        return version

    async def _request(self, project: Project, brief: Brief, base: Base | None, files: Mapping[str, bytes]) -> Request:
        texts = {path: text for path, data in files.items() if (text := text_of(data)) is not None}
        design = brief.design_system
        if design is None and project.design_system:
            design = DesignSystem("the project's", project.design_system)
        history = brief.history
        if base is not None:
            history = await history_of(project, base, self._running.files, self.picture)
        return Request(
            mode=brief.mode,
            text=brief.text,
            shots=tuple(view.shot() for view in brief.views),
            history=history,
            files=texts,
            assets=tuple(path for path in files if path not in texts),
            element=brief.element,
            design_system=design,
        )

    async def place(self, owner: str, project: Project, kind: Kind, base: Base, files: Mapping[str, bytes]) -> Version:
        """A version that needs no agent."""
        model = variant_of(project, base).model
        files = _usable(files)
        variant = await self._session(owner, project, 0, SessionSettings(model=model, tools=["files", *NAMES]), files)
        now = time()
        done = msgspec.structs.replace(variant, status="completed", started=now, ended=now, model="")
        return await self._add(project, kind, "", base, [], [done])

    async def _session(
        self, owner: str, project: Project, index: int, settings: SessionSettings, files: Mapping[str, bytes]
    ) -> Variant:
        store = self._shelf.store
        info = SessionInfo(id=new_id("ses"), owner=owner, kind=KIND, parent=project.id, title=project.title)
        await store.create(info)
        kept = {path: await store.put_blob(info.id, data) for path, data in files.items()}
        await store.configure(info.id, msgspec.structs.replace(settings, files=kept).data())
        return Variant(index=index, session=info.id, model=settings.model)

    async def _add(
        self,
        project: Project,
        kind: Kind,
        text: str,
        base: Base | None,
        pictures: Sequence[Target],
        variants: Sequence[Variant],
        options: Sequence[str] = (),
        request: str = "",
    ) -> Version:
        name = new_id("ver")

        def added(now: Project) -> Project:
            version = Version(
                id=name,
                number=len(now.versions) + 1,
                kind=kind,
                created=time(),
                text=text,
                base=base,
                pictures=list(pictures),
                variants=list(variants),
                options=list(options),
                request=request,
            )
            return now.with_version(version)

        return version_of(await self._changed(project.id, added), Base(name, 0))

    def models(self, brief: Brief) -> list[str]:
        """One for each variant."""
        offered = list(brief.models) or list(self._host.models())
        if not offered:
            raise ConfigurationError("There is no model to build with; set a key, or install weft[local].")
        return [offered[index % len(offered)] for index in range(brief.count)]

    async def keep(self, project: str, views: Sequence[View]) -> list[Target]:
        kept: list[Target] = []
        for view in views:
            digest = await self._shelf.store.put_blob(project, view.picture.data)
            kept.append(Target(digest, view.picture.width, view.picture.height, view.label))
        return kept

    async def picture(self, project: Project, target: Target) -> Picture:
        data = await self._shelf.store.blob(project.id, target.blob)
        kind = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"
        return Picture(data=data, media_type=kind, width=target.width, height=target.height)


def _start_of(brief: Brief, stack: Stack) -> dict[str, bytes]:
    """What the prompt says is there: the files of a conversation that the client kept, or those of the stack."""
    files = present(brief.history, stack.entry)
    if not files and not stack.is_single_file:
        files = stack.scaffold
    return {path: text.encode() for path, text in files.items()}


def _usable(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files under paths that a project can have. Raises PathFault for any other."""
    project = MemoryWorkspace(files)
    return {path: project.read(path, remember=False) for path in map(normal, files)}
