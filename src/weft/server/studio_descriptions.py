"""The studio's routes that are no operations, as the OpenAPI document shows them: a stream, previews and a socket."""

from typing import Literal

import msgspec

from weft.core.json import JsonObject
from weft.server.openapi import RouteDescription
from weft.server.studio_socket import GenerateRequest
from weft.server.studio_views import ProjectView


class ProjectChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A project, now and after every change."""

    type: Literal["project_changed"]
    project: ProjectView


class StudioFrame(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A message of the studio dialect to a design page."""

    type: str
    value: str
    variant_index: int
    data: JsonObject | None = None
    event_id: str | None = None


STUDIO = (
    RouteDescription(
        "GET",
        "/projects/{project}/events",
        "A project after every change, as server-sent events.",
        "studio",
        events=(ProjectChanged,),
        errors=("not_found", "too_many"),
    ),
    RouteDescription(
        "GET",
        "/preview/{ticket}/{path}",
        "A file of a variant, in an origin of its own. The ticket is in the view of the variant.",
        "studio",
        media_type="*/*",
        errors=("not_found",),
        is_public=True,
    ),
    RouteDescription(
        "WS",
        "/generate-code",
        "A design page: one message, then the studio dialect.",
        "studio",
        body=GenerateRequest,
        events=(StudioFrame,),
    ),
)
