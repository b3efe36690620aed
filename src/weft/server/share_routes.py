"""Routes for the links of a project."""

from functools import partial

import msgspec

from weft.server.errors import ApiError
from weft.server.operations import ApiCall, Operation, caller_of
from weft.server.request_scope import PREVIEWS
from weft.server.shares import SHARED
from weft.server.views import Body

_SHARES = "/projects/{project}/shares"
_PROJECT_KIND = "project"


class NewShare(Body, frozen=True, kw_only=True):
    writable: bool = False
    """Whether users with the link may also work in the project."""


class ShareView(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    writable: bool
    created: float
    secret: str = ""
    """Only in the answer that creates it. A request carries it in the header `X-Weft-Share`, or as `?share=`."""
    path: str = ""
    """Only in the answer that creates a link for reading: shows the newest page of the project, without a token."""


class SharesView(msgspec.Struct, frozen=True):
    shares: list[ShareView]


async def _check_project(call: ApiCall) -> str:
    info = await call.context.open_sessions.find_info(call.owner, call.path["project"])
    if info.kind != _PROJECT_KIND:
        raise ApiError("not_found", "There is no project of that name; list the projects to see which there are.")
    return info.id


async def _create(call: ApiCall) -> ShareView:
    body: NewShare = call.body
    project = await _check_project(call)
    name, secret = await call.context.shares.create(call.owner, project, writable=body.writable)
    share = call.context.shares.list(call.owner, project)[name]
    path = "" if share.writable else f"{caller_of(call.request).root_path}{PREVIEWS}{SHARED}{secret}/"
    return ShareView(name, share.writable, share.created, secret, path)


async def _list(call: ApiCall) -> SharesView:
    shares = call.context.shares.list(call.owner, await _check_project(call))
    return SharesView([ShareView(name, share.writable, share.created) for name, share in shares.items()])


async def _delete(call: ApiCall) -> None:
    await call.context.shares.delete(call.owner, await _check_project(call), call.path["share"])


_operation = partial(Operation, errors=("not_found",), tag="studio")

OPERATIONS = (
    _operation("POST", _SHARES, _create, "Make a link for other users.", ShareView, NewShare, status=201),
    _operation("GET", _SHARES, _list, "The links of a project.", SharesView),
    _operation("DELETE", f"{_SHARES}/{{share}}", _delete, "Delete a link.", status=204),
)
