"""JSON that clients send: decodes it, and names the place where it is invalid."""

from codecs import BOM_UTF8
from typing import TypeVar

import msgspec
from starlette.requests import Request

from heald.core.json import decode
from heald_server.http.errors import ApiError

T = TypeVar("T")


def require_json(request: Request) -> None:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError("unsupported_media_type", "Send the body as application/json.")


def parse_json(decoder: "msgspec.json.Decoder[T]", data: bytes | str, what: str = "body") -> T:
    """Decode JSON of a client. The error for invalid data names the place.

    Editors and shells of Windows write a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
    """
    try:
        return decode(decoder, data.removeprefix(BOM_UTF8) if isinstance(data, bytes) else data)
    except (ValueError, RecursionError) as error:
        detail = str(error)[:300] or "it is nested too deeply"
        raise ApiError("invalid", f"The {what} cannot be read: {detail}.") from None
