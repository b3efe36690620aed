"""Routes of links by which the owner of a project lets other users read it, or work in it."""

import msgspec

from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, caller_of
from heald_server.routes.fields import Body
from heald_studio.projects.project_store import KIND
from heald_studio.server.preview_tickets import SHARED
from heald_studio.server.protocol import PREVIEWS
from heald_studio.server.shares import ProjectShares
from heald_studio.server.studio_operation import studio_operation

_SHARES = "/projects/{project}/shares"


class NewShare(Body, frozen=True, kw_only=True):
    writable: bool = False
    """Whether users with the link may also work in the project."""


class ShareView(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    writable: bool
    created: float
    secret: str = ""
    """Only in the answer that creates it. A request carries it in the header `X-Heald-Share`, or as `?share=`."""
    path: str = ""
    """Only in the answer that creates a link for reading: shows the newest page of the project, without a token."""


class SharesView(msgspec.Struct, frozen=True):
    shares: list[ShareView]


class ShareRoutes:
    def __init__(self, shares: ProjectShares) -> None:
        self._shares = shares

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "POST", _SHARES, self.create, "Make a link for other users.", ShareView, NewShare, status=201
            ),
            studio_operation("GET", _SHARES, self.list_shares, "The links of a project.", SharesView),
            studio_operation("DELETE", f"{_SHARES}/{{share}}", self.delete, "Delete a link.", status=204),
        ]

    async def create(self, call: ApiCall) -> ShareView:
        body: NewShare = call.body
        project = await _check_project(call)
        name, secret = await self._shares.create(call.owner, project, writable=body.writable)
        share = self._shares.list(call.owner, project)[name]
        path = "" if share.writable else f"{caller_of(call.request).root_path}{PREVIEWS}{SHARED}{secret}/"
        return ShareView(name, share.writable, share.created, secret, path)

    async def list_shares(self, call: ApiCall) -> SharesView:
        shares = self._shares.list(call.owner, await _check_project(call))
        return SharesView([ShareView(name, share.writable, share.created) for name, share in shares.items()])

    async def delete(self, call: ApiCall) -> None:
        await self._shares.delete(call.owner, await _check_project(call), call.path["share"])


async def _check_project(call: ApiCall) -> str:
    info = await call.context.open_sessions.find_info(call.owner, call.path["project"])
    if info.kind != KIND:
        raise ApiError("not_found", "There is no project of that name; list the projects to see which there are.")
    return info.id
