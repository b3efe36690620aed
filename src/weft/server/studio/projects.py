"""Projects over HTTP."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from weft.core.json import JsonObject, encode
from weft.server.context import ServerContext
from weft.server.guard import Caller
from weft.server.hub import settle
from weft.server.operations import Call, Handler, Operation, caller_of
from weft.server.refusal import Code, Refusal
from weft.server.routes.files import served
from weft.server.sse import HEADERS
from weft.server.studio.briefs import read_brief
from weft.server.studio.diffs import diffs
from weft.server.studio.generate_code import GenerateCode
from weft.server.studio.host import open_studio
from weft.server.studio.offers import offered, picture
from weft.server.studio.previews import Previews
from weft.server.studio.tickets import Tickets
from weft.server.studio.views import (
    Defaults,
    DifferenceView,
    DiffQuery,
    Diffs,
    Edit,
    ExportQuery,
    ModelOffer,
    NewProject,
    NewVersion,
    ProjectChange,
    ProjectsView,
    ProjectView,
    Restore,
    ScoreView,
    ScreenshotQuery,
    StackView,
    StudioFile,
    StudioFiles,
    StudioView,
    Update,
    VersionView,
    project_view,
    version_view,
)
from weft.server.views import ListQuery
from weft.studio.brief import CREATIONS, UPDATES
from weft.studio.browser.browser import shared_browser
from weft.studio.browser.chromium import find_chromium
from weft.studio.browser.rendering import BrowserError, Viewport
from weft.studio.choosing import LOCAL
from weft.studio.export.names import safe_name
from weft.studio.export.single import single_page
from weft.studio.export.zipped import zip_project
from weft.studio.marking import compared
from weft.studio.projects.history import text_of
from weft.studio.projects.project import Base, Marks, Project, Version
from weft.studio.score.heat import heat_map
from weft.studio.score.picture import Picture
from weft.studio.score.score import Score
from weft.studio.stacks.preview import PAGE, Preview
from weft.studio.stacks.stack import stack, stacks
from weft.studio.studio import Studio

_BYTES = "application/octet-stream"
_LOOK = 5.0
"""Seconds after which a stream looks whether the server is stopping."""


def studio_routes(context: ServerContext) -> Sequence[Operation | BaseRoute]:
    """The studio as an extension of a server."""
    return ProjectRoutes(open_studio(context), context).all()


class ProjectRoutes:
    """The studio of one server."""

    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context
        self._tickets = Tickets(context.tokens)
        context.watch_project = self.states

    def all(self) -> Sequence[Operation | BaseRoute]:
        previews = Previews(self._studio, self._tickets)
        return [
            *self._operations(),
            Route("/projects/{project}/events", self.events, methods=["GET"]),
            *previews.routes(),
            WebSocketRoute("/generate-code", GenerateCode(self._studio, self._context).run),
        ]

    def _operations(self) -> list[Operation]:
        variant = partial(_operation, prefix="/projects/{project}/versions/{version}/variants/{variant}")
        many: tuple[Code, ...] = ("not_found", "too_many", "budget")
        seen: tuple[Code, ...] = ("not_found", "unavailable")
        return [
            _operation("GET", "/studio", self.about, "What the studio can build, and with what.", StudioView),
            _operation(
                "GET", "/studio/examples/{name}", self.example, "A screenshot to begin with.", media="image/png"
            ),
            _operation("POST", "/projects", self.create, "Begin a project.", ProjectView, NewProject, many, status=201),
            _operation("GET", "/projects", self.listed, "Projects.", ProjectsView, query=ListQuery),
            _operation("GET", "/projects/{project}", self.show, "A project with its versions.", ProjectView),
            _operation("PATCH", "/projects/{project}", self.rename, "Rename it.", ProjectView, ProjectChange),
            _operation("DELETE", "/projects/{project}", self.delete, "Throw it away.", status=204),
            _operation(
                "POST",
                "/projects/{project}/versions",
                self.change,
                "Change it, edit its files, or go back.",
                VersionView,
                NewVersion,
                many,
                status=201,
            ),
            _operation("GET", "/projects/{project}/targets/{blob}", self.picture, "A picture to match.", media=_BYTES),
            variant("POST", "/cancel", self.cancel, "Stop one variant.", VersionView),
            variant("POST", "/retry", self.retry, "Ask again for one variant.", VersionView, status=201),
            variant("POST", "/choose", self.choose, "Prefer one variant.", VersionView),
            variant("GET", "/files", self.files, "The files of a variant.", StudioFiles),
            variant("GET", "/files/{path}", self.file, "A file of a variant.", media=_BYTES),
            variant("GET", "/diff", self.diff, "How it differs from another variant.", Diffs, query=DiffQuery),
            variant("GET", "/export", self.export, "All of it as one file.", query=ExportQuery, media=_BYTES),
            variant(
                "GET",
                "/score",
                self.score,
                "How close it comes to the picture, and where not.",
                ScoreView,
                refusals=seen,
            ),
            variant(
                "GET",
                "/screenshot",
                self.screenshot,
                "A picture of its page.",
                refusals=seen,
                query=ScreenshotQuery,
                media=_BYTES,
            ),
            variant("GET", "/heatmap.png", self.heat, "A picture of the difference.", refusals=seen, media=_BYTES),
        ]

    # --- projects ----------------------------------------------------------------------------------------------------

    async def about(self, _: Call) -> StudioView:
        models = self._context.models
        has_keys = any(provider.key_set for provider in models.providers() if provider.variables)
        try:
            find_chromium()
            chromium = True
        except BrowserError:
            chromium = False
        can_talk = has_keys or models.default not in ("", LOCAL)
        mix = list(self._studio.models())
        return StudioView(
            stacks=[StackView(each.name, each.label) for each in stacks().values()],
            models=[ModelOffer(each.name, each.label or each.name) for each in models.listed()],
            defaults=Defaults(
                stack="html_tailwind" if has_keys else "html_css",
                variants_create=CREATIONS if has_keys else 2,
                variants_update=UPDATES if has_keys else 1,
                models=mix,
            ),
            has_keys=can_talk,
            chromium=chromium,
            design_systems=[],
            examples=offered(has_keys=can_talk),
        )

    async def example(self, call: Call) -> Response:
        return Response(picture(call.path["name"]), media_type="image/png")

    async def create(self, call: Call) -> ProjectView:
        body: NewProject = call.body
        brief = await read_brief(
            body.prompt,
            stack=body.stack,
            models=body.models,
            variants=body.variants,
            design=body.design_system,
            title=body.title,
        )
        for name in body.models:
            self._context.models.open(name)
        return self._project(call, await self._studio.create(call.owner, brief))

    async def listed(self, call: Call) -> ProjectsView:
        query: ListQuery = call.query
        page = await self._studio.list(call.owner, search=query.search, limit=query.limit, after=query.after)
        return ProjectsView([self._project(call, project) for project in page.projects], page.next)

    async def show(self, call: Call) -> ProjectView:
        return self._project(call, await self._studio.get(call.owner, call.path["project"]))

    async def rename(self, call: Call) -> ProjectView:
        return self._project(call, await self._studio.rename(call.owner, call.path["project"], call.body.title))

    async def delete(self, call: Call) -> None:
        await self._studio.delete(call.owner, call.path["project"])

    async def change(self, call: Call) -> VersionView:
        name = call.path["project"]
        match call.body:
            case Update(base=base, prompt=prompt, models=models, variants=variants):
                for model in models:
                    self._context.models.open(model)
                brief = await read_brief(prompt, models=models, variants=variants or UPDATES)
                version = await self._studio.update(call.owner, name, base.base(), brief)
            case Edit(base=base, files=files):
                changed = {path: text.encode() if text is not None else None for path, text in files.items()}
                version = await self._studio.edit(call.owner, name, base.base(), changed)
            case Restore(base=base):
                version = await self._studio.restore(call.owner, name, base.base())
            case _:
                raise Refusal("invalid", "The kind of a version is update, edit or restore.")
        return await self._version(call, version)

    async def picture(self, call: Call) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        known = {target.blob for target in project.targets}
        known |= {target.blob for version in project.versions for target in version.pictures}
        if call.path["blob"] not in known:
            raise Refusal("not_found", "The project has no such picture.")
        data = await self._context.sessions.store.blob(project.id, call.path["blob"])
        return Response(data, media_type="image/png" if data.startswith(b"\x89PNG") else "image/jpeg")

    async def events(self, request: Request) -> Response:
        """The project again whenever something about it has changed, as server-sent events."""
        caller = caller_of(request)
        project = await self._studio.get(caller.owner, request.path_params["project"])
        return _Watching(self._context.streaming(caller), self._told(caller, project.id))

    async def states(self, caller: Caller, name: str) -> AsyncGenerator[JsonObject]:
        """What is said of a project, again whenever it has changed."""
        async with aclosing(self._studio.watch(caller.owner, name)) as states:
            async for project in states:
                yield {"type": "project_changed", "project": project_view(project, self._tickets, caller.holder)}

    async def _told(self, caller: Caller, name: str) -> AsyncGenerator[bytes]:
        revoked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._context.admitted(caller, lambda: settle(revoked)):
            async with aclosing(self._said(caller, name, revoked)) as said:
                async for state in said:
                    yield state

    async def _said(self, caller: Caller, name: str, end: "asyncio.Future[None]") -> AsyncGenerator[bytes]:
        async with aclosing(self.states(caller, name)) as states:
            pending = asyncio.ensure_future(anext(states))
            try:
                while not self._context.open.closing and not end.done():
                    done, _ = await asyncio.wait({pending, end}, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
                    if end in done:
                        return
                    if not done:
                        yield b": heartbeat\n\n"
                        continue
                    try:
                        state = pending.result()
                    except StopAsyncIteration:  # the project is gone
                        return
                    yield b"event: project_changed\ndata: %s\n\n" % encode(state)
                    pending = asyncio.ensure_future(anext(states))
            finally:
                pending.cancel()
                await asyncio.wait({pending})

    # --- variants ----------------------------------------------------------------------------------------------------

    async def cancel(self, call: Call) -> VersionView:
        await self._studio.cancel(call.owner, call.path["project"], _base(call))
        return await self._shown(call)

    async def retry(self, call: Call) -> VersionView:
        return await self._version(call, await self._studio.retry(call.owner, call.path["project"], _base(call)))

    async def choose(self, call: Call) -> VersionView:
        return await self._version(call, await self._studio.choose(call.owner, call.path["project"], _base(call)))

    async def files(self, call: Call) -> StudioFiles:
        files = await self._files(call)
        return StudioFiles([StudioFile(path, len(data), text_of(data) is not None) for path, data in files.items()])

    async def file(self, call: Call) -> Response:
        files = await self._files(call)
        if call.path["path"] not in files:
            raise Refusal("not_found", "The variant has no such file.")
        return served(files[call.path["path"]], call.path["path"])

    async def diff(self, call: Call) -> Diffs:
        version, _, index = call.query.against.rpartition(".")
        other = await self._studio.files(call.owner, call.path["project"], Base(version, _number(index)))
        here = await self._files(call)
        return await asyncio.to_thread(diffs, other, here)

    async def export(self, call: Call) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        files = await self._files(call)
        name = safe_name(project.title)
        if call.query.format == "zip":
            return served(await asyncio.to_thread(zip_project, files, name), f"{name}.zip")
        page = await asyncio.to_thread(single_page, stack(project.stack), files, title=project.title)
        return served(page.encode(), f"{name}.html")

    async def score(self, call: Call) -> ScoreView:
        found, *_ = await self._compared(call)
        marks = Marks(found.block, found.text, found.position, found.colour, found.ssim, found.overall)
        shown = [DifferenceView(each.kind, each.box, each.sentence) for each in found.differences]
        return ScoreView(marks, shown, call.request.url.path.replace("/score", "/heatmap.png"))

    async def screenshot(self, call: Call) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        width: int = call.query.width
        preview = Preview(stack(project.stack), await self._files(call))
        try:
            rendering = await shared_browser().render(preview, PAGE, Viewport(width, 800), mobile=width < 600)
        except BrowserError as error:
            raise Refusal("unavailable", str(error)) from None
        return Response(rendering.picture, media_type="image/png")

    async def heat(self, call: Call) -> Response:
        _, target, rendering = await self._compared(call)
        return Response(await asyncio.to_thread(heat_map, target, rendering), media_type="image/png")

    async def _compared(self, call: Call) -> tuple[Score, Picture, Picture]:
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        shown = (version.pictures if version is not None else []) or project.targets
        if not shown:
            raise Refusal("not_found", "The project has no picture to compare with.")
        target = await self._context.sessions.store.blob(project.id, shown[0].blob)
        try:
            return await compared(stack(project.stack), await self._files(call), target)
        except BrowserError as error:
            raise Refusal("unavailable", str(error)) from None

    async def _files(self, call: Call) -> Mapping[str, bytes]:
        return await self._studio.files(call.owner, call.path["project"], _base(call))

    async def _shown(self, call: Call) -> VersionView:
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        if version is None:
            raise Refusal("not_found", "The project has no such version.")
        return await self._version(call, version)

    def _project(self, call: Call, project: Project) -> ProjectView:
        return project_view(project, self._tickets, caller_of(call.request).holder)

    async def _version(self, call: Call, version: Version) -> VersionView:
        project = await self._studio.shelf.get(call.owner, call.path["project"])
        return version_view(project, version, self._tickets, caller_of(call.request).holder)


class _Watching(StreamingResponse):
    """A stream that counts as one of its owner's."""

    def __init__(self, counted: AbstractContextManager[None], content: AsyncGenerator[bytes]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=HEADERS)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted:
            await super().__call__(scope, receive, send)


def _operation(
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answer: Any = None,
    body: Any = None,
    refusals: Sequence[Code] = ("not_found",),
    *,
    prefix: str = "",
    **more: Any,
) -> Operation:
    return Operation(
        method, prefix + path, handler, summary, body=body, answer=answer, refusals=refusals, tag="studio", **more
    )


def _base(call: Call) -> Base:
    return Base(call.path["version"], _number(call.path["variant"]))


def _number(text: str) -> int:
    if not text.isdigit() or len(text) > 4:
        raise Refusal("not_found", "A variant is named by its number, from 0 on.")
    return int(text)
