"""Which content codings a client accepts (RFC 9110, section 12.5.3)."""

import re

from starlette.requests import Request

_ZERO_QUALITY = re.compile(r"q\s*=\s*0(\.0*)?\s*$")


def accepts_gzip(request: Request) -> bool:
    accepted = (item.partition(";") for item in request.headers.get("accept-encoding", "").lower().split(","))
    return any(coding.strip() == "gzip" and _ZERO_QUALITY.search(more) is None for coding, _, more in accepted)
