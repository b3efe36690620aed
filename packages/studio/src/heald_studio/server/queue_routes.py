"""Routes of the changes that wait on the server."""

import msgspec

from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_studio.projects.project import VariantRef, Version
from heald_studio.projects.queued_change import QueuedChange
from heald_studio.server import bodies, views
from heald_studio.server.briefs import read_brief
from heald_studio.server.input_routes import check_figma
from heald_studio.server.project_views import ProjectViews, queued_view
from heald_studio.server.studio_operation import studio_operation
from heald_studio.studio import Studio


class QueueRoutes:
    """The queue of each project. It sends a change as the route for new versions does."""

    def __init__(self, studio: Studio, context: ServerContext, project_views: ProjectViews) -> None:
        self._studio = studio
        self._context = context
        self._views = project_views
        studio.queue.send = self._send

    def operations(self) -> list[Operation]:
        queue = "/projects/{project}/queue"
        change = f"{queue}/{{change}}"
        return [
            studio_operation(
                "POST",
                queue,
                self.add,
                "Queue a change until the variant is done.",
                views.QueuedChangeView,
                bodies.UpdateBody,
                status=201,
            ),
            studio_operation("GET", change, self.show, "A waiting change as it was sent.", bodies.UpdateBody),
            studio_operation("DELETE", change, self.remove, "Remove a waiting change.", views.ProjectView),
            studio_operation("POST", f"{change}/send", self.resend, "Send it again.", views.ProjectView),
        ]

    async def add(self, call: ApiCall) -> views.QueuedChangeView:
        body: bodies.UpdateBody = call.body
        check_figma(call, body.prompt)
        for model in body.models:
            self._context.models.open(model)
        if body.prompt == bodies.PromptBody():
            raise ApiError("invalid", "The change is empty; give words or a picture.")
        project = await self._studio.get(call.owner, call.path["project"])
        data = msgspec.json.encode(body)
        change: QueuedChange = await self._studio.queue.add(project, body.base.base(), body.prompt.text, data)
        return queued_view(change)

    async def show(self, call: ApiCall) -> bodies.UpdateBody:
        project = await self._studio.get(call.owner, call.path["project"])
        return _read_body(await self._studio.queue.read(project, call.path["change"]))

    async def remove(self, call: ApiCall) -> views.ProjectView:
        project = await self._studio.get(call.owner, call.path["project"])
        return self._views.project(call, await self._studio.queue.remove(project.id, call.path["change"]))

    async def resend(self, call: ApiCall) -> views.ProjectView:
        project = await self._studio.get(call.owner, call.path["project"])
        return self._views.project(call, await self._studio.queue.resend(project.id, call.path["change"]))

    async def _send(self, owner: str, name: str, base: VariantRef, data: bytes) -> Version:
        body = _read_body(data)
        brief = await read_brief(body.prompt, models=body.models, variants=body.variants)
        return await self._studio.update(owner, name, base, brief)


def _read_body(data: bytes) -> bodies.UpdateBody:
    return msgspec.json.decode(data, type=bodies.UpdateBody)
