"""Routes of the studio: projects, versions and variants."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from weft.core.json import JsonObject, encode
from weft.providers.keys import find_key_origin
from weft.server import input_routes
from weft.server import studio_views as views
from weft.server.context import ServerContext
from weft.server.design_pages import SOCKET, DesignPageRoutes, GenerateCodeSocket
from weft.server.errors import ApiError, ErrorCode
from weft.server.evaluation_routes import EvaluationRoutes
from weft.server.event_hub import wake_waiter
from weft.server.file_routes import download
from weft.server.guard import Caller
from weft.server.input_routes import check_figma
from weft.server.openapi import RouteDescription
from weft.server.operations import ApiCall, Handler, Operation, caller_of, is_operator
from weft.server.sse import HEADERS
from weft.server.studio_host import (
    builds_from_words,
    example_folder,
    list_examples,
    list_offers,
    open_studio,
    read_brief,
    read_example,
)
from weft.server.studio_previews import PreviewRoutes, PreviewTickets
from weft.server.views import ListQuery
from weft.sessions.store import NoSuchSession
from weft.studio.browser.browser import shared_browser
from weft.studio.browser.chromium import has_chromium
from weft.studio.browser.page import BrowserError, Viewport
from weft.studio.direct_edit import ElementChange
from weft.studio.evaluations import Evaluations
from weft.studio.export import PushResult, collect_commits, default_branch, push_commits, safe_name, zip_project
from weft.studio.input.figma import KEY_NAMES
from weft.studio.offline import offline_project
from weft.studio.pages import PageChange
from weft.studio.preview import PAGE, ProjectPreview
from weft.studio.project import Project, VariantRef, VariantScore, Version
from weft.studio.prompt_history import decode_text
from weft.studio.request import CREATE_VARIANTS, UPDATE_VARIANTS
from weft.studio.single_page import single_page
from weft.studio.stack import guess_stack
from weft.studio.studio import Studio
from weft.studio.tools.family import load_tools
from weft.studio.variants import read_session_files

if TYPE_CHECKING:
    from weft.studio.score.blocks import PageImage
    from weft.studio.score.score import Score

_BYTES = "application/octet-stream"
_POLL_SECONDS = 5.0
"""Interval at which a stream checks whether the server stops, and sends a heartbeat."""
_EVENTS = RouteDescription(
    "GET",
    "/projects/{project}/events",
    "A project after every change, as server-sent events.",
    "studio",
    events=(views.ProjectChanged,),
    errors=("not_found", "too_many"),
)


def studio_routes(
    context: ServerContext,
    *,
    prompts: str | Path | None = None,
    stacks: str | Path | None = None,
    eval_pictures: str | Path | None = None,
) -> Sequence[Operation | BaseRoute | RouteDescription]:
    """The studio as an extension of a server: pass it to `create_app`. The folders are those of `Studio`;
    `eval_pictures` has the pictures of evaluations, instead of the built-in examples."""
    studio = open_studio(context, prompts=prompts, stacks=stacks)
    return ProjectRoutes(studio, context, eval_pictures=eval_pictures).all()


class ProjectRoutes:
    """The routes of one server's studio."""

    def __init__(self, studio: Studio, context: ServerContext, *, eval_pictures: str | Path | None = None) -> None:
        self._studio = studio
        self._context = context
        pictures = Path(eval_pictures).expanduser() if eval_pictures else example_folder()
        self._evaluations = Evaluations(studio, pictures)
        self._tickets = PreviewTickets(context.tokens, lambda: context.preview_key, self._find_owner)
        context.watch_project = self.states

    async def _find_owner(self, project: str) -> str | None:
        try:
            return (await self._context.sessions.store.info(project)).owner
        except NoSuchSession:
            return None

    def all(self) -> Sequence[Operation | BaseRoute | RouteDescription]:
        previews = PreviewRoutes(self._studio, self._tickets, self._context.shares, self._context.settings.public)
        return [
            *self._operations(),
            *input_routes.OPERATIONS,
            *DesignPageRoutes(self._context).operations(),
            *EvaluationRoutes(self._studio, self._context, self._evaluations).operations(),
            Route("/projects/{project}/events", self.events, methods=["GET"]),
            _EVENTS,
            *previews.routes(),
            WebSocketRoute("/generate-code", GenerateCodeSocket(self._studio, self._context).run),
            SOCKET,
        ]

    def _operations(self) -> list[Operation]:
        variant = partial(_operation, prefix="/projects/{project}/versions/{version}/variants/{variant}")
        starting: tuple[ErrorCode, ...] = ("not_found", "too_many", "budget")
        rendering: tuple[ErrorCode, ...] = ("not_found", "unavailable")
        rendered = partial(variant, errors=rendering)
        create = partial(_operation, "POST", errors=starting, status=201)
        project = "/projects/{project}"
        return [
            _operation("GET", "/studio", self.about, "Stacks, models and examples of the studio.", views.StudioView),
            _operation("GET", "/studio/examples/{name}", self.example, "An example picture.", media_type="image/png"),
            create("/projects", self.create, "Create a project.", views.ProjectView, views.NewProject),
            _operation("GET", "/projects", self.list_projects, "Projects.", views.ProjectsView, query=ListQuery),
            _operation("GET", project, self.show, "A project with its versions.", views.ProjectView),
            _operation("PATCH", project, self.rename, "Rename it.", views.ProjectView, views.ProjectChange),
            _operation("DELETE", project, self.delete, "Delete it.", status=204),
            create(
                f"{project}/versions", self.change, "Update, edit or restore it.", views.VersionView, views.NewVersion
            ),
            create(f"{project}/versions/{{version}}/retry", self.retry_failed, "Retry what failed.", views.VersionView),
            _operation("GET", f"{project}/targets/{{blob}}", self.target, "A target picture.", media_type=_BYTES),
            variant("POST", "/cancel", self.cancel, "Cancel one variant.", views.VersionView),
            variant("POST", "/retry", self.retry, "Retry one variant.", views.VersionView, status=201),
            variant("POST", "/choose", self.choose, "Prefer one variant.", views.VersionView),
            variant("GET", "/files", self.files, "The files of a variant.", views.StudioFiles),
            variant("GET", "/files/{path}", self.file, "A file of a variant.", media_type=_BYTES),
            variant(
                "GET", "/diff", self.diff, "Its differences from another variant.", views.Diffs, query=views.DiffQuery
            ),
            variant("GET", "/export", self.export, "All files in one.", query=views.ExportQuery, media_type=_BYTES),
            variant(
                "POST",
                "/push",
                self.push,
                "Push it to git.",
                PushResult,
                views.PushBody,
                errors=("not_found", "forbidden"),
            ),
            rendered("GET", "/score", self.score, "Its score against the picture, with differences.", views.ScoreView),
            rendered(
                "GET", "/screenshot", self.screenshot, "A screenshot.", query=views.ScreenshotQuery, media_type=_BYTES
            ),
            rendered("GET", "/heatmap.png", self.heat_map, "A picture of the differences.", media_type=_BYTES),
        ]

    # --- projects ----------------------------------------------------------------------------------------------------

    async def about(self, call: ApiCall) -> views.StudioView:
        models = self._context.models
        has_keys = any(provider.key_set for provider in models.list_providers() if provider.variables)
        mix = list(self._studio.models())
        can_talk = any(builds_from_words(name) for name in mix)
        return views.StudioView(
            stacks=[views.StackView(each.name, each.label) for each in self._studio.stacks().values()],
            models=await asyncio.to_thread(list_offers, models),
            defaults=views.Defaults(
                stack="html_tailwind" if can_talk else "html_css",
                variants_create=CREATE_VARIANTS if has_keys else 2,
                variants_update=UPDATE_VARIANTS if has_keys else 1,
                models=mix,
            ),
            has_keys=can_talk,
            chromium=has_chromium(),
            figma=token[1] if (token := find_key_origin(KEY_NAMES)) is not None else "",
            design_systems=[],
            examples=list_examples(caller_of(call.request).root_path, has_keys=can_talk),
        )

    async def example(self, call: ApiCall) -> Response:
        return Response(read_example(call.path["name"]), media_type="image/png")

    async def create(self, call: ApiCall) -> views.ProjectView:
        body: views.NewProject = call.body
        check_figma(call, body.prompt)
        page = body.prompt.html or ""
        brief = await read_brief(
            body.prompt,
            stack=body.stack or (guess_stack(page) if page.strip() else "html_tailwind"),
            models=body.models,
            variants=body.variants,
            design=body.design_system,
            title=body.title,
        )
        for name in body.models:
            self._context.models.open(name)
        if not brief.files:
            return self._project(call, await self._studio.create(call.owner, brief))
        project = await self._studio.import_files(call.owner, brief)
        if brief.text.strip() or brief.views:
            change = msgspec.structs.replace(brief, files={}, variants=brief.variants or UPDATE_VARIANTS)
            await self._studio.update(call.owner, project.id, VariantRef(project.versions[0].id, 0), change)
        return self._project(call, await self._studio.get(call.owner, project.id))

    async def list_projects(self, call: ApiCall) -> views.ProjectsView:
        query: ListQuery = call.query
        page = await self._studio.list(call.owner, search=query.search, limit=query.limit, after=query.after)
        return views.ProjectsView([self._project(call, project) for project in page.projects], page.next)

    async def show(self, call: ApiCall) -> views.ProjectView:
        return self._project(call, await self._studio.get(call.owner, call.path["project"]))

    async def rename(self, call: ApiCall) -> views.ProjectView:
        return self._project(call, await self._studio.rename(call.owner, call.path["project"], call.body.title))

    async def delete(self, call: ApiCall) -> None:
        await self._studio.delete(call.owner, call.path["project"])

    async def change(self, call: ApiCall) -> views.VersionView:
        name = call.path["project"]
        match call.body:
            case views.UpdateBody(base=base, prompt=prompt, models=models, variants=variants):
                check_figma(call, prompt)
                for model in models:
                    self._context.models.open(model)
                brief = await read_brief(prompt, models=models, variants=variants or UPDATE_VARIANTS)
                version = await self._studio.update(call.owner, name, base.base(), brief)
            case views.EditBody(base=base, files=files):
                changed = {path: text.encode() if text is not None else None for path, text in files.items()}
                version = await self._studio.edit(call.owner, name, base.base(), changed)
            case views.ElementBody(base=base) as body:
                change = ElementChange(
                    path=body.path,
                    text=body.text,
                    before=body.before,
                    style=body.style,
                    attributes=dict(body.attributes.items()),
                    page=body.page,
                )
                version = await self._studio.edit_element(call.owner, name, base.base(), change)
            case views.PageBody(base=base, action=action, path=path, name=title):
                change = PageChange(action=action, path=path, name=title)
                version = await self._studio.edit_pages(call.owner, name, base.base(), change)
            case views.RestoreBody(base=base):
                version = await self._studio.restore(call.owner, name, base.base())
            case _:
                raise ApiError("invalid", "The kind of a version is update, edit, element, page or restore.")
        return await self._version(call, version)

    async def target(self, call: ApiCall) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        known = {target.blob for target in project.targets}
        known |= {target.blob for version in project.versions for target in version.pictures}
        if call.path["blob"] not in known:
            raise ApiError("not_found", "The project has no such picture.")
        data = await self._context.sessions.store.blob(project.id, call.path["blob"])
        return Response(data, media_type="image/png" if data.startswith(b"\x89PNG") else "image/jpeg")

    async def events(self, request: Request) -> Response:
        """The project after every change, as server-sent events."""
        caller = caller_of(request)
        project = await self._studio.get(caller.owner, request.path_params["project"])
        return _CountedStream(self._context.streaming(caller), self._encoded_states(caller, project.id))

    async def states(self, caller: Caller, name: str) -> AsyncGenerator[JsonObject]:
        """The project now and after every change."""
        async with aclosing(self._studio.watch(caller.owner, name)) as states:
            async for project in states:
                shown = views.project_view(project, self._studio.entry_of(project), self._tickets, caller)
                yield {"type": "project_changed", "project": shown}

    async def _encoded_states(self, caller: Caller, name: str) -> AsyncGenerator[bytes]:
        revoked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._context.watch_token(caller, lambda: wake_waiter(revoked)):
            async with aclosing(self.states(caller, name)) as states:
                pending = asyncio.ensure_future(anext(states))
                try:
                    while not self._context.open_sessions.closing and not revoked.done():
                        awaited = {pending, revoked}
                        await asyncio.wait(awaited, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                        if revoked.done():
                            return
                        if not pending.done():
                            yield b": heartbeat\n\n"
                            continue
                        try:
                            state = pending.result()
                        except StopAsyncIteration:  # the project was deleted
                            return
                        yield b"event: project_changed\ndata: %s\n\n" % encode(state)
                        pending = asyncio.ensure_future(anext(states))
                finally:
                    pending.cancel()
                    await asyncio.wait({pending})

    # --- variants ----------------------------------------------------------------------------------------------------

    async def cancel(self, call: ApiCall) -> views.VersionView:
        await self._studio.cancel(call.owner, call.path["project"], _base(call))
        return await self._version_of(call)

    async def retry(self, call: ApiCall) -> views.VersionView:
        return await self._version(call, await self._studio.retry(call.owner, call.path["project"], _base(call)))

    async def retry_failed(self, call: ApiCall) -> views.VersionView:
        name, version = call.path["project"], call.path["version"]
        return await self._version(call, await self._studio.retry_failed(call.owner, name, version))

    async def choose(self, call: ApiCall) -> views.VersionView:
        return await self._version(call, await self._studio.choose(call.owner, call.path["project"], _base(call)))

    async def files(self, call: ApiCall) -> views.StudioFiles:
        files = await self._files(call)
        return views.StudioFiles(
            [views.StudioFile(path, len(data), decode_text(data) is not None) for path, data in files.items()]
        )

    async def file(self, call: ApiCall) -> Response:
        files = await self._files(call)
        if call.path["path"] not in files:
            raise ApiError("not_found", "The variant has no such file.")
        return download(files[call.path["path"]], call.path["path"])

    async def diff(self, call: ApiCall) -> views.Diffs:
        version, _, index = call.query.against.rpartition(".")
        other = await self._studio.files(call.owner, call.path["project"], VariantRef(version, _number(index)))
        here = await self._files(call)
        return await asyncio.to_thread(views.diff_files, other, here)

    async def export(self, call: ApiCall) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        files = await self._files(call)
        name = safe_name(project.title)
        stack = self._studio.find_stack(project.stack)
        if call.query.format == "zip":
            offline = await offline_project(stack, files)
            return download(await asyncio.to_thread(zip_project, offline, name), f"{name}.zip")
        page = await asyncio.to_thread(single_page, stack, files, title=project.title, path=call.query.page or PAGE)
        return download(page.encode(), f"{name}.html")

    async def score(self, call: ApiCall) -> views.ScoreView:
        found, *_ = await self._compared(call)
        marks = VariantScore(found.block, found.text, found.position, found.colour, found.ssim, found.overall)
        shown = [views.DifferenceView(each.kind, each.box, each.sentence) for each in found.differences]
        return views.ScoreView(marks, shown, call.request.url.path.replace("/score", "/heatmap.png"))

    async def screenshot(self, call: ApiCall) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        width: int = call.query.width
        preview = ProjectPreview(self._studio.find_stack(project.stack), await self._files(call))
        try:
            rendering = await shared_browser().render(preview, PAGE, Viewport(width, 800), mobile=width < 600)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None
        return Response(rendering.picture, media_type="image/png")

    async def heat_map(self, call: ApiCall) -> Response:
        from weft.studio.score.score import heat_map

        _, target, rendering = await self._compared(call)
        return Response(await asyncio.to_thread(heat_map, target, rendering), media_type="image/png")

    async def _compared(self, call: ApiCall) -> "tuple[Score, PageImage, PageImage]":
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        shown = (version.pictures if version is not None else []) or project.targets
        if not shown:
            raise ApiError("not_found", "The project has no picture to compare with.")
        target = await self._context.sessions.store.blob(project.id, shown[0].blob)
        await asyncio.to_thread(load_tools)
        from weft.studio.scoring import compare_page

        try:
            return await compare_page(self._studio.find_stack(project.stack), await self._files(call), target)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None

    async def _files(self, call: ApiCall) -> Mapping[str, bytes]:
        return await self._studio.files(call.owner, call.path["project"], _base(call))

    async def _version_of(self, call: ApiCall) -> views.VersionView:
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        if version is None:
            raise ApiError("not_found", "The project has no such version.")
        return await self._version(call, version)

    def _project(self, call: ApiCall, project: Project) -> views.ProjectView:
        return views.project_view(project, self._studio.entry_of(project), self._tickets, caller_of(call.request))

    async def push(self, call: ApiCall) -> PushResult:
        """Push the versions that led to a variant. Git's credentials are the operator's, so only they may."""
        project = await self._studio.get(call.owner, call.path["project"])
        if not is_operator(call):
            raise ApiError(
                "forbidden", "Only the person who runs this server pushes to git; download the files instead."
            )
        body: views.PushBody = call.body
        store = self._context.sessions.store
        commits = await collect_commits(project, _base(call), lambda session: read_session_files(store, session))
        return await push_commits(body.remote, body.branch.strip() or default_branch(project), commits)

    async def _version(self, call: ApiCall, version: Version) -> views.VersionView:
        project = await self._studio.projects.get(call.owner, call.path["project"])
        entry = self._studio.entry_of(project)
        return views.version_view(project, version, entry, self._tickets, caller_of(call.request))


class _CountedStream(StreamingResponse):
    """A stream that counts towards the limit of its owner."""

    def __init__(self, counted: AbstractContextManager[None], content: AsyncGenerator[bytes]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=HEADERS)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted:
            await super().__call__(scope, receive, send)


def _operation(
    method: str, path: str, handler: Handler, summary: str, response: Any = None, body: Any = None, **options: Any
) -> Operation:
    options.setdefault("errors", ("not_found",))
    return Operation(
        method, options.pop("prefix", "") + path, handler, summary, response, body, tag="studio", **options
    )


def _base(call: ApiCall) -> VariantRef:
    return VariantRef(call.path["version"], _number(call.path["variant"]))


def _number(text: str) -> int:
    if not text.isdigit() or len(text) > 4:
        raise ApiError("not_found", "A variant is named by its number, from 0 on.")
    return int(text)
