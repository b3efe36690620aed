"""Routes of the gallery: thumbnails of finished projects, and a project of one's own from each."""

from starlette.responses import Response

from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_studio.gallery.finished_project import FinishedProject, find_finished, list_finished
from heald_studio.request import BuildRequest
from heald_studio.server import views
from heald_studio.server.project_views import ProjectViews
from heald_studio.server.studio_operation import studio_operation
from heald_studio.studio import Studio

WEBP = "image/webp"


class GalleryRoutes:
    def __init__(self, studio: Studio, project_views: ProjectViews) -> None:
        self._studio = studio
        self._views = project_views

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "POST",
                "/studio/gallery/{name}",
                self.open,
                "Create a project from a finished one; no model is called.",
                views.ProjectView,
                errors=("not_found",),
                status=201,
            ),
            studio_operation(
                "GET",
                "/studio/gallery/{name}/thumbnail",
                self.thumbnail,
                "A picture of a finished project.",
                media_type=WEBP,
            ),
        ]

    async def open(self, call: ApiCall) -> views.ProjectView:
        finished = _finished(call)
        request = BuildRequest(files=finished.files(), stack=finished.stack, title=finished.title)
        return self._views.project(call, await self._studio.import_files(call.owner, request))

    async def thumbnail(self, call: ApiCall) -> Response:
        return Response(_finished(call).thumbnail(), media_type=WEBP)


def gallery_views(root_path: str) -> list[views.GalleryItem]:
    """Return the finished projects as the page lists them."""
    return [
        views.GalleryItem(
            name=finished.name,
            title=finished.title,
            description=finished.description,
            stack=finished.stack,
            thumbnail=f"{root_path}/studio/gallery/{finished.name}/thumbnail",
        )
        for finished in list_finished()
    ]


def _finished(call: ApiCall) -> FinishedProject:
    finished = find_finished(call.path["name"])
    if finished is None:
        raise ApiError("not_found", "The gallery has no project of that name; GET /studio lists them.")
    return finished
