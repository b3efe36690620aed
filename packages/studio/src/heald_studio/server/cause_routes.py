"""The route of causes: where an element of a variant's page comes from."""

from typing import Annotated

import msgspec

from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Name
from heald_studio.browser.page import BrowserError
from heald_studio.causes.cause import Cause
from heald_studio.server.studio_operation import studio_operation, variant_of
from heald_studio.studio import Studio


class CauseQuery(msgspec.Struct, frozen=True, kw_only=True):
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    """The selector of the element, as the preview reports it."""
    page: Name = ""
    """The file of the page that shows it; by default the first page."""


class CauseRoutes:
    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "GET",
                "/projects/{project}/versions/{version}/variants/{variant}/cause",
                self.cause,
                "Where an element comes from: its place in the picture, its lines, their event, model and request.",
                Cause,
                query=CauseQuery,
                errors=("not_found", "unavailable"),
            )
        ]

    async def cause(self, call: ApiCall) -> Cause:
        from heald_studio.causes.find_cause import find_cause  # a server starts without numpy

        base = variant_of(call)
        project = await self._studio.get(call.owner, call.path["project"])
        files = await self._studio.files(call.owner, project.id, base)
        query: CauseQuery = call.query
        if query.page and query.page not in files:
            raise ApiError("not_found", "The variant has no such page; leave it out for the first one.")
        stack = self._studio.find_stack(project.stack)
        try:
            return await find_cause(self._context.sessions.store, stack, project, base, files, query.path, query.page)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None
