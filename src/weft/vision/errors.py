"""What vision raises: one sentence that says what is wrong with the picture, or what is missing to look at it."""

from weft.core.errors import WeftError


class VisionError(WeftError):
    """The picture cannot be used, or the eyes are missing."""

    code = "invalid_request"


class PictureTooLarge(VisionError):
    """More pixels or bytes than are decoded."""


class UnreadablePicture(VisionError):
    """The bytes are no picture, or a broken one."""


class ModelsMissing(VisionError):
    """The text models of the `local` extra are not installed."""

    code = "configuration"
