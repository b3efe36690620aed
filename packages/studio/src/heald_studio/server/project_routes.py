"""Routes of projects and their versions."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from starlette.responses import Response

from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import ListQuery
from heald_studio.default_models import LOCAL_MODEL
from heald_studio.projects.actions import CannotUndo
from heald_studio.projects.direct_edit import ElementChange
from heald_studio.projects.lock import LockBroken
from heald_studio.projects.pages import PageChange
from heald_studio.projects.project import Project, VariantRef, Version
from heald_studio.request import UPDATE_VARIANTS
from heald_studio.server import bodies, views
from heald_studio.server.briefs import read_brief
from heald_studio.server.input_routes import check_figma
from heald_studio.server.project_views import ProjectViews
from heald_studio.server.studio_operation import BYTES, studio_operation
from heald_studio.server.visual_changes import read_change
from heald_studio.stacks.guess import guess_stack
from heald_studio.studio import Studio
from heald_studio.visual.breakpoint import Breakpoint


class ProjectRoutes:
    def __init__(self, studio: Studio, context: ServerContext, project_views: ProjectViews) -> None:
        self._studio = studio
        self._context = context
        self._views = project_views

    def operations(self) -> list[Operation]:
        create = partial(studio_operation, "POST", errors=("not_found", "too_many", "budget"), status=201)
        undoing = partial(studio_operation, "POST", errors=("not_found", "conflict"), body_optional=True)
        project = "/projects/{project}"
        return [
            create("/projects", self.create, "Create a project.", views.ProjectView, bodies.NewProject),
            studio_operation("GET", "/projects", self.list_projects, "Projects.", views.ProjectsView, query=ListQuery),
            studio_operation("GET", project, self.show, "A project with its versions.", views.ProjectView),
            studio_operation("PATCH", project, self.rename, "Rename it.", views.ProjectView, bodies.ProjectChange),
            studio_operation("DELETE", project, self.delete, "Delete it.", status=204),
            create(
                f"{project}/versions",
                self.change,
                "Update, edit or restore it.",
                views.VersionView,
                bodies.NewVersion,
                errors=("not_found", "too_many", "budget", "conflict"),
            ),
            undoing(f"{project}/undo", self.undo, "Undo the last action.", views.ProjectView, bodies.UndoBody),
            undoing(f"{project}/redo", self.redo, "Redo what was undone.", views.ProjectView, bodies.UndoBody),
            create(f"{project}/versions/{{version}}/retry", self.retry_failed, "Retry what failed.", views.VersionView),
            studio_operation("GET", f"{project}/targets/{{blob}}", self.target, "A target picture.", media_type=BYTES),
        ]

    async def create(self, call: ApiCall) -> views.ProjectView:
        body: bodies.NewProject = call.body
        check_figma(call, body.prompt)
        page = body.prompt.html or ""
        brief = await read_brief(
            body.prompt,
            stack=body.stack or (guess_stack(page) if page.strip() else "html_tailwind"),
            models=body.models,
            variants=body.variants,
            design=body.design_system,
            draft=body.draft,
            title=body.title,
        )
        for name in body.models:
            self._context.models.open(name)
        if body.draft:
            self._context.models.open(LOCAL_MODEL)
        if not brief.files:
            return self._views.project(call, await self._studio.create(call.owner, brief))
        project = await self._studio.import_files(call.owner, brief)
        if brief.text.strip() or brief.views:
            change = msgspec.structs.replace(brief, files={}, variants=brief.variants or UPDATE_VARIANTS)
            await self._studio.update(call.owner, project.id, VariantRef(project.versions[0].id, 0), change)
        return self._views.project(call, await self._studio.get(call.owner, project.id))

    async def list_projects(self, call: ApiCall) -> views.ProjectsView:
        query: ListQuery = call.query
        page = await self._studio.list(call.owner, search=query.search, limit=query.limit, after=query.after)
        return views.ProjectsView([self._views.project(call, project) for project in page.projects], page.next)

    async def show(self, call: ApiCall) -> views.ProjectView:
        return self._views.project(call, await self._studio.get(call.owner, call.path["project"]))

    async def rename(self, call: ApiCall) -> views.ProjectView:
        return self._views.project(call, await self._studio.rename(call.owner, call.path["project"], call.body.title))

    async def undo(self, call: ApiCall) -> views.ProjectView:
        return await self._step(call, self._studio.undo)

    async def redo(self, call: ApiCall) -> views.ProjectView:
        return await self._step(call, self._studio.redo)

    async def _step(self, call: ApiCall, step: Callable[[str, str, str], Awaitable[Project]]) -> views.ProjectView:
        """Go one step back or forth through the actions of a project."""
        body: bodies.UndoBody = call.body
        try:
            return self._views.project(call, await step(call.owner, call.path["project"], body.action))
        except CannotUndo as error:
            raise ApiError("conflict", str(error)) from None

    async def delete(self, call: ApiCall) -> None:
        await self._studio.delete(call.owner, call.path["project"])

    async def change(self, call: ApiCall) -> views.VersionView:
        try:
            return await self._views.version(call, await self._add_version(call))
        except LockBroken as error:
            raise ApiError("conflict", str(error)) from None

    async def _add_version(self, call: ApiCall) -> Version:
        name = call.path["project"]
        match call.body:
            case bodies.UpdateBody(base=base, prompt=prompt, models=models, variants=variants):
                check_figma(call, prompt)
                for model in models:
                    self._context.models.open(model)
                brief = await read_brief(prompt, models=models, variants=variants)
                version = await self._studio.update(call.owner, name, base.base(), brief)
            case bodies.EditBody(base=base, files=files):
                changed = {path: text.encode() if text is not None else None for path, text in files.items()}
                version = await self._studio.edit(call.owner, name, base.base(), changed)
            case bodies.ElementBody(base=base) as body:
                change = ElementChange(
                    path=body.path,
                    text=body.text,
                    before=body.before,
                    style=body.style,
                    attributes=dict(body.attributes.items()),
                    page=body.page,
                )
                version = await self._studio.edit_element(call.owner, name, base.base(), change)
            case bodies.ElementsBody(base=base, page=page) as body:
                changes = [read_change(change) for change in body.changes]
                scope = Breakpoint(body.width, body.below)
                version = await self._studio.edit_elements(
                    call.owner, name, base.base(), changes, page=page, scope=scope
                )
            case bodies.PageBody(base=base, action=action, path=path, name=title):
                change = PageChange(action=action, path=path, name=title)
                version = await self._studio.edit_pages(call.owner, name, base.base(), change)
            case bodies.RestoreBody(base=base):
                version = await self._studio.restore(call.owner, name, base.base())
            case _:
                raise ApiError("invalid", "The kind of a version is update, edit, element, elements, page or restore.")
        return version

    async def retry_failed(self, call: ApiCall) -> views.VersionView:
        name, version = call.path["project"], call.path["version"]
        return await self._views.version(call, await self._studio.retry_failed(call.owner, name, version))

    async def target(self, call: ApiCall) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        blobs = {target.blob for target in project.targets}
        blobs |= {target.blob for version in project.versions for target in version.pictures}
        if call.path["blob"] not in blobs:
            raise ApiError("not_found", "The project has no such picture.")
        data = await self._context.sessions.store.blob(project.id, call.path["blob"])
        return Response(data, media_type="image/png" if data.startswith(b"\x89PNG") else "image/jpeg")
