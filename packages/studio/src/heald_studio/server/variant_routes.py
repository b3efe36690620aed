"""Routes of the variants of a version: their work, files, exports and scores."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response

from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, is_operator
from heald_server.routes.files import download
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import BrowserError, Viewport
from heald_studio.design.source import DESIGN_FILE
from heald_studio.export.files import safe_name, zip_project
from heald_studio.export.git_push import PushResult, collect_commits, default_branch, push_commits
from heald_studio.export.offline import offline_project
from heald_studio.export.single_page import single_page
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects.project import VariantRef
from heald_studio.projects.session_files import read_session_files
from heald_studio.prompt.history import decode_text
from heald_studio.server import bodies, views
from heald_studio.server.file_diffs import Diffs, diff_files
from heald_studio.server.project_views import ProjectViews
from heald_studio.server.studio_operation import BYTES, number_of, studio_operation, variant_of
from heald_studio.studio import Studio
from heald_studio.tools.family import load_tools

if TYPE_CHECKING:
    from heald_studio.score.page_image import PageImage
    from heald_studio.score.score import Score


class VariantRoutes:
    def __init__(self, studio: Studio, context: ServerContext, project_views: ProjectViews) -> None:
        self._studio = studio
        self._context = context
        self._views = project_views

    def operations(self) -> list[Operation]:
        variant = partial(studio_operation, prefix="/projects/{project}/versions/{version}/variants/{variant}")
        rendered = partial(variant, errors=("not_found", "unavailable"))
        return [
            variant("POST", "/cancel", self.cancel, "Cancel one variant.", views.VersionView),
            variant("POST", "/retry", self.retry, "Retry one variant.", views.VersionView, status=201),
            variant("POST", "/choose", self.choose, "Prefer one variant.", views.VersionView),
            variant("POST", "/remove", self.remove, "Remove one variant.", views.VersionView),
            variant("POST", "/tries/{number}/choose", self.choose_try, "Show another try of it.", views.VersionView),
            variant("GET", "/files", self.files, "The files of a variant.", views.StudioFiles),
            variant("GET", "/files/{path}", self.file, "A file of a variant.", media_type=BYTES),
            variant("GET", "/diff", self.diff, "Its differences from another variant.", Diffs, query=bodies.DiffQuery),
            variant("GET", "/export", self.export, "All files in one.", query=bodies.ExportQuery, media_type=BYTES),
            variant(
                "POST",
                "/push",
                self.push,
                "Push it to git.",
                PushResult,
                bodies.PushBody,
                errors=("not_found", "forbidden"),
            ),
            rendered("GET", "/score", self.score, "Its score against the picture, with differences.", views.ScoreView),
            rendered(
                "GET", "/screenshot", self.screenshot, "A screenshot.", query=bodies.ScreenshotQuery, media_type=BYTES
            ),
            rendered("GET", "/heatmap.png", self.heat_map, "A picture of the differences.", media_type=BYTES),
        ]

    async def cancel(self, call: ApiCall) -> views.VersionView:
        await self._studio.cancel(call.owner, call.path["project"], variant_of(call))
        return await self._version_of(call)

    async def retry(self, call: ApiCall) -> views.VersionView:
        return await self._views.version(
            call, await self._studio.retry(call.owner, call.path["project"], variant_of(call))
        )

    async def choose(self, call: ApiCall) -> views.VersionView:
        return await self._views.version(
            call, await self._studio.choose(call.owner, call.path["project"], variant_of(call))
        )

    async def remove(self, call: ApiCall) -> views.VersionView:
        return await self._views.version(
            call, await self._studio.remove_variant(call.owner, call.path["project"], variant_of(call))
        )

    async def choose_try(self, call: ApiCall) -> views.VersionView:
        number = number_of(call.path["number"])
        version = await self._studio.choose_try(call.owner, call.path["project"], variant_of(call), number)
        return await self._views.version(call, version)

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

    async def diff(self, call: ApiCall) -> Diffs:
        version, _, index = call.query.against.rpartition(".")
        other = await self._studio.files(call.owner, call.path["project"], VariantRef(version, number_of(index)))
        here = await self._files(call)
        return await asyncio.to_thread(diff_files, other, here)

    async def export(self, call: ApiCall) -> Response:
        project = await self._studio.get(call.owner, call.path["project"])
        files = await self._files(call)
        name = safe_name(project.title)
        stack = self._studio.find_stack(project.stack)
        if call.query.format == "zip":
            offline = await offline_project(stack, files)
            if design := await self._studio.design(call.owner, project.id):
                offline = {DESIGN_FILE: design.encode(), **offline}
            return download(await asyncio.to_thread(zip_project, offline, name), f"{name}.zip")
        page = await asyncio.to_thread(single_page, stack, files, title=project.title, path=call.query.page or PAGE)
        return download(page.encode(), f"{name}.html")

    async def push(self, call: ApiCall) -> PushResult:
        """Push the versions that led to a variant. Git's credentials are the operator's, so only they may."""
        project = await self._studio.get(call.owner, call.path["project"])
        if not is_operator(call):
            raise ApiError(
                "forbidden", "Only the person who runs this server pushes to git; download the files instead."
            )
        body: bodies.PushBody = call.body
        store = self._context.sessions.store
        commits = await collect_commits(project, variant_of(call), lambda session: read_session_files(store, session))
        return await push_commits(body.remote, body.branch.strip() or default_branch(project), commits)

    async def score(self, call: ApiCall) -> views.ScoreView:
        comparison, *_ = await self._compared(call)
        from heald_studio.score.scoring import variant_score  # a server starts without numpy

        differences = [
            views.DifferenceView(difference.kind, difference.box, difference.sentence)
            for difference in comparison.differences
        ]
        return views.ScoreView(
            variant_score(comparison), differences, call.request.url.path.replace("/score", "/heatmap.png")
        )

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
        from heald_studio.score.heat_map import heat_map

        _, target, rendering = await self._compared(call)
        return Response(await asyncio.to_thread(heat_map, target, rendering), media_type="image/png")

    async def _compared(self, call: ApiCall) -> "tuple[Score, PageImage, PageImage]":
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        pictures = (version.pictures if version is not None else []) or project.targets
        if not pictures:
            raise ApiError("not_found", "The project has no picture to compare with.")
        target = await self._context.sessions.store.blob(project.id, pictures[0].blob)
        await asyncio.to_thread(load_tools)
        from heald_studio.score.scoring import compare_page

        try:
            return await compare_page(self._studio.find_stack(project.stack), await self._files(call), target)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None

    async def _files(self, call: ApiCall) -> Mapping[str, bytes]:
        return await self._studio.files(call.owner, call.path["project"], variant_of(call))

    async def _version_of(self, call: ApiCall) -> views.VersionView:
        project = await self._studio.get(call.owner, call.path["project"])
        version = project.version(call.path["version"])
        if version is None:
            raise ApiError("not_found", "The project has no such version.")
        return await self._views.version(call, version)
