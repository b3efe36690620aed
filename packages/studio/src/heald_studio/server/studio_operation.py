"""Declares an operation of the studio, and reads the variant that its path names."""

from typing import Any

from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Handler, Operation
from heald_studio.projects.project import VariantRef

BYTES = "application/octet-stream"
"""The media type of a file of a project, or of several in one."""


def studio_operation(
    method: str, path: str, handler: Handler, summary: str, response: Any = None, body: Any = None, **options: Any
) -> Operation:
    options.setdefault("errors", ("not_found",))
    return Operation(
        method, options.pop("prefix", "") + path, handler, summary, response, body, tag="studio", **options
    )


def variant_of(call: ApiCall) -> VariantRef:
    """Return the variant that the path of a request names."""
    return VariantRef(call.path["version"], number_of(call.path["variant"]))


def number_of(text: str) -> int:
    """Parse the number of a variant."""
    if not text.isdigit() or len(text) > 4:
        raise ApiError("not_found", "A variant is named by its number, from 0 on.")
    return int(text)
