"""Creates versions: a session for each variant with its files, settings and first message."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import Any

import msgspec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError, HealdError
from heald.core.ids import new_id
from heald.core.json import encode
from heald.core.media import picture_type
from heald.core.messages import Image, Message, Text
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import normalize_path
from heald_studio.agent_models import is_agent
from heald_studio.default_models import LOCAL_MODEL, is_converter, models_for
from heald_studio.host import SessionHost
from heald_studio.projects.actions import describe_version, place_of, record, record_version
from heald_studio.projects.lock import lock_notice
from heald_studio.projects.pages import list_pages
from heald_studio.projects.project import (
    Project,
    ProjectState,
    TargetPicture,
    Variant,
    VariantRef,
    VariantTry,
    Version,
    VersionKind,
    find_variant,
    find_version,
    locks_of,
)
from heald_studio.projects.project_store import ChangeProject, ProjectStore
from heald_studio.projects.variants import VariantRunner
from heald_studio.prompt.build import agent_instructions, build_prompt
from heald_studio.prompt.design_system import DesignSystem
from heald_studio.prompt.history import decode_text, latest_files, project_history
from heald_studio.prompt.request import PromptRequest
from heald_studio.prompt.texts import PromptTexts
from heald_studio.request import BuildRequest, View
from heald_studio.stacks.stack import Stack
from heald_studio.tools.family import TOOL_NAMES, editing_tools, useful_tools

VARIANT_SESSION = "variant"  # the kind of the sessions that variants work in


class VersionBuilder:
    """Adds versions to projects."""

    def __init__(
        self,
        host: SessionHost,
        projects: ProjectStore,
        runner: VariantRunner,
        texts: PromptTexts,
        find_stack: Callable[[str], Stack],
        change: ChangeProject,
    ) -> None:
        self._host = host
        self._projects = projects
        self._runner = runner
        self._texts = texts
        self._find_stack = find_stack
        self._change = change

    async def build(
        self,
        owner: str,
        project: Project,
        kind: VersionKind,
        request: BuildRequest,
        *,
        targets: Sequence[TargetPicture],
        base: VariantRef | None = None,
    ) -> Version:
        """Add a version whose variants start at once, from the files of `base` or of the request."""
        models = self._models(request, base)
        stack = self._find_stack(project.stack)
        if base is None:
            files = _check_paths(request.files)
        else:
            files = dict(await self._runner.read_files(find_variant(project, base).session))
        useful = useful_tools(
            pictures=bool(targets or request.views),
            files=bool(files or base or request.options or request.history),
            links="://" in request.text,
        )
        tools = [name for name in useful if name not in request.excluded_tools]
        prompt_request = await self._prompt_request(project, request, base, files)
        prompt = build_prompt(prompt_request, stack, texts=self._texts, tools=tools)
        *history, last = prompt.messages
        last = msgspec.structs.replace(last, content=[*last.content, *request.documents])
        if locks := locks_of(project, base):
            last = msgspec.structs.replace(last, content=[*last.content, Text(lock_notice(locks))])
        settings = SessionSettings(tools=tools, instructions=prompt.system, permissions="auto", history=history)
        files = files or _initial_files(request, stack)
        instructions = agent_instructions(prompt_request, stack, self._texts)
        variants = [
            await self._create_session(
                owner, project, index, _settings_for(model, settings, request, instructions), files
            )
            for index, model in enumerate(models)
        ]
        draft = ""
        if request.draft and not all(map(is_converter, models)):
            converter = msgspec.structs.replace(settings, model=LOCAL_MODEL)
            draft = (await self._create_session(owner, project, 0, converter, files)).session
        options = [await self._projects.store.put_blob(project.id, code.encode()) for code in request.options]
        version = _new_version(
            kind, variants, text=request.text, base=base, pictures=list(targets), options=options, draft=draft
        )
        return await self._add_and_run(owner, project, version, msgspec.structs.replace(last, said=request.text))

    async def rebuild(self, owner: str, project: Project, version: Version, variants: Sequence[Variant]) -> Version:
        """Add a try to each of the variants, with the same request and the files that the variant started with.

        The new try is the chosen one; the pages of the others are kept."""
        if not version.request:
            raise HealdError("No model was asked for this version, so it cannot be retried; update it instead.")
        store = self._projects.store
        message = msgspec.json.decode(await store.blob(project.id, version.request), type=Message)
        new = [await self._create_attempt(owner, project, variant) for variant in variants]
        added = {variant.index: variant for variant in new}

        def add_tries(now: Project) -> Project:
            stored = find_version(now, VariantRef(version.id, 0))
            if not {variant.session for variant in variants} <= {variant.session for variant in stored.variants}:
                raise HealdError("The variant is being retried already; wait for it.")
            retried = [variant for variant in stored.variants if variant.index in added]
            current = [_with_try(variant, added.get(variant.index)) for variant in stored.variants]
            with_tries = now.with_version(msgspec.structs.replace(stored, variants=current))
            before = {place_of(version.id, variant): variant.session for variant in retried}
            after = {place_of(version.id, variant): added[variant.index].session for variant in retried}
            numbers = ", ".join(str(variant.index + 1) for variant in retried)
            text = f"retry of variant{'s' if len(retried) > 1 else ''} {numbers} of version {stored.number}"
            return record(with_tries, text, ProjectState(tries=before), ProjectState(tries=after))

        with self._runner.reserve(new):
            changed = find_version(await self._change(project.id, add_tries), VariantRef(version.id, 0))
            self._runner.start(owner, project.id, changed, new, message)
        return changed

    async def _create_attempt(self, owner: str, project: Project, variant: Variant) -> Variant:
        """Create the session of the next attempt at a variant, with the settings and files of the last one."""
        store = self._projects.store
        settings = SessionSettings.of((await store.info(variant.session)).settings)
        files = {path: await store.blob(variant.session, digest) for path, digest in settings.files.items()}
        return await self._create_session(owner, project, variant.index, settings, files)

    async def add_files(
        self,
        owner: str,
        project: Project,
        kind: VersionKind,
        base: VariantRef | None,
        files: Mapping[str, bytes],
        *,
        text: str = "",
    ) -> Version:
        """Add a version with these files; no model is called. `text` describes the action."""
        model = find_variant(project, base).model if base is not None else next(iter(self._host.models()), "")
        settings = SessionSettings(model=model, tools=["files", *TOOL_NAMES], permissions="auto")
        variant = await self._create_session(owner, project, 0, settings, _check_paths(files))
        now = time()
        pages = list_pages(files, self._find_stack(project.stack).entry)
        done = msgspec.structs.replace(variant, status="completed", started=now, ended=now, model="", pages=pages)
        return await self._add_version(project, _new_version(kind, [done], base=base), text)

    async def store_views(self, project: str, views: Sequence[View]) -> list[TargetPicture]:
        stored: list[TargetPicture] = []
        for view in views:
            digest = await self._projects.store.put_blob(project, view.picture.data)
            picture = view.picture
            stored.append(TargetPicture(digest, picture.width, picture.height, view.label, picture.ratio))
        return stored

    def _models(self, request: BuildRequest, base: VariantRef | None) -> list[str]:
        """Choose the model of each variant."""
        is_new_page = base is None and not request.is_update
        pictures = is_new_page and bool(request.views) and not request.draft
        offered = list(request.models) or models_for(self._host.models(), pictures=pictures)
        if not offered:
            advice = f"set a key, or install the local converter: {install_advice('local')}"
            raise ConfigurationError(f"There is no model to build with; {advice}.")
        return [offered[index % len(offered)] for index in range(request.variant_count)]

    async def _prompt_request(
        self, project: Project, request: BuildRequest, base: VariantRef | None, files: Mapping[str, bytes]
    ) -> PromptRequest:
        texts = {path: text for path, data in files.items() if (text := decode_text(data)) is not None}
        design = request.design_system
        if design is None and (text := await self._projects.design_text(project)):
            design = DesignSystem("the project's", text)
        history = request.history
        if base is not None:
            history = await project_history(project, base, self._runner.read_files, self._load_image)
        return PromptRequest(
            mode=request.mode,
            text=request.text,
            shots=tuple(view.shot() for view in request.views),
            history=history,
            files=texts,
            assets=tuple(path for path in files if path not in texts),
            element=request.element,
            design_system=design,
            outline=request.outline,
        )

    async def _load_image(self, project: Project, target: TargetPicture) -> Image:
        data = await self._projects.store.blob(project.id, target.blob)
        return Image(media_type=picture_type(data) or "image/jpeg", data=b64encode(data).decode())

    async def _create_session(
        self, owner: str, project: Project, index: int, settings: SessionSettings, files: Mapping[str, bytes]
    ) -> Variant:
        store = self._projects.store
        info = SessionInfo(id=new_id("ses"), owner=owner, kind=VARIANT_SESSION, parent=project.id, title=project.title)
        await store.create(info)
        stored = {path: await store.put_blob(info.id, data) for path, data in files.items()}
        await store.configure(info.id, msgspec.structs.replace(settings, files=stored).data())
        return Variant(index=index, session=info.id, model=settings.model)

    async def _add_and_run(self, owner: str, project: Project, version: Version, message: Message) -> Version:
        request = await self._projects.store.put_blob(project.id, encode(message))
        with self._runner.reserve(version.variants):
            version = await self._add_version(project, msgspec.structs.replace(version, request=request))
            self._runner.start(owner, project.id, version, version.variants, message)
        return version

    async def _add_version(self, project: Project, version: Version, text: str = "") -> Version:
        before = version.base.version if version.base is not None and version.kind != "restore" else None

        def add(now: Project) -> Project:
            numbered = msgspec.structs.replace(version, number=len(now.versions) + 1)
            return record_version(now, numbered, text or describe_version(version), before)

        return find_version(await self._change(project.id, add), VariantRef(version.id, 0))


def _settings_for(model: str, settings: SessionSettings, request: BuildRequest, for_agents: str) -> SessionSettings:
    """Return the settings of a variant: a model that polishes a draft can edit files, but not write them anew. An agent
    with tools of its own has none of ours, and a person is asked for what reaches beyond the project."""
    if is_agent(model):
        return msgspec.structs.replace(settings, model=model, tools=[], instructions=for_agents, permissions="inside")
    tools = editing_tools(settings.tools) if request.draft and not is_converter(model) else settings.tools
    return msgspec.structs.replace(settings, model=model, tools=tools)


def _with_try(variant: Variant, added: Variant | None) -> Variant:
    """Return the variant with a new try as the chosen one."""
    if added is None:
        return variant
    numbered = msgspec.structs.replace(added, number=max(other.number for other in variant.tries) + 1)
    fields = {name: getattr(numbered, name) for name in VariantTry.__struct_fields__}
    others = [*variant.other_tries, VariantTry(**fields)]
    return msgspec.structs.replace(variant, other_tries=others).choose_try(added.session)


def _new_version(kind: VersionKind, variants: list[Variant], **fields: Any) -> Version:
    """Make a version. Its number is set when it is added."""
    return Version(id=new_id("ver"), number=0, kind=kind, created=time(), variants=variants, **fields)


def _initial_files(request: BuildRequest, stack: Stack) -> dict[str, bytes]:
    """Return the files for the prompt: the last ones of the client's history, or the scaffold of the stack."""
    files = latest_files(request.history, stack.entry)
    if not files and not stack.is_single_file:
        files = stack.scaffold
    return {path: text.encode() for path, text in files.items()}


def _check_paths(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Normalise the paths of files. Raises PathFault for a path that a project cannot have."""
    project = MemoryWorkspace(files)
    return {path: project.read(path, remember=False) for path in map(normalize_path, files)}
