"""Pictures and files that clients send as base64."""

import base64

from heald.core.media import describe_picture_fault, picture_type
from heald_server.http.errors import ApiError


def decode_media(data: str) -> bytes:
    """Decode the picture or file of a client."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise ApiError("invalid", "The data of a picture or file is not base64.") from None


def sniff_image(raw: bytes) -> str:
    """The media type of a picture by its header; the client's claim does not count. It is not decoded."""
    fault = describe_picture_fault(raw)
    if fault is not None:
        raise ApiError("too_large" if "at most" in fault else "invalid", f"The picture cannot be used: {fault}.")
    return picture_type(raw) or ""
