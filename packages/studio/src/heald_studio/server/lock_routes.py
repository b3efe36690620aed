"""Routes of the locks of a project."""

from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_studio.browser.page import BrowserError
from heald_studio.projects.lock import NewLock
from heald_studio.server import bodies, views
from heald_studio.server.project_views import ProjectViews, lock_view
from heald_studio.server.studio_operation import studio_operation
from heald_studio.studio import Studio


class LockRoutes:
    def __init__(self, studio: Studio, project_views: ProjectViews) -> None:
        self._studio = studio
        self._views = project_views

    def operations(self) -> list[Operation]:
        locks = "/projects/{project}/locks"
        return [
            studio_operation(
                "POST",
                locks,
                self.add,
                "Lock a part of a variant.",
                views.LockView,
                bodies.LockBody,
                status=201,
                errors=("not_found", "unavailable"),
            ),
            studio_operation("DELETE", f"{locks}/{{lock}}", self.remove, "Remove a lock.", views.ProjectView),
        ]

    async def add(self, call: ApiCall) -> views.LockView:
        body: bodies.LockBody = call.body
        new = NewLock(kind=body.kind, path=body.path, text=body.text, page=body.page, file=body.file)
        try:
            return lock_view(await self._studio.lock(call.owner, call.path["project"], body.base.base(), new))
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None

    async def remove(self, call: ApiCall) -> views.ProjectView:
        return self._views.project(call, await self._studio.unlock(call.owner, call.path["project"], call.path["lock"]))
