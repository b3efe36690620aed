"""The error of an edit that cannot be made in the source."""

from heald.core.errors import HealdError


class CannotEdit(HealdError):
    """The element cannot be changed directly."""

    code = "invalid_request"
