"""Connections to checked addresses and to no others, each for one request, without cookies, proxies or credentials."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager

from weft.http1 import once
from weft.http1.faults import Broken, NoTls, Unreachable, Untrusted
from weft.http1.reply import Reply
from weft.http1.request import Origin
from weft.http1.request import Target as Request
from weft.http1.trust import trust
from weft.tools.web.addresses import Address
from weft.tools.web.body import ACCEPT_ENCODING
from weft.tools.web.target import Target

_HEADERS = {
    "Accept": "text/html, application/json, text/*, image/*, */*;q=0.1",
    "Accept-Encoding": ACCEPT_ENCODING,
    "User-Agent": "weft",
}


def get(
    target: Target, addresses: Sequence[Address], tls: ssl.SSLContext | None, seconds: float
) -> AbstractAsyncContextManager[Reply]:
    """The answer as it begins, from one of these addresses whatever the name; TLS and the server are told the name."""
    if not addresses:
        raise Unreachable("no address was checked")  # without any the name would be looked up again
    tls = (tls or trust()) if target.scheme == "https" else None
    origin = Origin(target.scheme, target.host, target.port, addresses=tuple(map(str, addresses)))
    return once.get(Request(origin, target.path), _HEADERS, tls=tls, connect_timeout=seconds)


async def pieces(reply: Reply) -> AsyncIterator[bytes]:
    """The body as it comes, still compressed."""
    while piece := await reply.read():
        yield piece


def announced(reply: Reply) -> int:
    """How long the body says it is; 0 if it does not."""
    said = reply.headers.get("content-length", "")
    return int(said) if said.isdecimal() else 0


def why_not(error: Exception) -> str:
    """What went wrong with a request, in words that give nothing away."""
    match error:
        case Untrusted():
            return "its certificate is not valid for that name"
        case NoTls():
            return "no secure connection could be made"
        case Unreachable():
            return "no connection could be made"
        case Broken():
            return "the connection broke off"
        case _:
            return "it did not answer as a web server does"
