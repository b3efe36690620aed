"""Errors of reading a picture."""

from heald.core.errors import HealdError


class VisionError(HealdError):
    """The picture cannot be used, or the models are missing."""

    code = "invalid_request"


class PictureTooLarge(VisionError):
    """The picture has too many pixels or bytes."""


class UnreadablePicture(VisionError):
    """The bytes are not a picture, or a damaged one."""


class ModelsMissing(VisionError):
    """The text models of the `local` extra are not installed."""

    code = "configuration"
